import CoreDataSource
import DeclarationRules
import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelConversion
import ModelReader
import TestSupport
import Testing

/// What is written as Swift compiles, and the program has the hash that the command reads and that the model had. Each opens the
/// store that the other has made, without a reset.
///
/// `COREDATASOURCE_COMPILED_MODELS` says how many bundles of real apps are tried.
@Suite(.enabled(if: Compiler.isAvailable)) struct ConvertedProgramTests {
    @Test func randomModelsHaveOneHash() async throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        let models = (0..<8).map { RandomModel.model(number: $0, &random) }
        for model in models { try model.validate() }
        try await check(models, "seed \(seed)")
    }

    @Test(arguments: ["Graph", "Mail"])
    func ourModelsHaveOneHash(_ name: String) async throws {
        let url = PackageFiles.tests.appending(components: "Fixtures", "\(name).xcdatamodeld")
        try await check([try ModelReader.read(url).model], name)
    }

    @Test(.enabled(if: !CorpusModels.all.isEmpty), arguments: CorpusModels.chosen)
    func realModelsHaveOneHash(_ url: URL) async throws {
        try await check([try ModelReader.read(url).model], url.path)
    }

    private func check(_ models: [ManagedObjectModel], _ comment: String) async throws {
        let directory = try TemporaryDirectory()
        var paths: [String] = []
        var members: [String] = []
        for (number, model) in models.enumerated() {
            let folder = directory.url.appending(component: "\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for file in ModelSourceWriter(model).files {
                let path = folder.appending(component: file.name)
                try Data(file.text.utf8).write(to: path)
                paths.append(path.path)
                if let match = file.text.firstMatch(of: /static let (\S+) = ManagedObjectModel/) {
                    members.append(String(match.output.1))
                }
            }
            let document = try SwiftModelReader.read([folder.path])
            #expect(document.diagnostics.map(\.message) == model.unsupportedParts.map(\.message), "\(comment)")
            #expect(
                document.model.hash == model.hash, "\(comment): \(document.model.canonicalForm)\n\(model.canonicalForm)"
            )
        }
        for (number, model) in models.enumerated() {
            try await open(model, Self.store(number, "bundle", directory.url), .firstLaunch)
        }
        let program = directory.url.appending(component: "Program.swift")
        let text = Self.program(members, Self.missingTypes(of: models), stores: directory.url)
        try Data(text.utf8).write(to: program)
        // The macros warn of what is not supported.
        let isPlain = models.allSatisfy(\.unsupportedParts.isEmpty)
        let run = try await RealLibrary.shared.value.run(
            paths + [program.path], in: directory.url, flags: isPlain ? [] : ["-no-warnings-as-errors"])
        #expect(run.status == 0, "\(comment): \(run.errors)")
        let lines = models.map { "\($0.hash) current firstLaunch\n" }
        #expect(run.output == lines.joined(), "\(comment): \(run.errors)")
        guard run.status == 0 else { return }
        for (number, model) in models.enumerated() {
            try await open(model, Self.store(number, "classes", directory.url), .current)
        }
    }

    /// The store of a model that the bundle or the classes make.
    private static func store(_ number: Int, _ maker: String, _ folder: URL) -> URL {
        folder.appending(component: "\(number).\(maker).sqlite")
    }

    /// Opens a store with the model of the bundle.
    private func open(_ model: ManagedObjectModel, _ url: URL, _ reason: StoreStartup.Reason) async throws {
        let container = try await PersistentContainer(model: model, store: .sqlite(url))
        #expect(container.startup.reason == reason)
        try await container.close()
    }

    /// Prints the hash of each model and what happens when it opens the bundle's store, and makes a store of its own.
    private static func program(_ members: [String], _ types: String, stores: URL) -> String {
        """
        import CoreDataSource
        import Foundation

        \(types)
        @main struct Program {
            static func main() async throws {
                let folder = URL(filePath: "\(stores.path)")
                let models = [\(members.map { "ManagedObjectModel.\($0)" }.joined(separator: ", "))]
                for (number, model) in models.enumerated() {
                    try model.validate()
                    var line = model.hash.description
                    for maker in ["bundle", "classes"] {
                        let url = folder.appending(component: "\\(number).\\(maker).sqlite")
                        let container = try await PersistentContainer(model: model, store: .sqlite(url))
                        line += " \\(container.startup.reason)"
                        try await container.close()
                    }
                    print(line)
                }
            }
        }
        """
    }

    /// The types of the app's own that transformables and raw values have.
    private static func missingTypes(of models: [ManagedObjectModel]) -> String {
        AppTypes.declarations(for: models)
            + "enum RandomMood: String, AttributeStorable { case glad, sad }\nenum RandomLevel: Int16, AttributeStorable { case low = 1, high = 7 }\n"
            + "enum RandomSize: Int64, AttributeStorable { case small = 1, large = 7 }\n"
    }
}

