import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Random saves, reverted, undone and redone, against what the store was before.
@MainActor
struct RandomRevertTests {
    private nonisolated static let seed = testSeed()

    /// Reverted from the newest to the oldest record, the store is what it was before each.
    @Test(arguments: HistoryPlace.all)
    func aRevertedHistoryIsTheOldState(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            var random = SeededRandom(seed: Self.seed)
            var states = [try await Self.state(container)]
            for _ in 0..<40 where try await Self.edit(peers, in: container, &random) {
                states.append(try await Self.state(container))
            }
            let records = try await container.records()
            try #require(records.count == states.count - 1)
            for (record, state) in zip(records, states).reversed() {
                // The second time, there is nothing left to revert.
                for _ in 0..<2 {
                    try await container.revert(record)
                    let found = try await Self.state(container)
                    let differences = found.difference(from: state).map { "\($0)" }
                    #expect(found == state, "seed \(Self.seed), \(record): \(differences)")
                }
            }
        }
    }

    /// In any order, and again and again: objects of the records are gone, or are back. A value that was changed since stays.
    @Test(arguments: HistoryPlace.all)
    func recordsAreRevertedInAnyOrder(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            var random = SeededRandom(seed: Self.seed)
            for step in 0..<80 {
                if Bool.random(using: &random) {
                    _ = try await Self.edit(peers, in: container, &random)
                    continue
                }
                guard let record = try await container.records().randomElement(using: &random) else { continue }
                let before = try await Self.state(container)
                do {
                    try await container.revert(record, resolving: .takeTheirs)
                } catch let error as DataSourceError {
                    // A peer whose key another peer has now is a conflict, which is resolved.
                    #expect(error.code == .validationFailed, "seed \(Self.seed), step \(step), \(record): \(error)")
                    #expect(try await Self.state(container) == before, "seed \(Self.seed), step \(step)")
                }
            }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func randomStepsAreThoseOfAStack(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            var random = SeededRandom(seed: Self.seed)
            var (done, undone) = ([try await Self.state(container)], [[String]]())
            let list = try peers.list(ObjectRequest(Peer.self, order: [.ascending(\.key)]), sectionBy: \.name)
            for step in 0..<60 {
                let comment: Comment = "seed \(Self.seed), step \(step)"
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    // Both may find the same step before one of them has undone it.
                    async let one = container.undo(author: "me")
                    async let two = container.undo(author: "me")
                    let count = [try await one, try await two].count { $0 != nil }
                    #expect(count == min(2, done.count - 1), comment)
                    for _ in 0..<min(2, done.count - 1) { undone.append(done.removeLast()) }
                case 1, 2:
                    let report = try await container.undo(author: "me")
                    #expect((report != nil) == (done.count > 1), comment)
                    if done.count > 1 { undone.append(done.removeLast()) }
                case 3, 4:
                    let report = try await container.redo(author: "me")
                    #expect((report != nil) == !undone.isEmpty, comment)
                    if let state = undone.popLast() { done.append(state) }
                default:
                    let hasSaved = try await container.withAuthor("me") {
                        try await Self.edit(peers, in: container, &random)
                    }
                    guard hasSaved else { continue }
                    undone = []
                    done.append(try await Self.state(container))
                }
                #expect(try await Self.state(container) == done.last, comment)
                // Main, whose objects were registered before, and its list have followed.
                let onMain = try container.main.fetch(Peer.self, order: [.ascending(\.key)])
                #expect(onMain.map(Self.line) == done.last, comment)
                let ids = try peers.fetch(ObjectRequest(Peer.self, order: [.ascending(\.name), .ascending(\.key)]))
                #expect(list.snapshot.map(\.id) == ids.map(\.objectID), comment)
            }
        }
    }

    /// What another author has changed stays.
    @Test(arguments: HistoryPlace.all)
    func theChangesOfOthersStay(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<6))
            var random = SeededRandom(seed: Self.seed)
            var ages: [String: Int32] = [:]
            for _ in 0..<60 {
                let (uid, number) = (
                    "uid-\(Int.random(in: 0..<6, using: &random))", Int32.random(in: 1..<99, using: &random)
                )
                let isMine = Bool.random(using: &random)
                if !isMine { ages[uid] = number }
                try await container.withAuthor(isMine ? "me" : "other") {
                    try await contacts.perform { context in
                        let contact = try context.first(ContactEntity.self, where: \.uid, equals: uid)
                        if isMine { contact?.name = "\(number)" } else { contact?.age = number }
                    }
                }
            }
            for record in try await container.records().reversed() where record.author == "me" {
                try await container.revert(record)
            }
            for contact in try container.main.fetch(ContactEntity.self) {
                #expect(contact.name.hasPrefix("name "), "seed \(Self.seed)")
                #expect(contact.age == ages[contact.uid] ?? 0, "seed \(Self.seed)")
            }
        }
    }

    /// The links that another author has made stay, and so do the objects that they lead to.
    @Test(arguments: HistoryPlace.all)
    func theLinksOfOthersStay(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["a", "b", "c"])
            var random = SeededRandom(seed: Self.seed)
            var keys = ["a", "b", "c"]
            // The links that a peer was inserted with. Whoever makes them again has changed nothing.
            var (firstBosses, firstFriends): ([String: String], Set<Set<String>>) = ([:], [])
            var (bosses, friends): ([String: String], Set<Set<String>>) = ([:], [])
            for step in 0..<60 {
                let (key, other) = (
                    keys.randomElement(using: &random) ?? "a", keys.randomElement(using: &random) ?? "b"
                )
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1, 2:
                    keys.append("\(step)")
                    firstBosses["\(step)"] = key
                    firstFriends.insert(["\(step)", other])
                    try await container.withAuthor("me") {
                        try await peers.perform { context in
                            let peer = try context.insert(Peer.self)
                            (peer.key, peer.boss) = ("\(step)", try context.peer(key))
                            peer.friends.set([try context.peer(other)])
                        }
                    }
                case 3:
                    bosses[key] = firstBosses[key] == other ? nil : other
                    try await peers.perform { try $0.peer(key).boss = try $0.peer(other) }
                default:
                    if !firstFriends.contains([key, other]) { friends.insert([key, other]) }
                    try await peers.perform { try $0.peer(key).friends.insert(try $0.peer(other)) }
                }
            }
            while try await container.undo(author: "me", resolving: .takeTheirs) != nil {}
            for (key, boss) in bosses {
                #expect(try container.main.peer(key).boss?.key == boss, "seed \(Self.seed), \(key), \(boss)")
            }
            for pair in friends {
                for key in pair {
                    let found = Set(try container.main.peer(key).friends.map(\.key))
                    #expect(found.union([key]).isSuperset(of: pair), "seed \(Self.seed), \(pair), \(found)")
                }
            }
        }
    }

    /// Nothing is registered when the records are reverted.
    @Test(arguments: HistoryPlace.lasting)
    func aHistoryIsRevertedInStoresThatWereOpenedAgain(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, model: .peers())
        let peers = try first.dataSource(PeerDataSource.self)
        var random = SeededRandom(seed: Self.seed)
        var states = [try await Self.state(first)]
        for _ in 0..<15 where try await Self.edit(peers, in: first, &random) {
            states.append(try await Self.state(first))
        }
        let records = try await first.records()
        try #require(records.count == states.count - 1)
        try await first.close()
        for (record, state) in zip(records, states).reversed() {
            let container = try await place.open(directory.store, model: .peers())
            _ = try container.dataSource(PeerDataSource.self)
            try await container.revert(record)
            let found = try await Self.state(container)
            let differences = found.difference(from: state).map { "\($0)" }
            #expect(found == state, "seed \(Self.seed), \(record): \(differences)")
            try await container.close()
        }
    }

    // MARK: Edits

    /// - Returns: Whether there was anything to save.
    private static func edit(
        _ peers: PeerDataSource, in container: PersistentContainer, _ random: inout SeededRandom
    ) async throws -> Bool {
        let seed = UInt64.random(in: 0 ... .max, using: &random)
        let before = try await container.historyPosition()
        try await peers.perform { context in
            var random = SeededRandom(seed: seed)
            // A record with a single change is reverted without other rows.
            for _ in 0..<Int.random(in: 1...3, using: &random) { try edit(context, &random) }
        }
        return try await container.historyPosition() != before
    }

    private nonisolated static func edit(_ context: PrivateContext, _ random: inout SeededRandom) throws {
        let all = try context.fetch(Peer.self, order: [.ascending(\.key)])
        let peer = all.randomElement(using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: if all.count > 6, let peer { context.delete(peer) }
        case 1: peer?.friends.set(Array(all.shuffled(using: &random).prefix(3)))
        case 2: peer?.boss = all.randomElement(using: &random)
        case 3: peer?.reports.set(Array(all.shuffled(using: &random).prefix(3)))
        default:
            let key = "\(Int.random(in: 0..<30, using: &random))"
            let peer = try context.findOrInsert(Peer.self, where: \.key, equals: key)
            peer.name = "\(Int.random(in: 0..<9, using: &random))"
        }
    }

    /// The peers with their links, as text.
    private static func state(_ container: PersistentContainer) async throws -> [String] {
        try await container.read { context in
            try context.fetch(Peer.self, order: [.ascending(\.key)]).map(line)
        }
    }

    private nonisolated static func line(_ peer: Peer) -> String {
        let links = [peer.friends.map(\.key), peer.reports.map(\.key)]
        return "\(peer.objectID) \(peer.key) \(peer.name ?? "-") \(peer.boss?.key ?? "-") \(links)"
    }
}
