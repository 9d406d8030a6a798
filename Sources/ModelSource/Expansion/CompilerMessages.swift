package import Foundation

/// The messages between the compiler and a macro program. Each message is 8 bytes with the length of the JSON, followed
/// by the JSON.
///
/// Unknown parts of a message are ignored, and an unknown message gets an empty answer. Otherwise, a compiler of
/// another version might wait forever, or this program might end.
package enum CompilerMessages {
    /// The version of the message format that this program implements.
    package static let version = 7

    /// Returns the answer to a message. Returns nil if the message is not JSON, because the following messages cannot be
    /// trusted either.
    package static func answer(to message: Data) -> Data? {
        guard let message = try? JSONSerialization.jsonObject(with: message) as? [String: Any] else { return nil }
        let answer: [String: Any]
        if message["getCapability"] != nil {
            answer = ["getCapabilityResult": ["capability": ["protocolVersion": version, "features": [String]()]]]
        } else if let request = message["expandAttachedMacro"] as? [String: Any] {
            answer = ["expandMacroResult": result(of: request)]
        } else if message["loadPluginLibrary"] != nil {
            answer = ["loadPluginLibraryResult": ["loaded": false, "diagnostics": [Any]()]]
        } else {
            answer = ["expandMacroResult": ["expandedSource": "", "diagnostics": [Any]()]]
        }
        return try? JSONSerialization.data(withJSONObject: answer, options: [.sortedKeys])
    }

    private static func result(of request: [String: Any]) -> [String: Any] {
        let macro = (request["macro"] as? [String: Any])?["typeName"] as? String
        let role = (request["macroRole"] as? String).flatMap(MacroExpansion.Role.init)
        let declaration = Syntax(request["declSyntax"])
        let attribute = Syntax(request["attributeSyntax"])
        guard let macro, let role, let declaration else { return ["expandedSource": "", "diagnostics": [Any]()] }
        let lexicalContext = (request["lexicalContext"] as? [Any])?.compactMap { Syntax($0)?.source }
        let expansion = MacroExpansion(
            macro: macro, role: role, attribute: attribute?.source ?? "", declaration: declaration.source,
            lexicalContext: lexicalContext,
            extendedType: Syntax(request["extendedTypeSyntax"])?.source.trimmingCharacters(in: .whitespacesAndNewlines),
            place: declaration.place)
        let syntax = expansion.diagnosesAttribute ? attribute ?? declaration : declaration
        return [
            "expandedSource": expansion.text, "diagnostics": expansion.diagnostics.map { diagnostic($0, in: syntax) },
        ]
    }

    private static func diagnostic(_ diagnostic: SourceDiagnostic, in syntax: Syntax) -> [String: Any] {
        [
            "message": diagnostic.message, "severity": diagnostic.isWarning ? "warning" : "error",
            "position": ["fileName": syntax.file, "offset": syntax.offset + diagnostic.offset], "highlights": [Any](),
            "notes": [Any](), "fixIts": [Any](),
        ]
    }

    /// A part of the compiled source, with its location.
    private struct Syntax {
        let source: String
        let file: String
        let offset: Int
        /// Nil if the message has no line and column.
        let place: SourcePlace?

        init?(_ value: Any?) {
            guard let value = value as? [String: Any], let source = value["source"] as? String else { return nil }
            let location = value["location"] as? [String: Any]
            self.source = source
            file = location?["fileName"] as? String ?? ""
            // Ignore a number that is larger than every file, because its sum with an offset in the source could overflow.
            func number(_ key: String) -> Int? {
                (location?[key] as? Int).flatMap { 0...Int(Int32.max) ~= $0 ? $0 : nil }
            }
            offset = number("offset") ?? 0
            if let line = number("line"), let column = number("column"), line > 0, column > 0 {
                place = SourcePlace(file: file, line: line, column: column, text: source)
            } else {
                place = nil
            }
        }
    }
}
