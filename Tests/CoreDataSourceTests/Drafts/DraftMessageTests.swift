import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// What the errors for conflicts say.
@MainActor @Suite struct DraftMessageTests {
    /// Gives the body the error of a save whose link leads to an object that others have deleted.
    private func withGoneTarget(
        _ edit: (Draft<Letter>) throws -> Void, delete: @escaping @Sendable (PrivateContext) throws -> Void,
        _ body: (PersistentContainer, Draft<Letter>, DataSourceError) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                try context.letter("a").topic = try context.topic("t")
                _ = try (context.topic("u"), context.label("l"))
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            try edit(draft)
            try await source.perform(delete)
            let error = await expectError(.draftConflict) { try await draft.save() }
            try await body(container, draft, try #require(error))
        }
    }

    private func check(_ draft: Draft<Letter>, _ error: DataSourceError) async {
        #expect(error.message.contains("has deleted") && !error.message.contains("keepMine"))
        #expect(!error.message.contains("by another save"))
        await expectError(.objectGone) { try await draft.save(resolving: .keepMine) }
    }

    @Test func theErrorSaysThatOthersDeletedTheLinkedObject() async throws {
        try await withGoneTarget { draft in
            draft.object.topic = try draft.context.knownTopic("u")
        } delete: {
            try $0.delete(Topic.self, where: \.key == "u")
        } _: { container, draft, error in
            await check(draft, error)
            try await draft.save(resolving: .takeTheirs)
            #expect(try container.main.knownLetter("a").topic?.key == "t")
        }
    }

    @Test func theErrorSaysThatOthersDeletedALinkedElement() async throws {
        try await withGoneTarget { draft in
            draft.object.labels.insert(try #require(try draft.context.first(Label.self)))
        } delete: {
            try $0.delete(Label.self, where: nil)
        } _: { container, draft, error in
            await check(draft, error)
            try await draft.save(resolving: .takeTheirs)
            #expect(try container.main.knownLetter("a").labels.isEmpty)
        }
    }

    @Test func aReportPrintsItsCountsAndTheChangedProperties() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            try await source.perform { context in
                let letter = try context.letter("a")
                (letter.subject, letter.key) = ("theirs", "b")
            }
            let report = try await draft.save(resolving: .keepMine)
            let id = draft.object.objectID
            #expect(
                "\(report)" == """
                    0 inserted, 1 updated, 0 deleted, 1 merged, 1 conflict
                      merged \(id).key (attribute)
                      conflict \(id).subject (attribute), kept: mine
                    """)
        }
    }

    @Test func aSolvableConflictMentionsKeepMine() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            try await source.perform { try $0.letter("a").subject = "theirs" }
            let error = await expectError(.draftConflict) { try await draft.save() }
            #expect(error?.message.contains("keepMine") == true)
        }
    }
}
