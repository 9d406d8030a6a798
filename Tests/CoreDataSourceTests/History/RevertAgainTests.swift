import CoreDataSource
import RowStore
import TestSupport
import Testing

/// Reverts that find less to revert than the record has: the record was reverted before, or its objects are gone.
@MainActor
struct RevertAgainTests {
    /// A boss with ordered reports.
    private func withReports(
        _ keys: [String], _ place: HistoryPlace,
        _ body: @MainActor (PersistentContainer, PeerDataSource) async throws -> Void
    ) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["boss"] + keys)
            try await order(keys, peers)
            try await body(container, peers)
        }
    }

    private func order(_ keys: [String], _ peers: PeerDataSource) async throws {
        try await peers.perform { context in
            try context.peer("boss").reports.set(try keys.map { try context.peer($0) })
        }
    }

    private func reports(_ container: PersistentContainer) throws -> [String] {
        try container.main.peer("boss").reports.map(\.key)
    }

    /// Only the deleted object was moved, so nothing of the record is left.
    @Test(arguments: HistoryPlace.all)
    func aMoveOfADeletedObjectIsNotReverted(place: HistoryPlace) async throws {
        try await withReports(["a", "b", "c"], place) { container, peers in
            try await container.withAuthor("me") { try await order(["c", "a", "b"], peers) }
            try await peers.perform { $0.delete(try $0.peer("c")) }
            let move = try #require(try await container.records().first { $0.author == "me" })
            #expect(try await container.revert(move).save == SaveReport())
            #expect(try await container.undo(author: "me") == nil)
            #expect(try reports(container) == ["a", "b"])
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aDeletionFromAnOrderIsRevertedOnce(place: HistoryPlace) async throws {
        try await withReports(["a", "b"], place) { container, peers in
            try await peers.perform { $0.delete(try $0.peer("a")) }
            let deletion = try #require(try await container.records().last)
            #expect(try await container.revert(deletion).save.inserted == 1)
            #expect(try await container.revert(deletion).save == SaveReport())
            #expect(try reports(container) == ["a", "b"])
        }
    }

    /// Both may find the deletion before one of them has reverted it. The other one then takes the step before it.
    @Test(arguments: HistoryPlace.all)
    func twoUndosAtTheSameTimeAreTwoSteps(place: HistoryPlace) async throws {
        try await withReports(["a", "b"], place) { container, peers in
            try await container.withAuthor("me") {
                try await peers.perform { try $0.peer("a").name = "edited" }
                try await peers.perform { $0.delete(try $0.peer("a")) }
            }
            async let one = container.undo(author: "me")
            async let two = container.undo(author: "me")
            #expect(try await one != nil)
            #expect(try await two != nil)
            #expect(try await container.undo(author: "me") == nil)
            #expect(try reports(container) == ["a", "b"])
            #expect(try container.main.peer("a").name == "synced")
            async let three = container.redo(author: "me")
            async let four = container.redo(author: "me")
            #expect(try await three != nil)
            #expect(try await four != nil)
            #expect(try reports(container) == ["b"])
        }
    }
}
