import Foundation
import ModelSource
import Testing

/// Messages as compilers of several versions send them.
struct CompilerMessageTests {
    private func answer(_ message: String) throws -> [String: Any] {
        let data = try #require(CompilerMessages.answer(to: Data(message.utf8)))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func result(_ message: String) throws -> (text: String?, diagnostics: [[String: Any]]) {
        let result = try #require(try answer(message)["expandMacroResult"] as? [String: Any])
        return (result["expandedSource"] as? String, result["diagnostics"] as? [[String: Any]] ?? [])
    }

    @Test(arguments: [
        #"{"getCapability":{"capability":{"protocolVersion":7}}}"#, #"{"getCapability":{}}"#,
        #"{"getCapability":{"capability":{"protocolVersion":99,"new":[1]}}}"#,
    ])
    func everyVersionIsAnsweredWithTheOwnOne(_ message: String) throws {
        let result = try #require(try answer(message)["getCapabilityResult"] as? [String: Any])
        #expect((result["capability"] as? [String: Any])?["protocolVersion"] as? Int == 7)
    }

    private static let location =
        #""location":{"column":1,"fileID":"A/a.swift","fileName":"/a.swift","line":3,"offset":40}"#

    @Test(arguments: [
        "", #","lexicalContext":[],"discriminator":"$s1","staticBuildConfiguration":"{}""#, #","unknown":{"a":[null]}"#,
    ])
    func aMemberExpansionNeedsNoOtherKeys(_ extras: String) throws {
        let (text, diagnostics) = try result(
            #"{"expandAttachedMacro":{"macro":{"moduleName":"EntityMacros","name":"StoredEntity ","typeName":"StoredEntity"},"macroRole":"member","attributeSyntax":{"kind":"attribute",\#(Self.location),"source":"@StoredEntity "},"declSyntax":{"kind":"declaration",\#(Self.location),"source":"\n@StoredEntity class A: ManagedObject { var x: Int }"}\#(extras)}}"#
        )
        #expect(diagnostics.isEmpty)
        #expect(text?.contains("override class var entityName: StoredLayout.LayoutTypes.Name { \"A\" }") == true)
    }

    @Test func aDiagnosticHasThePlaceInTheFile() throws {
        let (text, diagnostics) = try result(
            #"{"expandAttachedMacro":{"macro":{"typeName":"StoredEntity"},"macroRole":"member","declSyntax":{\#(Self.location),"source":"\n@StoredEntity class A: ManagedObject { var x: Int8 }"}}}"#
        )
        // The other properties, and the subclasses, need no more than places.
        #expect(text?.contains("nonisolated enum StoredLayout {") == true && text?.contains("override") == false)
        let position = diagnostics.first?["position"] as? [String: Any]
        #expect(position?["offset"] as? Int == 40 + 47 && position?["fileName"] as? String == "/a.swift")
        #expect(diagnostics.first?["severity"] as? String == "error")
    }

