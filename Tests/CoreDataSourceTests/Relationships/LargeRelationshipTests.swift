import CoreDataSource
import ErrorExpectations
import SQLiteStore
import TestSupport
import Testing

/// What a save costs that changes one of many links of an object: it must not depend on how many there are.
@MainActor struct LargeRelationshipTests {
    /// An owner with that many ordered reports, and a team of that many members.
    private func fill(_ peers: PeerDataSource, _ count: Int) async throws {
        try await peers.perform { context in
            let boss = try context.insert(Peer.self)
            boss.key = "boss"
            let team = try context.insert(Team.self)
            team.key = "team"
            for number in 0..<count {
                let peer = try context.insert(Peer.self)
                peer.key = "\(number)"
                peer.boss = boss
                peer.team = team
            }
        }
        await peers.tier.forgetObjects()
    }

    private func registered(
        _ peers: PeerDataSource, _ work: @escaping @Sendable (PrivateContext) throws -> Void
    ) async throws -> Int {
        await peers.tier.forgetObjects()
        return try await peers.perform { context in
            try work(context)
            return context.registeredObjectCount
        }
    }

    @Test(arguments: [100, 1000, 10_000])
    func anInsertIntoAnOrderedRelationshipReadsNoneOfItsObjects(count: Int) async throws {
        try await withPeers { container, peers in
            try await fill(peers, count)
            let registered = try await registered(peers) { context in
                let peer = try context.insert(Peer.self)
                peer.key = "new"
                peer.boss = try context.peer("boss")
            }
            #expect(registered == 2)
            #expect(try container.main.peer("boss").reports.map(\.key).last == "new")
        }
    }

    @Test func anIndexFindsTheLastPositionOfAnOwner() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .peers(), store: .sqlite(directory.store))
        try await container.close()
        for (table, owner, position) in [
            ("Peer", "boss", "boss.position"), ("_Peer_friends", "_source", "_destination.position"),
        ] {
            let plan = try RawConnection(directory.store).column(
                """
                EXPLAIN QUERY PLAN SELECT "\(position)" FROM "\(table)" WHERE "\(owner)" = 1 \
                ORDER BY "\(position)" DESC, _key LIMIT 1
                """, 3)
            #expect(plan.contains { $0.contains("\"\(position)\")") }, "\(plan)")
        }
    }

    @Test(arguments: [100, 1000, 10_000])
    func aRequiredRelationshipIsCheckedWithoutReadingAllOfIt(count: Int) async throws {
        try await withPeers { container, peers in
            try await fill(peers, count)
            let registered = try await registered(peers) { context in
                try context.peer("0").team = nil
                let peer = try context.insert(Peer.self)
                peer.key = "new"
                peer.team = try context.first(Team.self, where: \.key, equals: "team")
            }
            #expect(registered == 3)
            // The save registers none of the others.
            let afterwards = await peers.tier.registeredObjectCount
            #expect(afterwards <= 3)
        }
    }

    @Test func theLastObjectOfARequiredRelationshipCannotLeaveIt() async throws {
        try await withPeers { container, peers in
            try await fill(peers, 2)
            try await peers.perform { try $0.peer("0").team = nil }
            for isDeleted in [false, true] {
                let error = await expectError(.validationFailed) {
                    try await peers.perform { context in
                        let last = try context.peer("1")
                        if isDeleted { context.delete(last) } else { last.team = nil }
                    }
                }
                #expect(error?.attributeName == "members")
            }
            // Another one may take its place in the same save.
            try await peers.perform { context in
                let team = try context.peer("1").team
                try context.peer("1").team = nil
                try context.peer("0").team = team
            }
            let team = try #require(try container.main.first(Team.self, where: \.key, equals: "team"))
            #expect(team.members.map(\.key) == ["0"])
        }
    }

    @Test func aNewObjectOfADraftIsPutAtTheEndWithoutReadingTheOthers() async throws {
        try await withPeers { container, peers in
            try await fill(peers, 1000)
            let draft = try peers.draft(inserting: Peer.self)
            let before = try draft.context.registeredObjectCount
            let peer = draft.object
            peer.key = "new"
            peer.boss = try draft.context.peer("boss")
            #expect(try draft.context.registeredObjectCount - before <= 2)
            // Somebody else adds one, too.
            try await peers.perform { context in
                let other = try context.insert(Peer.self)
                other.key = "other"
                other.boss = try context.peer("boss")
            }
            try await draft.save()
            let last = try container.main.peer("boss").reports.suffix(2).map(\.key)
            #expect(Set(last) == ["new", "other"])
        }
    }

    @Test func anObjectThatBecomesItsOwnOwnerComesLast() async throws {
        for location in [StoreLocation.inMemory, nil] {
            try await withPeers(location) { container, peers in
                try await peers.perform { context in
                    let boss = try context.insert(Peer.self)
                    boss.key = "boss"
                    for key in ["a", "b"] {
                        let peer = try context.insert(Peer.self)
                        (peer.key, peer.boss) = (key, boss)
                    }
                    boss.boss = boss
                    let last = try context.insert(Peer.self)
                    (last.key, last.boss) = ("last", boss)
                }
                #expect(try container.main.peer("boss").reports.map(\.key) == ["a", "b", "boss", "last"])
            }
        }
    }

    @Test func anOrderedRelationshipThatIsItsOwnInverseKeepsTheOrderOfBothSides() async throws {
        for location in [StoreLocation.inMemory, nil] {
            try await withPeers(location) { container, peers in
                try await peers.perform { context in
                    for key in ["a", "b", "c", "d"] { try context.insert(Peer.self).key = key }
                    let (a, b) = (try context.peer("a"), try context.peer("b"))
                    let (c, d) = (try context.peer("c"), try context.peer("d"))
                    a.friends.insert(d)
                    b.friends.insert(d)
                    c.friends.insert(d)
                    d.friends.insert(d)
                    a.friends.insert(c)
                    a.friends.insert(b)
                }
                @MainActor func friends(_ key: String) throws -> String {
                    try container.main.peer(key).friends.map(\.key).joined()
                }
                #expect(try friends("a") == "dcb" && friends("b") == "da")
                #expect(try friends("c") == "da" && friends("d") == "abcd")
                try await peers.perform { context in
                    let (a, c) = (try context.peer("a"), try context.peer("c"))
                    context.delete(try context.peer("b"))
                    c.friends.remove(try context.peer("d"))
                    c.friends.insert(try context.peer("d"))
                    a.friends.set([try context.peer("c"), try context.peer("d")])
                }
                #expect(try friends("a") == "cd" && friends("c") == "ad" && friends("d") == "adc")
            }
        }
    }
}
