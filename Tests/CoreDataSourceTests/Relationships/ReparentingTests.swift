import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Objects that change their owners and friends at random, against plain arrays.
@MainActor @Suite struct ReparentingTests {
    private struct Lists {
        var reports: [String: [String]] = [:]
        var friends: [String: [String]] = [:]

        func boss(of key: String) -> String? { reports.first { $0.value.contains(key) }?.key }

        mutating func link(_ key: String, to boss: String?) {
            if self.boss(of: key) == boss { return }
            for owner in reports.keys { reports[owner]?.removeAll { $0 == key } }
            if let boss { reports[boss, default: []].append(key) }
        }

        mutating func replace(_ boss: String, _ keys: [String]) {
            for owner in reports.keys { reports[owner]?.removeAll { keys.contains($0) } }
            reports[boss] = keys
        }

        mutating func befriend(_ one: String, _ other: String) {
            if friends[one]?.contains(other) == true { return }
            friends[one, default: []].append(other)
            if one != other { friends[other, default: []].append(one) }
        }
    }

    private nonisolated static let keys = ["a", "b", "c", "d", "e"]

    private nonisolated static func edit(
        _ context: PrivateContext, _ lists: inout Lists, _ random: inout SeededRandom
    ) throws {
        let (one, other) = (keys[random.next(below: 5)], keys[random.next(below: 5)])
        let (peer, boss) = (try context.peer(one), try context.peer(other))
        switch random.next(below: 6) {
        case 0:
            lists.link(one, to: nil)
            peer.boss = nil
        case 1, 2:
            lists.link(one, to: other)
            peer.boss = boss
        case 3:
            lists.link(one, to: other)
            boss.reports.insert(peer)
        case 4:
            lists.befriend(one, other)
            peer.friends.insert(boss)
        default:
            let list = Array(keys.shuffled(using: &random).prefix(random.next(below: 4)))
            lists.replace(other, list)
            boss.reports.set(try list.map(context.peer))
        }
        for key in keys {
            let peer = try context.peer(key)
            #expect(peer.reports.map(\.key) == lists.reports[key] ?? [], "\(key) after \(one) and \(other)")
            #expect(peer.friends.map(\.key) == lists.friends[key] ?? [], "\(key) after \(one) and \(other)")
        }
    }

    @Test(arguments: 0..<12) func everyWayToLinkPutsAnObjectAtTheEnd(seed: UInt64) async throws {
        try await withPeers(seed % 2 == 0 ? .inMemory : nil) { container, peers in
            try await peers.perform { context in
                for key in Self.keys { try context.insert(Peer.self).key = key }
            }
            var lists = Lists()
            var random = SeededRandom(seed: seed)
            for _ in 0..<25 {
                let (one, other) = (Self.keys[random.next(below: 5)], Self.keys[random.next(below: 5)])
                switch random.next(below: 4) {
                case 0:
                    let draft = try peers.draft(of: container.main.peer(one))
                    draft.object.boss = try draft.context.peer(other)
                    try await draft.save()
                    lists.link(one, to: other)
                case 1:
                    let json = #"{"Peer": [{"key": "\#(one)", "boss": "\#(other)"}]}"#
                    try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
                    lists.link(one, to: other)
                default:
                    let before = (lists, random)
                    (lists, random) = try await peers.perform { context in
                        var (lists, random) = before
                        for _ in 0..<3 { try Self.edit(context, &lists, &random) }
                        return (lists, random)
                    }
                }
                for key in Self.keys {
                    let peer = try container.main.peer(key)
                    #expect(peer.reports.map(\.key) == lists.reports[key] ?? [], "\(key) after \(one) and \(other)")
                    #expect(peer.friends.map(\.key) == lists.friends[key] ?? [])
                }
            }
        }
    }
}
