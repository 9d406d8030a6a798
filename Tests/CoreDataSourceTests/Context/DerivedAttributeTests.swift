import CoreDataSource
import Foundation
import Testing

@MainActor
struct DerivedAttributeTests {
    private final class Entry: ManagedObject {
        override class var entityName: String { "Entry" }
    }

    private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
        AttributeDescription(name: name, type: type, isOptional: true, derivationExpression: expression)
    }

    private let model = ManagedObjectModel(
        name: "Derived",
        entities: [
            EntityDescription(
                name: "Entry",
                attributes: [
                    AttributeDescription(name: "title", type: .string, isOptional: true),
                    derived("search", .string, "canonical:(title)"), derived("upper", .string, "uppercase:(title)"),
                    derived("lower", .string, "lowercase:(title)"), derived("copy", .string, "title"),
                    derived("changedAt", .date, "now()"),
                ])
        ])

    @Test func derivedAttributesFollowTheirSourceWithEachSave() async throws {
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        let before = Date()
        try await entries.perform { try $0.insert(Entry.self).setAttribute("Éclair", at: 0) }
        let entry = try #require(try container.main.fetch(Entry.self).first)
        let texts = (1...4).map { entry.attribute(at: $0) as String? }
        #expect(texts == ["eclair", "ÉCLAIR", "éclair", "Éclair"])
        let first: Date = entry.attribute(at: 5)
        #expect(first >= before && first <= Date())
        try await entries.perform(waitFor: .main) { try $0.fetch(Entry.self).first?.setNil(at: 0) }
        #expect((1...4).allSatisfy { entry.isNil(at: $0) })
    }

    /// Whatever the order in the model.
    @Test func aChainOfDerivedAttributesFollowsInTheSameSave() async throws {
        let model = ManagedObjectModel(
            name: "Derived",
            entities: [
                EntityDescription(
                    name: "Entry",
                    attributes: [
                        Self.derived("first", .string, "uppercase:(second)"), Self.derived("second", .string, "third"),
                        Self.derived("third", .string, "canonical:(title)"),
                        AttributeDescription(name: "title", type: .string, isOptional: true),
                    ])
            ])
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        for title in ["Éclair", "Crème"] {
            try await entries.perform(waitFor: .main) { context in
                let entry = try context.fetch(Entry.self).first ?? context.insert(Entry.self)
                entry.setAttribute(title, at: 3)
            }
            let entry = try #require(try container.main.fetch(Entry.self).first)
            let plain = title == "Éclair" ? "eclair" : "creme"
            #expect((0...2).map { entry.attribute(at: $0) as String? } == [plain.uppercased(), plain, plain])
        }
        try await container.close()
    }

    @Test func aLeafOfACompositeIsCopied() async throws {
        let model = ManagedObjectModel(
            name: "Derived",
            entities: [
                EntityDescription(
                    name: "Entry",
                    attributes: [
                        AttributeDescription(
                            name: "address", type: .composite, isOptional: true, compositeName: "Address"),
                        Self.derived("city", .string, "address.city"),
                        Self.derived("search", .string, "canonical:(address.city)"),
                    ])
            ],
            composites: [
                CompositeDescription(
                    name: "Address", attributes: [AttributeDescription(name: "city", type: .string, isOptional: true)])
            ])
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        try await entries.perform { try $0.insert(Entry.self).setAttribute("Málaga", at: 0) }
        let entry = try #require(try container.main.fetch(Entry.self).first)
        #expect((0...2).map { entry.attribute(at: $0) as String? } == ["Málaga", "Málaga", "malaga"])
        try await container.close()
    }

    @Test func aCallWithoutChangesSavesNoDerivedDate() async throws {
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        try await entries.perform { try $0.insert(Entry.self).setAttribute("a", at: 0) }
        try await entries.perform { try $0.fetch(Entry.self).first?.setAttribute("a", at: 0) }
        #expect(container.stack.root.newestSave == 1)
    }
}
