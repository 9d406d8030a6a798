import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Reverts that find less to revert than the record has: the record was reverted before, or its objects are gone. And reverts
/// that a rule of the model refuses the first time.
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

    /// A club must have members. The only one that is left is a member by the record, which has also changed a note.
    @Test(arguments: HistoryPlace.all)
    func aRuleOfTheModelRefusesTheRevertAndLeavesNothingOfIt(place: HistoryPlace) async throws {
        try await place.withContainer(model: .lodge) { container, _ in
            let lodge = try container.dataSource(LodgeSource.self)
            try await lodge.add(["a", "b"])
            func setMembers(_ names: [String], note: String? = nil) async throws {
                try await lodge.perform { context in
                    let club = try context.findOrInsert(LodgeClub.self, where: \.name, equals: "club")
                    club.lodgers.set(try names.map { try context.lodger($0) })
                    if let note { try context.lodger("a").note = note }
                }
            }
            try await setMembers(["a"])
            try await setMembers(["a", "b"], note: "new")
            try await setMembers(["b"])
            let records = try await container.records()
            let error = await expectError(.validationFailed) { try await container.revert(records[2]) }
            #expect(error?.entityName == "LodgeClub" && error?.attributeName == "lodgers")
            #expect(try await container.records().count == 4)
            let club = try #require(try container.main.first(LodgeClub.self))
            #expect(try container.main.lodger("a").note == "new" && club.lodgers.map(\.name) == ["b"])
            // The reason is gone.
            try await setMembers(["a", "b"])
            #expect(try await container.revert(records[2]).conflicts.isEmpty)
            #expect(try container.main.lodger("a").note == "server" && club.lodgers.map(\.name) == ["a"])
        }
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

    /// The links came back with the object. Whoever has removed them since does not get them again.
    @Test(arguments: HistoryPlace.all)
    func linksOfAnObjectThatIsBackAreLeftAsTheyAre(place: HistoryPlace) async throws {
        try await withReports(["a", "b"], place) { container, peers in
            try await peers.perform { try $0.peer("boss").friends.set([try $0.peer("a"), try $0.peer("b")]) }
            try await peers.perform { $0.delete(try $0.peer("boss")) }
            let deletion = try #require(try await container.records().last)
            try await container.revert(deletion)
            #expect(try reports(container) == ["a", "b"])
            try await peers.perform { context in
                try context.peer("a").boss = nil
                try context.peer("boss").friends.set([try context.peer("b")])
            }
            #expect(try await container.revert(deletion).save == SaveReport())
            #expect(try reports(container) == ["b"])
            #expect(try container.main.peer("boss").friends.map(\.key) == ["b"])
        }
    }

    /// One of two deleted objects is back, and the other one comes back with the link between them.
    @Test(arguments: HistoryPlace.all)
    func anObjectComesBackWithItsLinksToOneThatIsBack(place: HistoryPlace) async throws {
        try await withReports(["a"], place) { container, peers in
            try await peers.perform { try $0.peer("boss").friends.set([try $0.peer("a")]) }
            try await peers.perform { context in
                for key in ["boss", "a"] { context.delete(try context.peer(key)) }
            }
            let deletion = try #require(try await container.records().last)
            try await container.revert(deletion)
            try await peers.perform { $0.delete(try $0.peer("a")) }
            try await container.revert(deletion)
            #expect(try reports(container) == ["a"])
            #expect(try container.main.peer("boss").friends.map(\.key) == ["a"])
        }
    }
}
