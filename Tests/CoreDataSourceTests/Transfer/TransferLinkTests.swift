import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Which links a graph has, and what it has of keys, hooks and derived attributes.
@MainActor @Suite struct TransferLinkTests {
    private func graph(_ json: String) throws -> ObjectGraph { try ObjectGraph(json: Data(json.utf8)) }

    /// The names of the properties that the objects of an entity have in a graph.
    private func properties(_ graph: ObjectGraph, _ entity: String) throws -> Set<String> {
        let json = try JSONSerialization.jsonObject(with: graph.json) as? [String: [[String: Any]]]
        return Set(try #require(json?[entity]).flatMap(\.keys))
    }

    @Test func eachLinkIsWrittenOnOneSideUnlessTheOtherHasAnOrderOrIsTheSame() async throws {
        try await withGraph(.inMemory) { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.topic = try context.topic("t")
                letter.labels.insert(try context.label("l"))
                letter.attachments = [try context.attachment("1")]
                letter.author = try context.person("p")
                try context.passport("1").holder = try context.person("p")
                try context.person("p").spouse = try context.person("q")
                try context.person("p").friends.insert(try context.person("q"))
                try context.folder("f").letters.insert(letter)
                try context.tour("u").stops.append(try context.station("s"))
            }
            let graph = try container.main.exportGraph(of: GraphDataSource.entities)
            #expect(try properties(graph, "Topic") == ["key", "title"])
            // The order of its attachments is its own; that of the label's letters is the label's.
            #expect(
                try properties(graph, "Letter") == [
                    "key", "subject", "attachments", "author", "place", "readBy", "topic",
                ])
            #expect(try properties(graph, "Label") == ["key", "letters"])
            #expect(try properties(graph, "Attachment") == ["key", "letter"])
            #expect(try properties(graph, "Passport") == ["key", "holder"])
            #expect(try properties(graph, "Person") == ["key", "name", "companions", "friends", "spouse"])
            #expect(try properties(graph, "Folder") == ["key", "letters", "parent"])
            // Both sides have an order.
            #expect(try properties(graph, "Station") == ["key", "tours"])
            #expect(try properties(graph, "Tour") == ["key", "detours", "stops"])
        }
    }

    /// The others keep their order.
    @Test func aListHasOnlyExportedObjects() async throws {
        try await withGraph(.inMemory) { container, source in
            try await source.perform { context in
                try context.label("l").letters = try ["c", "b", "a"].map(context.letter)
            }
            let request = ObjectRequest<Letter>(where: \.key != "b")
            let some = try container.main.exportGraph(request, following: [\Letter.labels])
            let text = String(decoding: some.json, as: UTF8.self).replacing(/\s/, with: "")
            #expect(text.contains("\"letters\":[\"c\",\"a\"]"))
            #expect(try properties(container.main.exportGraph(of: [Label.self]), "Label") == ["key"])
        }
    }

    @Test func aRequiredLinkThatWasLeftOutIsMissedByTheImport() async throws {
        try await withGraph(.inMemory) { container, source in
            try await source.perform { try $0.passport("1").holder = try $0.person("p") }
            let alone = try container.main.exportGraph(of: [Passport.self])
            let both = try container.main.exportGraph(of: [Passport.self, Person.self])
            try await withGraph(.inMemory) { other, _ in
                let error = await expectError(.validationFailed) { try await other.importGraph(alone) }
                #expect(error?.attributeName == "holder")
                let report = try await other.importGraph(both)
                #expect(report == SaveReport(inserted: 2))
            }
        }
    }

    private final class Refusing: DataSource<String> {
        override class var entities: [ManagedObject.Type] { [Topic.self] }

        override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? { throw Poison() }
        override func onLink(_ object: ManagedObject, for key: String, in context: PrivateContext) throws {
            throw Poison()
        }
    }

    @Test func anImportCallsNoHook() async throws {
        try await withEmptyGraph { container in
            let topics = try container.dataSource(Refusing.self)
            #expect(
                try await container.importGraph(graph("{\"Topic\": [{\"key\": \"t\"}]}")) == SaveReport(inserted: 1))
            await expectThrows(Poison.self) { try await topics.add("u") }
        }
    }

    // MARK: Keys

    private final class Entry: ManagedObject {
        override class var entityName: String { "Entry" }
    }

    private final class Special: ManagedObject {
        override class var entityName: String { "Special" }
    }

    /// Gives the body entries of two names and a number, which sub-entities have more of.
    private func withEntries(
        _ body: @MainActor (PersistentContainer, PlainDataSource<Entry>) async throws -> Void
    ) async throws {
        func name(_ name: String) -> AttributeDescription {
            AttributeDescription(name: name, type: .string, isOptional: true)
        }
        let lower = AttributeDescription(
            name: "lower", type: .string, isOptional: true, derivationExpression: "lowercase:(first)")
        let model = ManagedObjectModel(
            name: "Entries",
            entities: [
                EntityDescription(
                    name: "Entry", attributes: [name("first"), name("last"), lower, name("title")],
                    uniquenessConstraints: [["first", "last"], ["title"], ["last"]]),
                EntityDescription(
                    name: "Special", parentName: "Entry", attributes: [name("code")],
                    uniquenessConstraints: [["code"]]),
            ], classes: ["Entry": Entry.self, "Special": Special.self])
        let container = try await PersistentContainer(model: model, store: .inMemory)
        try await body(container, try container.dataSource(PlainDataSource<Entry>.self))
        try await container.close()
    }

    @Test func theKeyIsThatOfTheFirstConstraintOfOneAttribute() async throws {
        try await withEntries { container, _ in
            let first = """
                {"Entry": [{"title": "T", "first": "A", "last": "B"}], "Special": [{"title": "S", "code": "1"}]}
                """
            let inserted = try await container.importGraph(graph(first))
            #expect(inserted == SaveReport(inserted: 2))
            let second = """
                {"Entry": [{"title": "T", "first": "C", "last": "D"}], "Special": [{"title": "S", "code": "2"}]}
                """
            #expect(try await container.importGraph(graph(second)) == SaveReport(updated: 2))
            let third = "{\"Special\": [{\"code\": \"2\", \"title\": \"new\"}]}"
            #expect(try await container.importGraph(graph(third), keys: ["Special": "code"]) == SaveReport(updated: 1))
        }
    }

    @Test func anObjectWithoutAValueForItsKeyIsNotExported() async throws {
        try await withEntries { container, entries in
            try await entries.perform { try $0.insert(Entry.self).setAttribute("A", at: 0) }
            let error = expectError(.invalidGraph) { try container.main.exportGraph(of: [Entry.self]) }
            #expect(error?.attributeName == "title")
            #expect(
                try container.main.exportGraph(of: [Entry.self], keys: ["Entry": "first"])
                    .objectCount(ofEntity: "Entry") == 1)
        }
    }

    @Test func aDerivedAttributeInAGraphIsAnError() async throws {
        try await withEntries { container, entries in
            try await entries.perform { context in
                let entry = try context.insert(Entry.self)
                entry.setAttribute("A", at: 0)
                entry.setAttribute("T", at: 3)
            }
            #expect(
                try properties(container.main.exportGraph(of: [Entry.self]), "Entry") == ["first", "last", "title"])
            let error = await expectError(.invalidGraph) {
                try await container.importGraph(graph("{\"Entry\": [{\"title\": \"U\", \"lower\": \"a\"}]}"))
            }
            #expect(error?.message.contains("Entry[0].lower") == true)
            #expect(try entries.count(Entry.self) == 1)
        }
    }
}
