import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelConversion
import ModelReader
import TestSupport
import Testing

/// Everything that a model has comes back from its Swift files and from its bundle, also what is not part of the hash.
struct WholeModelTests {
    @Test func everyPartOfARandomModelComesBackFromSwift() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for number in 0..<24 {
            var model = RandomModel.model(number: number % 8, &random)
            Self.addNotes(to: &model, &random)
            try model.validate()
            try check(model, "seed \(seed), model \(number)")
        }
    }

    @Test func everyPartOfARandomModelComesBackFromABundle() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for number in 0..<80 {
            var model = RandomModel.model(number: number % 8, &random)
            Self.addNotes(to: &model, &random)
            model = Self.withClasses(model)
            let directory = try TemporaryDirectory()
            let bundle = directory.url.appending(component: "\(model.name).xcdatamodeld")
            for file in ModelMarkup(model).files {
                let url = bundle.appending(path: file.path)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: url)
            }
            let found = try ModelReader.read(bundle).model
            #expect(found.hash == model.hash, "seed \(seed), model \(number)")
            #expect(Self.comparable(found) == Self.comparable(model), "seed \(seed), model \(number)")
        }
    }

    @Test(arguments: ["AllTypes", "Chat", "Graph", "Mail", "Tasks"])
    func everyPartOfAFixtureComesBackFromSwift(_ name: String) throws {
        let url = PackageFiles.tests.appending(components: "Fixtures", "\(name).xcdatamodeld")
        try check(try ModelReader.read(url).model, name)
    }

    private func check(_ model: ManagedObjectModel, _ comment: String) throws {
        let directory = try TemporaryDirectory()
        let writer = ModelSourceWriter(model)
        for file in writer.files {
            try Data(file.text.utf8).write(to: directory.url.appending(component: file.name))
        }
        let (expected, found) = (
            Self.comparable(Self.withClasses(model)),
            Self.comparable(try SwiftModelReader.read([directory.url.path]).model)
        )
        #expect(
            writer.losses.contains { $0.contains("codeGenerationType") }
                == model.entities.contains { $0.codeGeneration != .class }, "\(comment)")
        for (one, other) in zip(expected.entities, found.entities) { #expect(one == other, "\(comment)") }
        #expect(
            expected.entities.count == found.entities.count && expected.composites == found.composites, "\(comment)")
        #expect(expected.fetchRequests == found.fetchRequests, "\(comment)")
        #expect(expected.configurations == found.configurations, "\(comment)")
        #expect(
            expected.versionIdentifier == found.versionIdentifier && expected.version == found.version, "\(comment)")
    }

    /// The model with generated classes, and with their names. Swift files always declare the classes.
    private static func withClasses(_ model: ManagedObjectModel) -> ManagedObjectModel {
        let names = GeneratedProperties(of: model)
        var model = model
        for index in model.entities.indices {
            model.entities[index].codeGeneration = .class
            model.entities[index].className = names.typeName(of: model.entities[index].name)
        }
        return model
    }

    /// The model without its orders, and without what only says how the types of properties are generated.
    private static func comparable(_ model: ManagedObjectModel) -> ManagedObjectModel {
        func attributes(_ attributes: [AttributeDescription]) -> [AttributeDescription] {
            attributes.sorted { $0.name < $1.name }.map { attribute in
                var attribute = attribute
                attribute.usesScalarValueType = false
                attribute.customClassName = attribute.customClassName?.replacing(" ", with: "")
                return attribute
            }
        }
        var model = model
        model.entities.sort { $0.name < $1.name }
        model.composites.sort { $0.name < $1.name }
        for index in model.entities.indices {
            model.entities[index].attributes = attributes(model.entities[index].attributes)
            model.entities[index].relationships.sort { $0.name < $1.name }
            model.entities[index].uniquenessConstraints.sort { $0.lexicographicallyPrecedes($1) }
        }
        for index in model.composites.indices {
            model.composites[index].attributes = attributes(model.composites[index].attributes)
        }
        return model
    }

    /// Adds what the hash does not contain.
    private static func addNotes(to model: inout ManagedObjectModel, _ random: inout SeededRandom) {
        for entity in model.entities.indices {
            for index in model.entities[entity].attributes.indices where random.next(below: 3) == 0 {
                model.entities[entity].attributes[index].userInfo["note \(index)"] = "a \"quoted\" \\ note"
                let isText = model.entities[entity].attributes[index].type == .string
                if isText { model.entities[entity].attributes[index].maximum = .integer(900) }
                let isBinary = model.entities[entity].attributes[index].type == .binary
                model.entities[entity].attributes[index].allowsExternalBinaryDataStorage = isBinary
            }
            for index in model.entities[entity].relationships.indices where random.next(below: 3) == 0 {
                model.entities[entity].relationships[index].userInfo = ["note": "\(index)"]
                model.entities[entity].relationships[index].renamingIdentifier = "old \(index)"
            }
            if random.next(below: 3) == 0 { model.entities[entity].renamingIdentifier = "old \(entity)" }
            let parts = model.columns(of: model.entities[entity]).filter { $0.isStored && $0.attribute != nil }.map(
                \.name)
            if let part = parts.first(where: { $0.contains(".") }) {
                model.entities[entity].indexes.append(
                    FetchIndexDescription(name: "part", elements: [.init(property: part, isAscending: false)]))
            }
        }
        model.versionIdentifier = "identifier"
    }
}
