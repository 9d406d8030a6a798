import CoreDataSource
import Observation
import TestSupport
import Testing

/// What a draft remembers of rows that others write.
@MainActor @Suite struct DraftOthersTests {
    /// Gives the body a draft of the letter "a", after all topics and letters were fetched in the draft, as for a picker.
    private func withPicker(
        _ body: (PersistentContainer, GraphDataSource, Draft<Letter>) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for key in ["a", "b", "c"] {
                    let letter = try context.letter(key)
                    letter.topic = topic
                    letter.attachments = try ["1", "2", "3"].map { try context.attachment(key + $0) }
                }
                _ = try context.topic("u")
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            try await body(container, source, draft)
        }
    }

    private func fetchAll(_ draft: Draft<Letter>) throws {
        _ = try draft.context.fetch(Attachment.self).map(\.key)
        _ = try draft.context.fetch(Letter.self).map(\.subject)
        // Nothing is fetched after that.
        _ = try draft.context.fetch(Topic.self).map(\.title)
    }

    /// Nobody reads the draft meanwhile: the save is noticed as by the main context.
    @Test func observersOfADraftHearOfTheSavesOfAnotherContainer() async throws {
        let directory = try TemporaryDirectory()
        let (container, other) = (
            try PersistentContainer.shared(directory.store), try PersistentContainer.shared(directory.store)
        )
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        let draft = try contacts.draft(of: #require(try container.main.first(ContactEntity.self)))
        let isNotified = Shared(false)
        withObservationTracking {
            _ = draft.object.name
        } onChange: {
            isNotified.value = true
        }
        try await other.dataSource(ContactDataSource.self).perform { context in
            try context.first(ContactEntity.self)?.name = "other"
        }
        while !isNotified.value { await Task.yield() }
        // The observers are notified before the change is shown.
        while draft.object.name != "other" { await Task.yield() }
        #expect(!draft.hasChanges)
        try await other.close()
        try await container.close()
    }

    @Test func aLinkIsFollowedAfterASaveThoughAllObjectsWereFetched() async throws {
        try await withPicker { container, _, draft in
            draft.object.subject = "new"
            try fetchAll(draft)
            try await draft.save()
            #expect(draft.object.topic?.key == "t")
            draft.object.topic?.title = "edited"
            let report = try await draft.save()
            #expect(report.save.updated == 1)
            #expect(try container.main.knownTopic("t").title == "edited")
        }
    }

    @Test func anObjectThatOthersInsertIsFoundThoughAllWereFetched() async throws {
        try await withPicker { container, source, draft in
            try fetchAll(draft)
            try await source.perform { context in
                let topic = try context.topic("new")
                try context.letter("a").topic = topic
                try context.letter("a").attachments.append(try context.attachment("new"))
            }
            #expect(draft.object.topic?.key == "new")
            #expect(draft.object.attachments.map(\.key) == ["a1", "a2", "a3", "new"])
            #expect(try container.main.knownLetter("a").topic?.key == "new")
        }
    }

    @Test func aReorderDuringASaveIsKeptThoughAllObjectsWereFetched() async throws {
        try await withPicker { container, source, draft in
            let other = try draft.context.knownLetter("b")
            draft.object.subject = "new"
            other.attachments.swapAt(0, 1)
            try fetchAll(draft)
            try await draft.save(waitingFor: source) {
                try reorder(draft)
            }
            #expect(draft.hasChanges)
            try await draft.save()
            #expect(try container.main.knownLetter("c").attachments.map(\.key) == ["c3", "c2", "c1"])
            #expect(try container.main.knownLetter("b").attachments.map(\.key) == ["b2", "b1", "b3"])
        }
    }

    /// Nobody holds the letter afterwards.
    private func reorder(_ draft: Draft<Letter>) throws {
        try draft.context.knownLetter("c").attachments.reverse()
        _ = try draft.context.fetch(Letter.self).map(\.subject)
    }
}
