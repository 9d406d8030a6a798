import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Random loads, during which lists are stored, objects are deleted, requests fail, clocks are set back, and tasks are cancelled.
///
/// `COREDATASOURCE_SCOPES` says how many worlds there are of each kind of store, and `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct ScopeSimulationTests {
    /// A server with a list that changes. Its entity tags are the numbers of its versions.
    private final class Server: Sendable {
        let versions = Shared<[Set<Int>]>([[0, 1, 2]])
        let running = Shared(0)
        let requests = Shared(0)

        var tag: Int { versions.value.count - 1 }

        func list(_ tag: Int) -> [ContactData] {
            versions.value[tag].sorted().map { ContactData(uid: "uid-\($0)", name: "\(tag)") }
        }

        func change(_ random: inout SeededRandom) {
            let uids = Set(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in Int.random(in: 0...9, using: &random) })
            versions.update { $0.append(uids) }
        }
    }

    /// One world: a store, a server, and one random task after the other.
    private struct World {
        let contacts: ContactDataSource
        let place: ScopePlace
        let server = Server()
        let random: Shared<SeededRandom>
        let scope = SyncScope.contacts
        let seed: UInt64
        let hasCancelled = Shared(false)
        /// The newest version that was stored.
        let newest = Shared(0)

        func roll(_ range: ClosedRange<Int>) -> Int {
            var value = 0
            random.update { value = Int.random(in: range, using: &$0) }
            return value
        }

        func changeServer() { random.update { server.change(&$0) } }

        /// Changes something while a request is under way, or between two loads.
        func interfere() async throws {
            switch roll(0...9) {
            case 0, 1: changeServer()
            case 2:
                try await contacts.delete(
                    [ContactData(uid: "uid-\(roll(0...9))", name: "")], waitFor: roll(0...1) == 0 ? .main : .store)
            case 3: try await contacts.delete(ContactEntity.self, where: \.uid == "uid-\(roll(0...9))")
            case 4:
                let tag = server.tag
                try await contacts.apply(
                    .list(server.list(tag), entityTag: "\(tag)"), to: scope, requestedAt: place.clock.value,
                    deleting: .all)
            case 5: place.pass(Double(roll(-20...20)))
            case 6: contacts.tier.forgetScopes()
            default: place.pass(1)
            }
        }

        func answer(_ request: ScopeRequest) async throws -> ServerAnswer<any Sendable> {
            server.requests.update { $0 += 1 }
            server.running.update { $0 += 1 }
            defer { server.running.update { $0 -= 1 } }
            // The request of a load that all have left may still run.
            #expect(server.running.value == 1 || hasCancelled.value, "Two requests for one scope.")
            let tag = server.tag
            for _ in 0..<roll(0...2) { try await interfere() }
            switch roll(0...9) {
            case 0: throw Poison()
            case 1 where request.page == 0: return .list([])
            case 2, 3:
                // Pages of one version.
                let (first, second) = (server.list(tag).prefix(2), server.list(tag).dropFirst(1))
                return request.page == 0 ? .page(Array(first), next: "\(tag)") : .page(Array(second), next: nil)
            default: break
            }
            if request.page > 0, let cursor = request.cursor.flatMap(Int.init) {
                return .page(server.list(cursor), next: nil)
            }
            return request.entityTag == "\(tag)"
                ? .notModified : .list(server.list(tag), entityTag: "\(tag)")
        }

        /// A tag is never newer than its rows: the rows are those of its version.
        @MainActor func check() async throws {
            try await contacts.main.container?.flush()
            contacts.tier.forgetScopes()
            let found = try contacts.freshness(of: scope)
            guard let tag = found.entityTag.flatMap(Int.init) else { return }
            #expect(tag >= newest.value, "An older list replaced a newer one, seed \(seed).")
            newest.value = tag
            let stored = try contacts.uids()
            #expect(
                stored == server.list(tag).map(\.uid).sorted(), "The rows are not those of tag \(tag), seed \(seed).")
        }

        /// Loads, often for several askers, one of which may leave.
        func load() async throws {
            let maxAge = Duration.seconds(roll(0...2) * 10)
            let tasks = (0...roll(0...2)).map { _ in
                Task { try await contacts.load(scope, maxAge: maxAge, deleting: .all) { try await answer($0) } }
            }
            hasCancelled.value = tasks.count == 3 && roll(0...1) == 0
            if hasCancelled.value { tasks[roll(0...1)].cancel() }
            for task in tasks {
                switch await task.result {
                case .success, .failure(is CancellationError), .failure(is Poison): continue
                case .failure(let error as DataSourceError):
                    #expect([.loadPostponed, .emptySync, .scopeChanged].contains(error.code), "\(error)")
                case .failure(let error): Issue.record(error)
                }
            }
            while contacts.tier.loadCount > 0 || server.running.value > 0 { await Task.yield() }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aTagIsNeverNewerThanItsRows(_ kind: ScopeStoreKind) async throws {
        let seed = testSeed()
        let wanted = ProcessInfo.processInfo.environment["COREDATASOURCE_SCOPES"].flatMap { Int($0) }
        let rounds = wanted ?? (kind == .memory ? 40 : 10)
        print("Scopes: \(rounds) worlds, seed \(seed)")
        for round in 0..<rounds {
            try await withScopes(kind) { contacts, place in
                let world = World(
                    contacts: contacts, place: place, random: Shared(SeededRandom(seed: seed &+ UInt64(round))),
                    seed: seed)
                for _ in 0..<25 {
                    try await world.interfere()
                    try await world.load()
                    try await world.check()
                }
                #expect(world.server.requests.value > 0)
            }
        }
    }
}