/// Models with everything that models have, at random.
enum RandomModel {
    /// Names of the types that the macros add or name, and of some types of the library. Each model takes its own, because all
    /// models are compiled together.
    private static let takenNames =
        LayoutNames.added.sorted() + LayoutNames.modules.sorted() + LayoutNames.prefixes.map { $0 + "a0n0" }
        + ["ManagedObject", "StoredTypes", "AttributeDescription", "String", "Data", "AnyKeyPath", "StoredForm"]
    /// Names of members that the macros add, and of their types, variables and parameters.
    private static let takenMembers = [
        "LayoutClass", "LayoutTypes", "LayoutParts", "entity", "paths", "object", "column", "attributes", "first",
        "check",
        "type", "Swift", "parts", "columnCount", "newValue", "inverse", "CoreDataSource", "depth", "value",
        "write", "compositeName", "relationshipCount", "isAbsent", "AnyKeyPath", "set", "add", "list",
    ]

    /// Names of types that written code uses in expressions. Properties get them at random.
    private static let typeNames = [
        "String", "Int", "Int16", "Int32", "Int64", "Date", "Data", "Decimal", "Double", "Float", "Bool", "UUID", "URL",
        "Foundation", "AttributeDescription", "RelationshipDescription", "FetchIndexDescription", "ObjectRequest",
        "FetchedPropertyDescription", "FetchRequestTemplate", "FetchPredicate", "RelatedObjects", "Optional", "Any",
    ]

    static func model(number: Int, _ random: inout SeededRandom) -> ManagedObjectModel {
        let taken = takenNames.enumerated().filter { $0.offset % 8 == number }.map(\.element)
        let names = (0..<random.next(below: 6) + 1).map { index in
            taken.indices.contains(index) && random.next(below: 2) == 0 ? taken[index] : "M\(number)E\(index)"
        }
        let types = typeNames.shuffled(using: &random)
        let composites = (0..<random.next(below: 3)).map { index in
            CompositeDescription(
                name: "M\(number)C\(index)",
                attributes: (0...random.next(below: 4)).map { position in
                    let taken = [takenMembers[5 * index + position], types[5 * index + position]]
                    let name = taken.randomElement(using: &random).map { random.next(below: 3) > 0 ? $0 : nil } ?? nil
                    return attribute(name ?? "c\(index)x\(position)", nil, &random)
                })
        }
        // Each entity has its own names, because it can be the parent of another.
        var entities = names.enumerated().map { index, name in
            entity(name, names[..<index], index, types[(4 * index)..<(4 * index + 4)], composites, &random)
        }
        for source in entities.indices where random.next(below: 3) > 0 {
            link(source, random.next(below: entities.count), &entities, &random)
        }
        return ManagedObjectModel(
            name: "Random \(number)", version: random.next(below: 2) == 0 ? "Version \(number)" : nil,
            entities: entities,
            composites: composites,
            fetchRequests: [
                FetchRequestTemplate(name: "all", entityName: names[0], predicateFormat: "TRUEPREDICATE", fetchLimit: 3)
            ],
            configurations: [EntityConfiguration(name: "All", entityNames: names)])
    }

    private static func entity(
        _ name: String, _ parents: ArraySlice<String>, _ index: Int, _ types: ArraySlice<String>,
        _ composites: [CompositeDescription], _ random: inout SeededRandom
    ) -> EntityDescription {
        var entity = EntityDescription(name: name, className: name, codeGeneration: .class)
        let taken = takenMembers.enumerated().filter { $0.offset % 6 == index }.map(\.element)
        let found = (taken + types).shuffled(using: &random)
        entity.attributes = (0..<random.next(below: 8) + 1).map { position in
            let isTaken = found.indices.contains(position) && random.next(below: 3) > 0
            return attribute(
                isTaken ? found[position] : "a\(index)n\(position)", composites.randomElement(using: &random)?.name,
                &random)
        }
        if random.next(below: 3) == 0 { entity.parentName = parents.randomElement(using: &random) }
        entity.isAbstract = random.next(below: 6) == 0
        entity.versionHashModifier = random.next(below: 6) == 0 ? "modifier \"\(index)\" ü" : nil
        let columns = entity.attributes.filter { !$0.isTransient && $0.type != .composite }.map(\.name)
        if columns.count > 1, random.next(below: 2) == 0 {
            entity.uniquenessConstraints = [[columns[0]], [columns[1], columns[0]]]
            entity.indexes = [
                FetchIndexDescription(name: "by", elements: [.init(property: columns[1], isAscending: false)])
            ]
        }
        if random.next(below: 3) == 0 {
            let request = FetchRequestTemplate(name: "f", entityName: name, predicateFormat: "TRUEPREDICATE")
            entity.fetchedProperties = [FetchedPropertyDescription(name: "f\(index)", fetchRequest: request)]
        }
        entity.userInfo = random.next(below: 4) == 0 ? ["key \\": "line\nbreak"] : [:]
        return entity
    }

