import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// What it costs to change one link of an object that has many: statements, the rows that they return, and the instructions that SQLite
/// runs for them, which are more where it reads rows to return none. All are counted, and do not depend on how many links there are.
@MainActor struct LinkCostTests {
    /// With `COREDATASOURCE_THOROUGH` a hundred thousand, too.
    private static let sizes = isThorough ? [1000, 10_000, 100_000] : [1000, 10_000]

    private struct Cost: CustomStringConvertible {
        var (statements, rows, steps, registered) = (0, 0, 0, 0)

        var description: String {
            "\(statements) statements, \(rows) rows, \(steps) steps, \(registered) objects registered"
        }

        func least(or other: Cost) -> Cost {
            Cost(
                statements: min(statements, other.statements), rows: min(rows, other.rows),
                steps: min(steps, other.steps), registered: min(registered, other.registered))
        }
    }

    @Test func aChangeOfOneLinkCostsTheSameHoweverManyThereAre() async throws {
        var costs: [[(name: String, cost: Cost)]] = []
        for size in Self.sizes {
            // A commit of an earlier save can run its statements while a later one is measured, so each is measured twice.
            let (first, second) = (try await World(size).costs(), try await World(size).costs())
            costs.append(zip(first, second).map { ($0.0, $0.1.least(or: $1.1)) })
        }
        for (place, small) in costs[0].enumerated() {
            for (size, large) in zip(Self.sizes, costs).dropFirst() {
                let large = large[place].cost
                let label: Comment = "\(small.name): \(small.cost) at \(Self.sizes[0]), \(large) at \(size)"
                #expect(large.statements <= small.cost.statements && large.rows <= small.cost.rows, label)
                #expect(large.registered <= small.cost.registered, label)
                // An index of a hundred thousand has more levels.
                #expect(large.steps < 2 * small.cost.steps + 200, label)
            }
            #expect(small.cost.rows <= 40 && small.cost.registered <= 12, "\(small.name): \(small.cost)")
        }
        if isThorough { for costs in costs { for cost in costs { print("\(cost.name): \(cost.cost)") } } }
    }

    /// All links of a new object are edits of its batch, so the store is not asked for them: on a server, each question would be a round
    /// trip.
    @Test func relationshipsOfNewObjectsAreNotReadFromTheStore() async throws {
        try await withPeers { container, peers in
            try await peers.add((0..<10).map { "\($0)" })
            await peers.tier.forgetObjects()
            let counters = try #require(container.stack.root.store as? SQLiteStore).counters
            let count = try await peers.perform { context in
                let before = counters.statementsRun
                for number in 0..<20 {
                    let (boss, team) = (try context.insert(Peer.self), try context.insert(Team.self))
                    (boss.key, team.key, boss.team) = ("boss \(number)", "\(number)", team)
                    #expect(boss.reports.isEmpty && boss.friends.isEmpty)
                    for report in 0..<4 {
                        let peer = try context.insert(Peer.self)
                        peer.key = "\(number) \(report)"
                        peer.team = team
                        if report < 2 { boss.reports.insert(peer) } else { peer.boss = boss }
                        boss.friends.insert(peer)
                    }
                    boss.reports.remove(Array(boss.reports)[1])
                    #expect(boss.reports.map(\.key) == ["\(number) 0", "\(number) 2", "\(number) 3"])
                    #expect(boss.friends.count == 4 && team.members.count == 5)
                }
                return counters.statementsRun - before
            }
            #expect(count == 0)
            let boss = try container.main.peer("boss 7")
            #expect(boss.reports.map(\.key) == ["7 0", "7 2", "7 3"] && boss.friends.count == 4)
        }
    }

