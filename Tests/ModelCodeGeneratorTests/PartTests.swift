import Foundation
import ManagedModel
import ModelCodeGenerator
import TestSupport
import Testing

/// Large models are written to several files, so that an edit compiles few of them again.
@Suite struct PartTests {
    private static func model(_ count: Int, with change: (inout EntityDescription) -> Void = { _ in })
        -> ManagedObjectModel
    {
        var model = ManagedObjectModel(
            name: "Big",
            entities: (0..<count).map { number in
                EntityDescription(
                    name: "Entity\(number)",
                    attributes: [AttributeDescription(name: "at", type: .composite, compositeName: "Place")].filter {
                        _ in
                        number == 7
                    } + [AttributeDescription(name: "name", type: .string, isOptional: true)])
            },
            composites: [
                CompositeDescription(
                    name: "Place", attributes: [AttributeDescription(name: "x", type: .double, isOptional: true)])
            ])
        if count > 3 { change(&model.entities[3]) }
        return model
    }

    private func sources(_ model: ManagedObjectModel) -> [String] {
        ModelCodeGenerator(codeGeneration: .class).sources(for: model, parts: 6)
    }

    @Test func everyEntityIsInOneFile() {
        let sources = sources(Self.model(40))
        #expect(sources.count == 6)
        for number in 0..<40 {
            let places = sources.indices.filter { sources[$0].contains("class Entity\(number): ManagedObject {") }
            #expect(places.count == 1)
            #expect(sources.indices.filter { sources[$0].contains("func entity\(number)() ->") } == places)
            // What reads a composite is in its file.
            if number == 7 { #expect(places == [0]) } else { #expect(places != [0]) }
        }
        #expect(sources[0].contains("struct Place"))
    }

    @Test func anEditChangesOneFile() {
        let before = sources(Self.model(40))
        let edited = sources(
            Self.model(40) { $0.attributes.append(AttributeDescription(name: "more", type: .date, isOptional: true)) })
        #expect(zip(before, edited).count { $0 != $1 } == 1)
        // The model lists its entities.
        let longer = sources(Self.model(41))
        #expect(zip(before, longer).count { $0 != $1 } == 2 && before[0] != longer[0])
    }

    @Test func moreFilesThanEntitiesAreEmpty() {
        let sources = ModelCodeGenerator().sources(for: Self.model(2), parts: 30)
        #expect(sources.count == 30)
        #expect(sources.filter { !$0.contains("import") }.count >= 27)
        #expect(
            ModelCodeGenerator().sources(for: Self.model(2), parts: 0) == [
                ModelCodeGenerator().source(for: Self.model(2))
            ])
    }

    /// The compiler warns about an import that is more visible than the declarations that use it. Each of these models has an entity whose
    /// declarations name no type of the library, or exactly one, and the file that the entity is in has no other entity.
    @Test(
        .enabled(if: Compiler.isAvailable, "no compiler"),
        arguments: ["nothing", "attribute", "toOne", "toMany", "toRoot", "request", "calculated"],
        [CodeGeneration.class, .category])
    func noImportIsTooVisible(_ use: String, _ generation: CodeGeneration) async throws {
        let model = Self.inheritance(use)
        let sources = ModelCodeGenerator(codeGeneration: generation).sources(for: model, parts: 12)
        let directory = try TemporaryDirectory()
        var files = try sources.enumerated().map { number, source in
            let file = directory.url.appending(component: "Generated \(number).swift")
            try Data(source.utf8).write(to: file)
            return file.path
        }
        if generation == .category {
            let file = directory.url.appending(component: "Author.swift")
            let classes = "open class Base: ManagedObject {}\nopen class Child: Base {}\n"
            try Data("public import CoreDataSource\nnonisolated \(classes)".utf8).write(to: file)
            files.append(file.path)
        }
        let child = try #require(sources.first { $0.contains("The entity `Child`.") })
        #expect(!child.contains("The entity `Base`."))
        #expect(try await Compiler.shared.value.diagnostics(of: files) == "")
    }

    private static func inheritance(_ use: String) -> ManagedObjectModel {
        var child = EntityDescription(name: "Child", parentName: "Base")
        switch use {
        case "attribute": child.attributes = [AttributeDescription(name: "more", type: .string, isOptional: true)]
        case "toOne":
            child.relationships = [RelationshipDescription(name: "one", destinationName: "Base", isOptional: true)]
        case "toMany":
            child.relationships = [
                RelationshipDescription(name: "many", destinationName: "Base", isToMany: true, isOptional: true)
            ]
        case "toRoot":
            child.relationships = [RelationshipDescription(name: "root", destinationName: "Plain", isOptional: true)]
        case "calculated":
            let one = RelationshipDescription(name: "one", destinationName: "Base", isOptional: true)
            child.relationships = [one]
            child.attributes = [
                AttributeDescription(
                    name: "baseTitle", type: .string, isOptional: true, derivationExpression: "one.title")
            ]
        default: break
        }
        let title = AttributeDescription(name: "title", type: .string, isOptional: true)
        let plain = EntityDescription(name: "Plain", className: "Self")
        let requests = use == "request" ? [FetchRequestTemplate(name: "allChildren", entityName: "Child")] : []
        return ManagedObjectModel(
            name: "Inheritance", entities: [EntityDescription(name: "Base", attributes: [title]), child, plain],
            fetchRequests: requests)
    }
}
