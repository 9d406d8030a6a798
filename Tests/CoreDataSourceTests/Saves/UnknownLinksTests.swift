import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Links have no entity. A loop that does not learn which links have changed learns which objects to read again.
@MainActor
struct UnknownLinksTests {
    @Test(arguments: CommittedSavesTests.Place.all)
    func aSlowLoopIsToldThatItMissedLinks(place: CommittedSavesTests.Place) async throws {
        try await place.withContainer(.peers()) { container in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["a", "b"])
            let saves = container.saves
            for step in 0..<(SaveMailbox.limit + 40) {
                try await peers.perform(waitFor: .main) { context in
                    try context.peer("a").friends.set(step % 2 == 0 ? [try context.peer("b")] : [])
                }
            }
            try await container.flush()
            try await container.close()
            var missed: UnknownChanges?
            for await event in saves {
                if case .unknown(let changes) = event { missed = missed ?? changes }
            }
            let changes = try #require(missed)
            #expect(changes.mayInclude(Peer.self))
            #expect(changes.entityNames ?? ["Peer"] == ["Peer"])
        }
    }

    /// For a save with so many links, the feed of a shared store has only names.
    @Test(arguments: SharedPlace.Kind.all)
    func aSaveOfManyLinksIsNotMissedByOthers(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let (first, second) = (try place.open(model: .library), try place.open(model: .library))
        let (shelves, tags) = (try second.dataSource(ShelfSource.self), try second.dataSource(TagSource.self))
        try await shelves.add(ShelfValue(key: "s", books: (0..<4_200).map { "\($0)" }))
        try await tags.add("x")
        try await Self.link(second) { try $0.fetch(Volume.self) }
        let saves = second.saves
        // The context of the second member knows the links that this save deletes.
        let (otherShelves, otherTags) = (try first.dataSource(ShelfSource.self), try first.dataSource(TagSource.self))
        try await Self.link(first) { _ in [] }
        try await otherTags.add("last")
        try await Self.link(second) { [try #require(try $0.first(Volume.self, where: \.key, equals: "7"))] }
        #expect(try second.main.first(Tag.self, where: \.key, equals: "x")?.books.map(\.key) == ["7"])
        withExtendedLifetime((otherShelves, otherTags)) {}
        try await first.close()
        try await second.close()
        var missed: [UnknownChanges] = []
        for await event in saves {
            if case .unknown(let changes) = event { missed.append(changes) }
        }
        #expect(missed.contains { $0.mayInclude(Tag.self) && $0.mayInclude(Volume.self) })
        #expect(missed.allSatisfy { $0.entityNames != [] })
    }

    /// The server names the table of the links.
    @Test(.enabled(if: SharedPlace.Kind.all.contains(.postgreSQL)))
    func anOutsideWriteOfLinksToAServerIsNamed() async throws {
        let place = try SharedPlace(.postgreSQL)
        let container = try place.open(model: .library, configuration: .keeping())
        let (shelves, tags) = (
            try container.dataSource(ShelfSource.self), try container.dataSource(TagSource.self)
        )
        try await shelves.add(ShelfValue(key: "s", books: ["1", "2"]))
        try await tags.add("x")
        let all = { @Sendable (context: PrivateContext) throws in try context.fetch(Volume.self) }
        try await Self.link(container, all)
        let saves = container.saves
        try place.run("DELETE FROM \"_Tag_books\"")
        // The context does not take a deleted link for one that is there.
        try await Self.link(container, all)
        let tag = try #require(try container.main.first(Tag.self, where: \.key, equals: "x"))
        #expect(tag.books.count == 2)
        let records = try await container.records(where: HistoryFilter(entityNames: ["Volume.tags"]))
        #expect(records.map(\.kind) == [.local, .outsideWrites, .local])
        #expect(records.allSatisfy { $0.entityNames == ["Tag.books"] })
        try await container.close()
        var missed: [UnknownChanges] = []
        for await event in saves {
            if case .unknown(let changes) = event { missed.append(changes) }
        }
        #expect(missed.contains { $0.mayInclude(Tag.self) && $0.mayInclude(Volume.self) })
    }

    /// The list depends on links.
    @Test func aListNamesTheRelationshipWhoseLinksChanged() async throws {
        let container = try await PersistentContainer(model: .library, store: .inMemory)
        let (shelves, tags) = (
            try container.dataSource(ShelfSource.self), try container.dataSource(TagSource.self)
        )
        try await shelves.add(ShelfValue(key: "s", books: ["1", "2"]))
        try await tags.add("x")
        let list = try shelves.list(ObjectRequest(Volume.self, where: .any(\.tags, \.key == "x")))
        try await Self.link(container) { try $0.fetch(Volume.self) }
        await container.mainTier.waitForLists()
        #expect(list.count == 2)
        #expect(list.lastUpdateReason.entities.contains("Tag.books"))
        #expect((list.lastUpdateReason.entities + list.lastUpdateReason.attributes).allSatisfy { !$0.hasPrefix("_") })
        try await container.close()
    }

    /// Links the tag x with some books.
    private static func link(
        _ container: PersistentContainer,
        _ books: @escaping @Sendable (PrivateContext) throws -> [Volume]
    ) async throws {
        let (shelves, tags) = (try container.dataSource(ShelfSource.self), try container.dataSource(TagSource.self))
        try await container.perform(in: shelves, tags) { shelves, tags in
            try #require(try tags.first(Tag.self, where: \.key, equals: "x")).books.set(try books(shelves))
        }
    }
}
