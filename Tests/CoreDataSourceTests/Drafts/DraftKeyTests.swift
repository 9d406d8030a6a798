import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Keys of a draft's new objects that another program takes.
@MainActor @Suite struct DraftKeyTests {
    @Test func aNewObjectGetsAnotherKeyIfItsKeyIsTaken() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { try $0.topic("t").title = "old" }
            let draft = try source.draft(inserting: Letter.self)
            let context = try draft.context
            draft.object.key = "mine"
            let topic = try context.insert(Topic.self)
            topic.key = "mine"
            let label = try context.insert(Label.self)
            label.key = "mine"
            let attachments = try ["1", "2", "3"].map { key in
                let attachment = try context.insert(Attachment.self)
                attachment.key = key
                return attachment
            }
            draft.object.topic = topic
            draft.object.labels.insert(label)
            draft.object.attachments = [attachments[2], attachments[0], attachments[1]]
            let highest = attachments[2].objectID.key + 5
            let raw = try RawConnection(directory.store)
            for key in 2...highest {
                try raw.execute(
                    "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), 'o\(key)', 'other')")
            }
            try await draft.save()
            #expect(draft.object.topic === topic && draft.object.labels.contains(label) && !draft.hasChanges)
            #expect(draft.object.attachments == [attachments[2], attachments[0], attachments[1]])
            let saved = try container.main.knownLetter("mine")
            #expect(saved.objectID == draft.object.objectID && saved.topic?.objectID == topic.objectID)
            #expect(saved.labels.map(\.objectID) == [label.objectID])
            #expect(saved.attachments.map(\.key) == ["3", "1", "2"])
            #expect(try container.main.count(Topic.self) == Int(highest) + 1)
            // The draft goes on with the new keys.
            draft.object.subject = "again"
            topic.title = "again"
            draft.object.labels.removeAll()
            draft.object.attachments.swapAt(0, 1)
            try await draft.save()
            #expect(saved.subject == "again" && saved.topic?.title == "again" && saved.labels.isEmpty)
            #expect(saved.attachments.map(\.key) == ["1", "3", "2"])
            #expect(try container.main.fetch(Topic.self, where: \.title == "other").count == Int(highest) - 1)
        }
        try expectIntact(directory.store)
    }

    /// Another program inserts a row with the key of a new object. Whatever steps are undone and redone, its row stays, and the draft
    /// shows its own object while this object exists.
    @Test func theRowOfAnotherProgramIsNotTheNewObjectWithTheSameKey() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { _ = try $0.topic("t") }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            let topic = try draft.context.insert(Topic.self)
            topic.key = "mine"
            try RawConnection(directory.store).execute(
                "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(topic.objectID.key), 'other', 'x')")
            try await source.perform { _ in }
            @MainActor func shown() throws -> Set<String> { Set(try draft.context.fetch(Topic.self).map(\.key)) }
            let withMine: Set = ["t", "mine"]
            for _ in 0..<3 {
                try draft.context.delete(topic)
                #expect(try shown() == ["t", "other"])
                draft.undo()
                #expect(try shown().isSuperset(of: withMine) && topic.key == "mine" && !topic.isDeleted)
                draft.redo()
                #expect(try shown() == ["t", "other"] && draft.conflicts().isEmpty)
                draft.undo()
                #expect(try draft.conflicts().isEmpty)
            }
            try await draft.save()
            #expect(try container.main.fetch(Topic.self).map(\.key).sorted() == ["mine", "other", "t"])
        }
    }

    private struct TakenKey {
        let container: PersistentContainer
        let draft: Draft<Topic>
        /// A new object of the draft, which was deleted.
        let topic: Topic
        /// The object of a row that another program has inserted with the same key. The last step of the draft edits it.
        let other: Topic
        let raw: RawConnection
    }

    private func withTakenKey(_ body: @MainActor (TakenKey) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { _ = try $0.topic("t") }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            let topic = try draft.context.insert(Topic.self)
            topic.key = "mine"
            try draft.context.delete(topic)
            let raw = try RawConnection(directory.store)
            try raw.execute(
                "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(topic.objectID.key), 'other', 'x')")
            try await source.perform { _ in }
            let other = try #require(try draft.context.fetch(Topic.self, where: \.key == "other").first)
            other.title = "edited"
            try await body(TakenKey(container: container, draft: draft, topic: topic, other: other, raw: raw))
        }
        try expectIntact(directory.store)
    }

    /// The object of another program's row gives way to the new object with the same key, and is there again when the new object is
    /// gone.
    @Test func anObjectThatGaveWayIsNotDeletedByOthers() async throws {
        try await withTakenKey { taken in
            let (draft, topic, other) = (taken.draft, taken.topic, taken.other)
            for _ in 0..<3 {
                draft.undo()
                #expect(other.title == "x")
                draft.undo()
                #expect(!topic.isDeleted && other.isDeleted)
                draft.redo()
                #expect(topic.isDeleted && !other.isDeleted && other.title == "x")
                draft.redo()
                #expect(try other.title == "edited" && draft.conflicts().isEmpty)
            }
            draft.undo()
            draft.undo()
            try taken.raw.execute("UPDATE \"Topic\" SET \"title\" = 'y' WHERE \"key\" = 'other'")
            draft.redo()
            #expect(other.title == "y")
            other.title = "new"
            try await draft.save()
            #expect(try taken.container.main.knownTopic("other").title == "new")
            #expect(try taken.container.main.count(Topic.self) == 2)
        }
    }

    /// Nobody tells the draft that the row is gone, because its object is hidden.
    @Test func anObjectThatGaveWayStaysAwayIfItsRowIsDeleted() async throws {
        try await withTakenKey { taken in
            let (draft, topic, other) = (taken.draft, taken.topic, taken.other)
            for _ in 0..<2 { draft.undo() }
            #expect(!topic.isDeleted && other.isDeleted)
            try taken.raw.execute("DELETE FROM \"Topic\" WHERE \"key\" = 'other'")
            draft.redo()
            #expect(topic.isDeleted && other.isDeleted)
            draft.undo()
            #expect(!topic.isDeleted && other.isDeleted)
            draft.redo()
            #expect(try draft.context.fetch(Topic.self).map(\.key) == ["t"])
            try await draft.save()
            #expect(try taken.container.main.fetch(Topic.self).map(\.key) == ["t"])
        }
    }

    /// The step after the deletion edits the object whose row is gone.
    @Test func stepsOfAnObjectWhoseRowIsGoneLeaveNothing() async throws {
        try await withTakenKey { taken in
            let draft = taken.draft
            for _ in 0..<2 { draft.undo() }
            try taken.raw.execute("DELETE FROM \"Topic\" WHERE \"key\" = 'other'")
            for _ in 0..<2 {
                for _ in 0..<2 { draft.redo() }
                draft.undo()
            }
            try await draft.save(resolving: .takeTheirs)
            #expect(try taken.container.main.fetch(Topic.self).map(\.key) == ["t"])
        }
    }

    @Test func editsDuringTheSaveFollowTheNewKeys() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { try $0.topic("t").title = "old" }
            let draft = try source.draft(inserting: Topic.self)
            draft.object.key = "mine"
            let label = try draft.context.insert(Label.self)
            label.key = "mine"
            label.letters = try ["1", "2", "3"].map { key in
                let letter = try draft.context.insert(Letter.self)
                letter.key = key
                return letter
            }
            let raw = try RawConnection(directory.store)
            let key = draft.object.objectID.key
            try raw.execute("INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), 'o', 'other')")
            var late: Letter?
            try await draft.save(waitingFor: source) {
                let letter = try draft.context.insert(Letter.self)
                letter.key = "late"
                letter.topic = draft.object
                label.letters = Array(label.letters.reversed())
                late = letter
            }
            #expect(draft.object.objectID.key != key && late?.topic === draft.object && draft.hasChanges)
            try await draft.save()
            #expect(try container.main.knownLetter("late").topic?.key == "mine")
            #expect(try container.main.first(Label.self)?.letters.map(\.key) == ["3", "2", "1"])
        }
    }
}
