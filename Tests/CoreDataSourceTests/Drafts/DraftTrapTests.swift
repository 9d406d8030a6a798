import CoreDataSource
import Foundation
import Testing

/// Misuse of drafts that the compiler cannot see traps with a message that says what to do instead.
struct DraftTrapTests {
    @Test func editingAnObjectOfADiscardedDraftTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuse { draft, _ in
                draft.discard()
                draft.object.subject = "new"
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "An object of Letter was edited after its draft had ended. Keep a reference to the draft while you edit its objects, and make a new draft after discard()."
            ))
    }

    @Test func settingAValueThatItHasTrapsToo() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuse { draft, _ in
                draft.discard()
                draft.object.subject = draft.object.subject
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "An object of Letter was edited after its draft had ended"))
    }

    @Test func linkingAnObjectOfMainTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuse { draft, source in
                draft.object.topic = try source.main.first(Topic.self)
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "An object of another context was linked to Letter.topic. Look the object up in this context by its objectID first."
            ))
    }

    @Test func deletingAnObjectOfAnotherDraftTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuse { draft, source in
                let other = try source.draft(inserting: Letter.self)
                try draft.context.delete(other.object)
            }
        }
        #expect(
            try #require(result).standardErrorString.contains("An object of another context was passed to delete(_:)."))
    }

    @Test func aDraftOfAnObjectOfADraftTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuse { draft, source in
                _ = try source.draft(of: draft.object)
            }
        }
        #expect(
            try #require(result).standardErrorString.contains("An object of another context was passed to draft(of:)."))
    }
}

/// Gives the body a draft of a letter to do something wrong with.
@MainActor private func misuse(_ body: @MainActor (Draft<Letter>, GraphDataSource) throws -> Void) async throws {
    let container = try await PersistentContainer(model: .graph, store: .inMemory)
    let source = try container.dataSource(GraphDataSource.self)
    try await source.perform { _ = try ($0.letter("a"), $0.topic("t")) }
    try body(try source.draft(of: container.main.knownLetter("a")), source)
}
