import CoreDataSource
import TestSupport
import Testing

/// Values that are changed back to what they were.
@MainActor @Suite struct DraftRevertTests {
    private func withDraft(
        _ body: (PersistentContainer, GraphDataSource, Draft<Letter>) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.subject = "old"
                letter.topic = try context.topic("t")
                letter.labels.insert(try context.label("l"))
                letter.attachments = try ["1", "2", "3"].map(context.attachment)
                _ = try context.topic("u")
            }
            try await body(container, source, try source.draft(of: container.main.knownLetter("a")))
        }
    }

    @Test func anObjectWhoseValueIsChangedBackFollowsOthers() async throws {
        try await withDraft { container, source, draft in
            draft.object.subject = "mine"
            draft.object.subject = "old"
            #expect(!draft.hasChanges && !draft.object.hasChanges)
            try await source.perform { try $0.letter("a").key = "b" }
            #expect(try draft.context.first(Letter.self)?.key == "b" && draft.object.key == "b")
            draft.object.key = "c"
            #expect(try draft.conflicts().isEmpty)
            try await draft.save()
            #expect(try container.main.knownLetter("c").subject == "old")
        }
    }

    @Test func aRevertedObjectGetsTheSavesOfOthers() async throws {
        try await withDraft { _, source, draft in
            draft.object.subject = "mine"
            try await source.perform { try $0.letter("a").key = "b" }
            #expect(draft.object.key == "a")
            draft.object.subject = "old"
            #expect(draft.object.key == "b" && !draft.hasChanges)
            // Each step can still be undone and redone.
            draft.undo()
            #expect(draft.object.subject == "mine" && draft.object.key == "a")
            draft.undo()
            #expect(draft.object.subject == "old" && draft.object.key == "b" && !draft.hasChanges)
            draft.redo()
            #expect(draft.object.subject == "mine")
            draft.redo()
            #expect(draft.object.subject == "old" && draft.object.key == "b" && !draft.hasChanges)
            try await source.perform { try $0.letter("b").key = "c" }
            #expect(try draft.context.first(Letter.self)?.key == "c")
            draft.undo()
            draft.undo()
            #expect(draft.object.subject == "old" && draft.object.key == "c" && !draft.hasChanges)
        }
    }

    @Test func aGroupThatEndsWhereItBeganIsNoChange() async throws {
        try await withDraft { _, source, draft in
            draft.undoGroup {
                draft.object.subject = "mine"
                draft.object.subject = "old"
            }
            #expect(!draft.hasChanges)
            try await source.perform { try $0.letter("a").key = "b" }
            #expect(try draft.context.first(Letter.self)?.key == "b")
        }
    }

    @Test func aLinkThatIsSetBackIsNoChange() async throws {
        try await withDraft { container, source, draft in
            let t = try #require(draft.object.topic)
            draft.object.topic = try draft.context.knownTopic("u")
            draft.object.topic = t
            #expect(!draft.hasChanges)
            let label = try #require(draft.object.labels.first { _ in true })
            draft.object.labels.remove(label)
            draft.object.labels.insert(label)
            #expect(!draft.hasChanges)
            try await source.perform { context in
                try context.letter("a").topic = try context.topic("u")
                try context.letter("a").labels.removeAll()
            }
            #expect(try draft.context.fetch(Topic.self).count == 2)
            #expect(draft.object.topic?.key == "u" && draft.object.labels.isEmpty)
            try await draft.save()
            #expect(try container.main.knownLetter("a").topic?.key == "u")
            #expect(try container.main.knownLetter("a").labels.isEmpty)
        }
    }

    @Test func anOrderThatIsSetBackIsNoChange() async throws {
        try await withDraft { container, source, draft in
            draft.object.attachments.swapAt(0, 2)
            draft.object.attachments.swapAt(0, 2)
            #expect(!draft.hasChanges)
            let last = try #require(draft.object.attachments.last)
            draft.object.attachments.removeLast()
            draft.object.attachments.append(last)
            #expect(!draft.hasChanges)
            try await source.perform { try $0.letter("a").attachments.swapAt(0, 1) }
            #expect(try draft.context.fetch(Attachment.self).count == 3)
            #expect(draft.object.attachments.map(\.key) == ["2", "1", "3"])
            #expect(try await draft.save().save == SaveReport())
            #expect(try container.main.knownLetter("a").attachments.map(\.key) == ["2", "1", "3"])
        }
    }
}