    /// The relationships of one owner are read several times, and each of the owners has others. The number of rows that predicates
    /// are evaluated on grows with the owners, not with their square.
    @Test(arguments: [true, false]) func aBatchOfOwnersAndTheirObjectsIsLinear(areNew: Bool) async throws {
        var tested: [Int] = []
        for count in [200, 400, 800] {
            try await withPeers { _, peers in
                if !areNew { try await peers.add((0..<count).map { "boss \($0)" }) }
                let rows = try await peers.perform { context in
                    let before = context.rowsTested
                    for number in 0..<count {
                        let boss = try context.findOrInsert(Peer.self, where: \.key, equals: "boss \(number)")
                        for report in boss.reports { context.delete(report) }
                        boss.reports.set(
                            try (0..<2).map { report in
                                let peer = try context.insert(Peer.self)
                                peer.key = "\(number) \(report)"
                                return peer
                            })
                        let last = try context.insert(Peer.self)
                        last.key = "\(number) last"
                        boss.reports.insert(last)
                        #expect(boss.reports.map(\.key) == ["\(number) 0", "\(number) 1", "\(number) last"])
                    }
                    return context.rowsTested - before
                }
                tested.append(rows)
            }
        }
        #expect(tested[2] < 3 * tested[1] + 4000 && tested[1] < 3 * tested[0] + 4000, "\(tested)")
    }

