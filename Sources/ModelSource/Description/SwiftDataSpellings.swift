/// The spellings of SwiftData's macros, and the spellings of this library that replace them. Messages name the replacement.
struct SwiftDataSpellings {
    private let source: SwiftSource

    init(_ source: SwiftSource) {
        self.source = source
    }

    private static let macros = ["Attribute": "Stored", "Relationship": "Related", "Transient": "Unstored"]

    /// The options of `@Attribute`, and the arguments of `@Stored` that replace them.
    static let options = [
        "unique": "unique: true", "ephemeral": "isTransient: true", "externalStorage": "allowsExternalStorage: true",
        "preserveValueOnDeletion": "isPreservedAfterDeletion: true", "allowsCloudEncryption": "isCloudEncrypted: true",
        "spotlight": "isIndexedBySpotlight: true",
    ]

    /// Labels of SwiftData, and the labels that replace them.
    static let labels = [
        "deleteRule": "onDelete", "originalName": "renamedFrom", "minimumModelCount": "count",
        "maximumModelCount": "count",
    ]

    /// The order of the arguments of `@Stored` and of `@Related`.
    private static let order = [
        ".codable", "inverse:", "onDelete:", "unique:", "isTransient:", "allowsExternalStorage:", "renamedFrom:",
        "hashModifier:", "isPreservedAfterDeletion:", "isCloudEncrypted:", "isIndexedBySpotlight:",
    ]

    /// Returns the use of this library's macro that replaces a use of a macro of SwiftData; nil for another attribute.
    func replacement(of use: AttributeUse) -> String? {
        guard let macro = Self.macros[use.name] else { return nil }
        let arguments = use.arguments.map { ExpressionParser.arguments(source, in: $0) } ?? []
        let replaced = arguments.compactMap { self.argument($0.label, $0.value, $0.tokens) }
        let sorted = Self.order.flatMap { label in replaced.filter { $0.hasPrefix(label) } }
        return "@\(macro)" + (sorted.isEmpty ? "" : "(\(sorted.joined(separator: ", ")))")
    }

    private func argument(_ label: String, _ value: SourceExpression?, _ tokens: Range<Int>) -> String? {
        switch (label, value) {
        case ("", .member(_, "codable")?): ".codable"
        case ("", .member(_, let option)?): Self.options[option]
        case ("inverse", _): Self.propertyName(source, in: tokens).map { "inverse: \"\($0)\"" }
        case ("deleteRule", _), ("originalName", _), ("hashModifier", _):
            "\(Self.labels[label] ?? label): \(source.text(ofTokens: tokens))"
        default: nil
        }
    }

    /// Returns the name of the last property of a key path; nil if the tokens are no key path.
    static func propertyName(_ source: SwiftSource, in tokens: Range<Int>) -> String? {
        guard let first = tokens.first, let last = tokens.last, source.isSymbol(first, "\\"),
            source.tokens[last].kind == .identifier
        else { return nil }
        return source.text(of: last)
    }
}