    /// The accessors of the properties, and other types, name members of a class or struct whose text cannot be read.
    @Test(arguments: [
        ("StoredEntity", "public class A: ManagedObject {", "member", " public nonisolated enum StoredLayout {"),
        ("StoredComposite", "struct A {", "member", "nonisolated enum StoredLayout {"),
        (
            "StoredComposite", "struct A {", "extension",
            "nonisolated extension A: CoreDataSource.StoredCompositeValue {"
        ),
    ])
    func aDeclarationWithABrokenMemberHasItsOtherMembers(
        _ macro: String, _ header: String, _ role: String, _ expected: String
    ) throws {
        let (text, diagnostics) = try result(
            #"{"expandAttachedMacro":{"macro":{"typeName":"\#(macro)"},"macroRole":"\#(role)","declSyntax":{\#(Self.location),"source":"@\#(macro) \#(header)\n  var x: String = \"a\n  var y: Int = 1\n}"}}}"#
        )
        #expect(text?.contains(expected) == true, "\(text ?? "")")
        let messages = diagnostics.compactMap { $0["message"] as? String }
        #expect(
            messages == (role == "member" ? ["This string has no end. Close the string, or nest fewer strings."] : []))
    }

    /// The check of a type and the type are in one line and column.
    @Test func aCheckHasThePlaceOfItsType() throws {
        let (text, _) = try result(
            #"{"expandAttachedMacro":{"macro":{"typeName":"StoredEntity"},"macroRole":"member","declSyntax":{\#(Self.location),"source":"\n@StoredEntity class A: ManagedObject {\n  @Stored(.codable) var x: [Int]? }"}}}"#
        )
        let lines = try #require(text?.components(separatedBy: "\n"))
        let check = try #require(lines.firstIndex { $0.hasSuffix(".check(codable: check_x.self)") })
        #expect(lines[check - 2] == #"#sourceLocation(file: "/a.swift", line: 4)"#)
        #expect(lines[check].prefix { $0 == " " }.count + 1 == "  @Stored(.codable) var x: ".count)
        #expect(lines[check + 1] == "#sourceLocation()")
        let superclass = try #require(lines.firstIndex { $0.hasSuffix(".checkClass(LayoutParent.self)") })
        #expect(lines[superclass - 2] == #"#sourceLocation(file: "/a.swift", line: 3)"#)
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "-1", "null"])
    func aPlaceThatNoFileHasDoesNotEndTheProgram(_ number: String) throws {
        let location =
            #""location":{"column":\#(number),"fileName":"/a.swift","line":\#(number),"offset":\#(number)}"#
        for type in ["Int8", "[Int]?"] {
            let (text, diagnostics) = try result(
                #"{"expandAttachedMacro":{"macro":{"typeName":"StoredEntity"},"macroRole":"member","declSyntax":{\#(location),"source":"@StoredEntity class A: ManagedObject { @Stored(.codable) var x: \#(type)\nvar y: Int8 }"}}}"#
            )
            #expect(text?.contains("StoredLayout") == true && !diagnostics.isEmpty)
        }
    }

    @Test func anAttributeOutsideOfAnEntityIsRefusedAtItsPlace() throws {
        let (_, diagnostics) = try result(
            #"{"expandAttachedMacro":{"macro":{"typeName":"Stored"},"macroRole":"accessor","attributeSyntax":{\#(Self.location),"source":"\n  @Stored "},"declSyntax":{\#(Self.location),"source":"\n  @Stored var x: Int"},"lexicalContext":[{\#(Self.location),"source":"class B {}"}]}}"#
        )
        #expect(diagnostics.count == 1)
        #expect((diagnostics.first?["position"] as? [String: Any])?["offset"] as? Int == 43)
    }

    @Test(arguments: [
        "{}", #"{"unknownMessage":{}}"#, #"{"expandAttachedMacro":5}"#, #"{"expandAttachedMacro":{}}"#,
        #"{"expandAttachedMacro":{"macro":{"typeName":"Other"},"macroRole":"member","declSyntax":{"source":"class A {}"}}}"#,
        #"{"expandAttachedMacro":{"macro":{"typeName":"StoredEntity"},"macroRole":"body","declSyntax":{"source":"class A {}"}}}"#,
        #"{"expandAttachedMacro":{"macro":7,"macroRole":["member"],"declSyntax":"class A {}"}}"#,
        #"{"expandFreestandingMacro":{"macro":{}}}"#,
    ])
    func anUnknownMessageIsExpandedToNothing(_ message: String) throws {
        let (text, diagnostics) = try result(message)
        #expect(text == "" && diagnostics.isEmpty)
    }

    @Test(arguments: ["", "[]", "null", "{", "\u{0}", "7"])
    func anInvalidMessageHasNoAnswer(_ message: String) {
        #expect(CompilerMessages.answer(to: Data(message.utf8)) == nil)
    }

    @Test func aLibraryIsNotLoaded() throws {
        let result = try #require(
            try answer(#"{"loadPluginLibrary":{"libraryPath":"/x","moduleName":"Y"}}"#)["loadPluginLibraryResult"]
                as? [String: Any])
        #expect(result["loaded"] as? Bool == false)
    }
}
