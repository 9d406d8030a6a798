import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelSource
import TestSupport
import Testing

/// Names that the library or Swift itself uses are not those of generated types and properties.
@Suite struct ReservedNameTests {
    /// Every word that means something somewhere in Swift, and types that generated code could hide.
    static let words = """
        Any Self Type Protocol self actor any as associatedtype async await borrowing break case catch class consume \
        consuming continue convenience copy default defer deinit didSet discard do dynamic each else enum extension \
        fallthrough false fileprivate final for func get guard if import in indirect infix init inout internal is isolated \
        lazy left let macro mutating nil none nonisolated nonmutating open operator optional override package postfix \
        precedence precedencegroup prefix private protocol public repeat required rethrows return right sending set some \
        static struct subscript super switch then throw throws true try typealias unowned unsafe var weak where while \
        willSet yield Swift Foundation CoreDataSource ManagedModel Generated Optional Array Dictionary Set Void Never \
        Error Character Codable Equatable MainActor ObjectRequest FetchPredicate Object Sequence name version entities classes hash selfClasses SelfEntities
        """.split(separator: " ").map(String.init)

    @Test(.enabled(if: Compiler.isAvailable))
    func whateverAModelCallsItsPartsTheCodeCompiles() async throws {
        func attributes(_ type: AttributeType) -> [AttributeDescription] {
            Self.words.map { AttributeDescription(name: $0, type: type, isOptional: true) }
        }
        var entities = Self.words.map { word in
            EntityDescription(
                name: "of \(word)", className: word,
                attributes: [
                    AttributeDescription(name: "name", type: .string),
                    AttributeDescription(name: "part", type: .composite, isOptional: true, compositeName: word),
                ], codeGeneration: .class)
        }
        entities.append(EntityDescription(name: "All", attributes: attributes(.date), codeGeneration: .class))
        entities.append(EntityDescription(name: "Sub", parentName: "All", codeGeneration: .class))
        let model = ManagedObjectModel(
            name: "self", entities: entities,
            composites: Self.words.map {
                CompositeDescription(
                    name: $0, attributes: $0 == "self" ? attributes(.decimal) : [.init(name: $0, type: .string)])
            },
            fetchRequests: Self.words.map {
                FetchRequestTemplate(name: $0, entityName: "All", predicateFormat: "name == $\($0)")
            })
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "Generated.swift")
        try Data(ModelCodeGenerator().source(for: model).utf8).write(to: file)
        let diagnostics = try await Compiler.shared.value.diagnostics(of: [file.path])
        #expect(diagnostics == "", "\(diagnostics.prefix(2_000))")
    }

    /// A public type that the generator doesn't know could be hidden by an entity's class. Add it to `ReservedNames`.
    @Test func everyPublicTypeOfTheLibraryIsReserved() throws {
        let types = try LibrarySource.publicTypes()
        #expect(types.count > 60 && types.isSuperset(of: ["ObjectRequest", "DataSourceError", "ManagedObjectModel"]))
        for type in types.sorted() {
            let entity = EntityDescription(name: type, codeGeneration: .class)
            let source = ModelCodeGenerator().source(for: ManagedObjectModel(name: "Model", entities: [entity]))
            #expect(source.contains("class \(type)_: ManagedObject {"), "ReservedNames.libraryTypes lacks \(type)")
        }
    }

    /// The same for the members of `ManagedObject`, which a property would hide.
    @Test func everyPublicMemberOfAnObjectIsReserved() throws {
        let members = try LibrarySource.publicMembers(of: "ManagedObject")
        #expect(members.isSuperset(of: ["objectID", "setAttribute", "transformable", "hasChanges"]))
        for member in members.sorted() {
            let attribute = AttributeDescription(name: member, type: .string)
            let entity = EntityDescription(name: "Thing", attributes: [attribute], codeGeneration: .class)
            let source = ModelCodeGenerator().source(for: ManagedObjectModel(name: "Model", entities: [entity]))
            #expect(source.contains("final var \(member)_: String"), "ReservedNames.members lacks \(member)")
        }
    }

    /// The macros refuse a property with the name of such a member.
    @Test func theMacrosRefuseEveryPublicMemberOfAnObject() throws {
        let members = try LibrarySource.publicMembers(of: "ManagedObject")
        #expect(members.subtracting(ReservedMembers.names).isEmpty, "ReservedMembers.names lacks these members")
    }
}

/// What the sources of the library declare, found by their lines: the formatter puts what is not nested at their start.
private enum LibrarySource {
    static func publicTypes() throws -> Set<String> {
        let exports = try text(of: "CoreDataSource").flatMap {
            $0.matches(of: /@_exported public import (?:\w+ \w+\.)?(\w+)/).map { String($0.1) }
        }
        // What is exported is a module or a type.
        let modules = exports.filter { FileManager.default.fileExists(atPath: folder($0).path) }
        return try Set(exports).subtracting(modules).union((modules + ["CoreDataSource"]).flatMap(declaredTypes))
    }

    private static func declaredTypes(_ module: String) throws -> [String] {
        let declaration =
            /^(?:@\w+(?:\([^)\n]*\))?\s+|nonisolated |final |indirect )*(?:public|open) (?:@\w+ |nonisolated |final |indirect )*(?:class|struct|enum|actor|protocol|typealias) (\w+)/
            .anchorsMatchLineEndings()
        return try text(of: module).flatMap { $0.matches(of: declaration).map { String($0.1) } }
    }

    static func publicMembers(of type: String) throws -> Set<String> {
        var members: Set<String> = []
        for text in try text(of: "CoreDataSource") {
            var isInside = false
            for line in text.split(separator: "\n") {
                if let first = line.first, !first.isWhitespace {
                    let words = line.split { !$0.isLetter && $0 != "." }
                    isInside = zip(words, words.dropFirst()).contains {
                        ($0 == "class" || $0 == "extension") && $1 == type
                    }
                } else if isInside,
                    let member = line.firstMatch(
                        of: /^ {4}(?:@\w+ )*(?:nonisolated )?(?:public|open) (?:[a-z]+ )*(?:var|let|func) (\w+)/)
                {
                    members.insert(String(member.1))
                }
            }
        }
        return members
    }

    private static func folder(_ module: String) -> URL {
        PackageFiles.root.appending(components: "Sources", module)
    }

    private static func text(of module: String) throws -> [String] {
        let files = FileManager.default.enumerator(at: folder(module), includingPropertiesForKeys: nil)
        return try (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