    private static func attribute(_ name: String, _ composite: String?, _ random: inout SeededRandom)
        -> AttributeDescription
    {
        let types: [AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid,
            .uri, .transformable,
            .composite,
        ]
        var type = types[random.next(below: types.count)]
        if type == .composite, composite == nil { type = .string }
        var found = AttributeDescription(name: name, type: type, isOptional: random.next(below: 2) == 0)
        found.compositeName = type == .composite ? composite : nil
        found.customClassName = type == .transformable ? "[String]" : nil
        found.isTransient = type != .composite && random.next(below: 8) == 0
        found.usesScalarValueType = random.next(below: 2) == 0
        found.versionHashModifier = random.next(below: 8) == 0 ? "2" : nil
        found.renamingIdentifier = random.next(below: 8) == 0 ? "old name" : nil
        if random.next(below: 2) == 0 { found.defaultValue = defaultValue(type, &random) }
        if type == .integer32 {
            (found.minimum, found.maximum) = (.integer(-5), .integer(random.next(below: 2) == 0 ? -2 : 70_000))
        }
        if type == .date, random.next(below: 2) == 0 { found.minimum = .date(-5) }
        if type == .string, random.next(below: 3) == 0 {
            found.maximum = .integer(900)
            found.pattern = "[\\s\\S]*"
        }
        found.allowsCloudEncryption = random.next(below: 8) == 0
        if type == .integer64, random.next(below: 3) == 0 {
            found.userInfo["swiftType"] = "RandomSize"
            found.defaultValue = .integer(7)
        }
        if type == .string, random.next(below: 3) == 0 {
            found.userInfo["swiftType"] = "RandomMood"
            found.defaultValue = .string("sad")
        }
        if type == .integer16, random.next(below: 3) == 0 {
            found.userInfo["swiftType"] = "RandomLevel"
            found.defaultValue = .integer(7)
        }
        return found
    }

    private static func defaultValue(_ type: AttributeType, _ random: inout SeededRandom) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: .integer(Int64(random.next(below: 60_000)) - 30_000)
        case .decimal: .decimal(Decimal(string: "-12345678901234567890.5") ?? 0)
        case .double, .float: .double(Double(random.next(below: 1000)) / 8 - 50)
        case .string: .string("a \"\\(b)\" \n ü")
        case .boolean: .boolean(random.next(below: 2) == 0)
        case .date: .date(Double(random.next(below: 1000)))
        case .uuid: UUID(uuidString: "00000000-0000-4000-8000-00000000000\(random.next(below: 9))").map { .uuid($0) }
        case .uri: .string("https://example.org/\(random.next(below: 9))")
        default: nil
        }
    }

    /// A relationship, with an inverse or without one.
    private static func link(
        _ source: Int, _ target: Int, _ entities: inout [EntityDescription], _ random: inout SeededRandom
    ) {
        let number = entities[source].relationships.count + 10 * entities[target].relationships.count
        let (name, inverse) = ("to\(source)x\(target)x\(number)", "from\(source)x\(target)x\(number)")
        let hasInverse = random.next(below: 4) > 0
        func relationship(_ name: String, _ destination: Int, _ inverse: String?) -> RelationshipDescription {
            let isToMany = random.next(below: 2) == 0
            return RelationshipDescription(
                name: name, destinationName: entities[destination].name, inverseName: inverse, isToMany: isToMany,
                isOrdered: isToMany && random.next(below: 2) == 0, isOptional: random.next(below: 2) == 0,
                maximumCount: isToMany ? random.next(below: 3) : nil,
                deleteRule: random.next(below: 2) == 0 ? .cascade : .deny)
        }
        let there = relationship(name, target, hasInverse ? inverse : nil)
        let back = relationship(inverse, source, name)
        entities[source].relationships.append(there)
        if hasInverse { entities[target].relationships.append(back) }
    }
}
