import CoreDataSource
import Foundation

/// The limit of deletions of a load.
struct SeaRule: Sendable {
    let deleting: SyncDeletion
    /// The share of ``deleting``.
    var share: Double?
    var options: SyncOptions = []

    static let all = SeaRule(deleting: .all, options: .allowsEmpty)

    static func some(_ number: Int) -> SeaRule {
        switch number {
        case 0: SeaRule(deleting: .all)
        case 1: SeaRule(deleting: .guarded)
        case 2: SeaRule(deleting: .atMost(0.4), share: 0.4)
        case 3: SeaRule(deleting: .atMost(0.2), share: 0.2, options: .allowsEmpty)
        default: .all
        }
    }
}

/// A load that begins during the request of another load, and whose request ends after that load.
struct SeaCrossing: Sendable {
    let list: SeaList
    let began = Signal()
    let ended = Signal()
}

/// One load, or one answer that the app stores, and its requests.
final class SeaLoad: Sendable {
    struct Request: Sendable {
        /// The objects that were in scope before the request.
        let before: Set<SeaObject.ID>
        /// The number of answers that were stored before the request.
        let answerCount: Int
        /// The number of events of the world when the closure of the load was last entered or left.
        var eventCount: Int
        /// Whether others may have saved anything since the request.
        var isDisturbed = false
        var hasPages = false
        var version = 0
    }

    let list: SeaList
    /// The number of the process.
    let member: Int
    let rule: SeaRule
    let crossing: SeaCrossing?
    let requests = Shared<[Request]>([])

    init(_ list: SeaList, by member: Int, _ rule: SeaRule, crossing: SeaCrossing? = nil) {
        (self.list, self.member, self.rule, self.crossing) = (list, member, rule, crossing)
    }

    /// The answer to the last request.
    var answer: SeaAnswer { SeaAnswer(list: list, version: requests.value.last?.version ?? 0) }

    var name: String { "\(member).\(list.name)" }

    func run(
        _ members: [SeaMember],
        _ request: @escaping @Sendable (ScopeRequest) async throws -> ServerAnswer<SeaObject>
    ) async throws {
        let (rule, member) = (rule, members[member])
        switch list.scope {
        case .harbors(let scope):
            try await member.harbors.load(
                scope, maxAge: .zero, deleting: rule.deleting, options: rule.options, request)
        case .ships(let scope):
            try await member.ships.load(scope, maxAge: .zero, deleting: rule.deleting, options: rule.options, request)
        }
    }

    /// Loads the one object of the list.
    func runForObject(
        _ members: [SeaMember], _ id: SeaObject.ID, _ request: @escaping @Sendable () async throws -> SeaObject?
    ) async throws {
        let (member, key) = (members[member], Int64(id.key))
        switch id.kind {
        case .harbor:
            _ = try await member.harbors.value(where: \.key, equals: key, as: HarborKey.self, maxAge: .zero) { _ in
                try await request()
            }
        case .ship:
            _ = try await member.ships.value(where: \.key, equals: key, as: ShipKey.self, maxAge: .zero) { _ in
                try await request()
            }
        }
    }

    /// Stores the list without a load.
    func apply(_ answer: ServerAnswer<SeaObject>, _ members: [SeaMember], at date: Date) async throws {
        let (rule, member) = (rule, members[member])
        switch list.scope {
        case .harbors(let scope):
            try await member.harbors.apply(
                answer, to: scope, requestedAt: date, since: try member.harbors.freshness(of: scope),
                deleting: rule.deleting, options: rule.options)
        case .ships(let scope):
            try await member.ships.apply(
                answer, to: scope, requestedAt: date, since: try member.ships.freshness(of: scope),
                deleting: rule.deleting, options: rule.options)
        }
    }
}

extension SeaMember {
    /// Reads the freshness from the store.
    func freshness(of list: SeaList) throws -> ScopeFreshness {
        switch list.scope {
        case .harbors(let scope):
            harbors.tier.forgetScopes()
            return try harbors.freshness(of: scope)
        case .ships(let scope):
            ships.tier.forgetScopes()
            return try ships.freshness(of: scope)
        }
    }
}