    /// Copies are found by the address of the storage: a copy has another address than the storage that it is made from.
    @Test(arguments: LinkRead.allCases)
    func aLinkMadeAfterReadsOfRelationshipsCopiesNoCachedLinks(read: LinkRead) async throws {
        let count = 50
        try await withPeers { container, peers in
            if read == .stored { try await peers.add((0..<count).map { "\($0)" }) }
            let copies = try await peers.perform { context in
                let (team, other) = (try context.insert(Team.self), try context.insert(Team.self))
                (team.key, other.key) = ("team", "other")
                let members = try (0..<count).map { number in
                    try context.findOrInsert(Peer.self, where: \.key, equals: "\(number)")
                }
                for member in members {
                    if read == .set { member.friends.set([]) } else { #expect(member.friends.isEmpty) }
                    #expect(member.reports.isEmpty)
                }
                var copies = 0
                for member in members {
                    for destination in [other, team] {
                        let before = context.linkCacheStorage
                        member.team = destination
                        if context.linkCacheStorage != before { copies += 1 }
                    }
                }
                // What was read before an edit of these links is not shown after it.
                #expect(team.members.count == count && other.members.isEmpty)
                members[0].friends.insert(members[1])
                members[1].boss = members[0]
                members[2].team = other
                #expect(members[0].friends.map(\.key) == ["1"] && members[1].friends.map(\.key) == ["0"])
                #expect(members[0].reports.map(\.key) == ["1"] && members[1].reports.isEmpty)
                #expect(team.members.count == count - 1 && other.members.map(\.key) == ["2"])
                return copies
            }
            #expect(copies == 0)
            #expect(try container.main.first(Team.self, where: \.key, equals: "team")?.members.count == count - 1)
        }
    }

    enum LinkRead: CaseIterable {
        /// Of new objects: the links are read, or replaced.
        case new, set
        /// Of objects that are in the store.
        case stored
    }

    /// Teams must have members: whether each has one left is found out without reading all of them.
    @Test(arguments: isThorough ? [10, 1000, 5000] : [10, 300])
    func unlinkingOneObjectOfEachOfManyOwnersReadsFewRows(members: Int) async throws {
        let rows = Shared(0)
        let directory = try TestSupport.TemporaryDirectory()
        let configuration = PersistentContainer.Configuration(
            synchronous: .normal,
            trace: { trace in if !trace.isWriting && !trace.isLookingForOthers { rows.update { $0 += trace.rowCount } }
            })
        let container = try await PersistentContainer(
            model: .peers(), store: .sqlite(directory.url.appending(path: "store.sqlite")), configuration: configuration
        )
        let peers = try container.dataSource(PeerDataSource.self)
        try await peers.perform { context in
            for number in 0..<20 {
                let team = try context.insert(Team.self)
                team.key = "\(number)"
                for member in 0..<members {
                    let peer = try context.insert(Peer.self)
                    peer.key = "\(number) \(member)"
                    peer.team = team
                }
            }
        }
        await peers.tier.forgetObjects()
        container.mainTier.merge()
        rows.value = 0
        try await peers.perform { context in for number in 0..<20 { try context.peer("\(number) 0").team = nil } }
        // The peers and teams, four links for each team, and one of each that was not among those: 144 and 160.
        #expect(rows.value <= 10 * 20, "\(rows.value)")
        // A team without members is found among many, too.
        let error = await expectError(.validationFailed) {
            try await peers.perform { context in
                for number in 1..<20 { try context.peer("\(number) 1").team = nil }
                for member in 1..<members { try context.peer("0 \(member)").team = nil }
            }
        }
        #expect(error?.attributeName == "members")
        try await container.close()
    }

    /// A boss with ordered reports and friends, whose team must have members.
    @MainActor private struct World {
        let size: Int
        private let directory: TestSupport.TemporaryDirectory
        private let traces = Shared<[StatementTrace]>([])

        init(_ size: Int) throws {
            self.size = size
            directory = try TestSupport.TemporaryDirectory()
        }

        func costs() async throws -> [(String, Cost)] {
            let traces = traces
            let configuration = PersistentContainer.Configuration(
                synchronous: .normal,
                trace: { trace in if !trace.isLookingForOthers { traces.update { $0.append(trace) } } })
            let container = try await PersistentContainer(
                model: .peers(), store: .sqlite(directory.url.appending(path: "store.sqlite")),
                configuration: configuration)
            let peers = try container.dataSource(PeerDataSource.self)
            try await fill(peers)
            var costs: [(String, Cost)] = []
            for number in 0..<3 {
                for change in Change.allCases {
                    costs.append(
                        ("\(change) \(number)", try await cost(container, peers) { try change.make($0, number) }))
                }
            }
            costs += try await costsOfDrafts(peers)
            #expect(try container.main.peer("boss").reports.count == size + 1)
            try await container.close()
            return costs
        }

        private func fill(_ peers: PeerDataSource) async throws {
            let size = size
            try await peers.perform { context in
                let (boss, team) = (try context.insert(Peer.self), try context.insert(Team.self))
                (boss.key, team.key) = ("boss", "team")
                for number in 0..<size {
                    let peer = try context.insert(Peer.self)
                    peer.key = "\(number)"
                    (peer.boss, peer.team) = (boss, team)
                    boss.friends.insert(peer)
                }
            }
        }

        private func take() -> Cost {
            defer { traces.value = [] }
            return traces.value.reduce(into: Cost()) { cost, trace in
                cost.statements += 1
                if !trace.isWriting { cost.rows += trace.rowCount }
                cost.steps += trace.stepCount
            }
        }

        /// Of one batch that has nothing registered.
        private func cost(
            _ container: PersistentContainer, _ peers: PeerDataSource,
            _ change: @escaping @Sendable (PrivateContext) throws -> Void
        ) async throws -> Cost {
            await peers.tier.forgetObjects()
            container.mainTier.merge()
            _ = take()
            try await peers.perform { try change($0) }
            container.mainTier.merge()
            var cost = take()
            cost.registered = await peers.tier.registeredObjectCount
            return cost
        }

        /// Of the links that a draft makes, and of their save.
        private func costsOfDrafts(_ peers: PeerDataSource) async throws -> [(String, Cost)] {
            var costs: [(String, Cost)] = []
            for isNew in [true, false] {
                let draft =
                    isNew ? try peers.draft(inserting: Peer.self) : try peers.draft(of: peers.main.peer("drafted"))
                _ = take()
                if isNew { draft.object.key = "drafted" }
                let boss = try draft.context.peer("boss")
                draft.object.boss = isNew ? boss : nil
                draft.object.boss = boss
                draft.object.team = isNew ? try draft.context.first(Team.self, where: \.key, equals: "team") : nil
                if isNew { boss.friends.insert(draft.object) } else { boss.friends.remove(draft.object) }
                var cost = take()
                cost.registered = try draft.context.registeredObjectCount
                costs.append(("link in a draft, \(isNew ? "new" : "known")", cost))
                await peers.tier.forgetObjects()
                _ = take()
                try await draft.save()
                cost = take()
                cost.registered = await peers.tier.registeredObjectCount
                costs.append(("save of a draft, \(isNew ? "new" : "known")", cost))
            }
            return costs
        }
    }

    private enum Change: CaseIterable {
        case insert, befriend, join, leave, dismiss

        func make(_ context: PrivateContext, _ number: Int) throws {
            switch self {
            case .insert:
                let peer = try context.insert(Peer.self)
                peer.key = "new \(number)"
                peer.boss = try context.peer("boss")
            case .befriend: try context.peer("boss").friends.insert(context.peer("new \(number)"))
            case .join:
                try context.peer("new \(number)").team = try context.first(Team.self, where: \.key, equals: "team")
            case .leave: try context.peer("\(number)").team = nil
            case .dismiss: try context.peer("\(number)").boss = nil
            }
        }
    }
}
