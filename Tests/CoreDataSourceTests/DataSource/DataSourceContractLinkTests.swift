import CoreDataSource
import DataSourceTesting
import Testing

/// What the contract says about values that link to each other.
struct DataSourceContractLinkTests {
    /// The first values link to later values, and the last value to an earlier one.
    private static let values = [
        PeerValue(key: "1", boss: "2"), PeerValue(key: "2", boss: "3"), PeerValue(key: "3"),
        PeerValue(key: "4", boss: "1"),
    ]

    private func violations<Source: DataSource<PeerValue>>(_ source: Source.Type) async throws -> [DataSourceViolation]
    {
        try await DataSourceContract(source, model: .peers(), entity: Peer.self, values: Self.values).violations()
    }

    /// If the values are added one by one, a link to a later value is set when its value is added again.
    @Test func aSourceThatLinksItsValuesKeepsAllRules() async throws {
        #expect(try await violations(LinkingPeers.self) == [])
    }

    @Test func aSourceThatLinksOnlyNewObjectsDependsOnTheBatches() async throws {
        let found = try await violations(NewLinkingPeers.self)
        #expect(found.map(\.rule) == [.order])
        #expect(found.first?.explanation.contains("and then once more to set the links") == true, "\(found)")
    }

    @Test func aSourceThatLinksTooEarlyDependsOnTheOrder() async throws {
        #expect(try await violations(EarlyLinkingPeers.self).map(\.rule).contains(.order))
    }

    /// No link is missing, so the first comparison counts.
    @Test func aSourceThatCountsTheOtherObjectsDependsOnTheBatches() async throws {
        let found = try await violations(CountingPeers.self)
        #expect(found.map(\.rule) == [.order])
        #expect(found.first?.explanation.hasPrefix("Adding the values one by one stored different") == true, "\(found)")
    }
}

private struct PeerValue: Sendable {
    var key: String
    var boss: String?
}

private class KeyedPeers: KeyedDataSource<PeerValue, Peer> {
    override class var key: ObjectKey<PeerValue, Peer> { ObjectKey(\.key, \.key) }

    override func update(_ peer: Peer, from value: PeerValue, in context: PrivateContext) throws {}

    nonisolated func setBoss(of peer: Peer, _ value: PeerValue, in context: PrivateContext) throws {
        peer.boss = try value.boss.flatMap { try context.first(Peer.self, where: \.key, equals: $0) }
    }
}

private final class LinkingPeers: KeyedPeers {
    override func link(_ peer: Peer, from value: PeerValue, in context: PrivateContext) throws {
        try setBoss(of: peer, value, in: context)
    }
}

private final class NewLinkingPeers: KeyedPeers {
    override func link(_ peer: Peer, from value: PeerValue, in context: PrivateContext) throws {
        if peer.isInserted { try setBoss(of: peer, value, in: context) }
    }
}

private final class EarlyLinkingPeers: KeyedPeers {
    override func update(_ peer: Peer, from value: PeerValue, in context: PrivateContext) throws {
        try setBoss(of: peer, value, in: context)
    }
}

private final class CountingPeers: KeyedPeers {
    override func link(_ peer: Peer, from value: PeerValue, in context: PrivateContext) throws {
        peer.name = "\(try context.count(Peer.self))"
    }
}
