import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Another program can give rows of two entities the same key. They are different objects everywhere.
@MainActor @Suite struct EqualKeyTests {
    /// - Parameter body: Gets a letter and a topic that have the same key.
    private func withEqualKeys(
        _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { _ = try $0.letter("letter") }
            let key = try container.main.knownLetter("letter").objectID.key
            try RawConnection(directory.store).execute(
                "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), 'topic', 'x')")
            try await source.perform { _ in }
            #expect(try container.main.knownTopic("topic").objectID.key == key)
            try await body(container, source)
        }
    }

    @Test func anExportHasBoth() async throws {
        try await withEqualKeys { container, _ in
            let graph = try container.main.exportGraph(of: [Topic.self, Letter.self])
            #expect(graph.objectCount(ofEntity: "Topic") == 1 && graph.objectCount(ofEntity: "Letter") == 1)
        }
    }

    @Test func aDraftEditsBothInOneStep() async throws {
        try await withEqualKeys { container, source in
            let draft = try source.draft(of: container.main.knownTopic("topic"))
            let letter = try draft.context.knownLetter("letter")
            @MainActor func edit() {
                draft.object.title = "y"
                letter.subject = "y"
                letter.topic = draft.object
            }
            edit()
            for _ in 0..<3 { draft.undo() }
            #expect(draft.object.title == "x" && letter.subject != "y" && letter.topic == nil)
            edit()
            // Another save changes one of the objects.
            try await source.perform { try $0.topic("topic").title = "z" }
            #expect(try draft.conflicts().count == 1)
            try await draft.save(resolving: .keepMine)
            let saved = try container.main.knownLetter("letter")
            #expect(saved.subject == "y" && saved.topic?.title == "y")
        }
    }

    @Test func aDraftDeletesOneOfThem() async throws {
        try await withEqualKeys { container, source in
            let draft = try source.draft(of: container.main.knownTopic("topic"))
            let letter = try draft.context.knownLetter("letter")
            letter.subject = "y"
            try draft.context.delete(draft.object)
            #expect(!letter.isDeleted && letter.subject == "y")
            try await draft.save()
            #expect(try container.main.fetch(Topic.self).isEmpty)
            #expect(try container.main.knownLetter("letter").subject == "y")
        }
    }

    /// A sync does not delete the objects that its list has. A child with the key of such an object is deleted.
    @Test func aSweepDeletesAChildWithTheKeyOfAnObjectOfTheList() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let board = try container.dataSource(BoardDataSource.self)
        try await board.add([TopicValue(key: "1", letters: [LetterValue(key: "a"), LetterValue(key: "b")])])
        let key = try container.main.knownLetter("a").objectID.key
        try RawConnection(directory.store).execute(
            "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), '2', 'x')")
        let list = [TopicValue(key: "1", letters: [LetterValue(key: "b")]), TopicValue(key: "2")]
        try await board.sync(list, entity: Topic.self)
        #expect(try container.main.knownTopic("2").objectID.key == key)
        #expect(try container.main.fetch(Letter.self).map(\.key) == ["b"])
        try await container.close()
    }
}
