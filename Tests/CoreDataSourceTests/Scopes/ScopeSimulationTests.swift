import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Random loads of one or two scopes with common objects, during which other lists and single objects are loaded and stored, objects
/// are deleted and evicted, requests fail and take too long, clocks are set back, tasks are cancelled, stores are reset, and other
/// processes load the same lists. Most stores keep a history, which a consumer follows. `ScopeProcessTests` kills processes.
///
/// `COREDATASOURCE_SCOPES` says how many worlds there are of each kind of store, and `COREDATASOURCE_SEED` sets the seed. The seed
/// determines what each world does. But up to three tasks load at the same time, and the seed does not determine their order. So the
/// same seed can make another run. The tasks of `LinkedScopeSimulationTests` run one after the other, except in one step at the end of
/// each world.
@MainActor
struct ScopeSimulationTests {
    /// A server with a list that changes. Its entity tags are the numbers of its versions.
    private final class Server: Sendable {
        let versions = Shared<[Set<Int>]>([[0, 1, 2]])
        /// The number of running requests for each scope.
        let running = Shared<[String: Int]>([:])
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

    /// One world: a store that one or two processes have open, a server, and one random task after the other.
    private struct World {
        /// The data source in each process.
        let members: [ContactDataSource]
        let place: ScopePlace
        let server = Server()
        let random: Shared<SeededRandom>
        /// All contacts, and maybe some of them.
        let scopes: [SyncScope<ContactEntity>]
        /// The number of the scope during whose requests the other scope is loaded. The other way around, two requests could
        /// wait for each other.
        let outer: Int
        let seed: UInt64
        /// Whether several requests may run at the same time: that of a load that all have left, and that of a load from before
        /// a reset, may still run.
        let mayOverlap = Shared(false)
        /// The newest version that was stored for each scope.
        let newest = Shared<[String: Int]>([:])
        /// The number of resets.
        let resets = Shared(0)
        /// Whether anything was requested or stored since the last reset.
        let isTouched = Shared(false)
        /// The number of calls of `apply` that are running. `apply` knows no answers that loads of other scopes have stored since
        /// the app made its request, so the server does not change meanwhile.
        let applying = Shared(0)
        /// What has happened since the last check, for the message of a failure.
        let events = Shared<[String]>([])

        init(_ members: [ContactDataSource], _ place: ScopePlace, seed: UInt64, round: Int) {
            (self.members, self.place, self.seed) = (members, place, seed)
            random = Shared(SeededRandom(seed: seed &+ UInt64(round)))
            outer = round / 4 % 2
            scopes =
                round % 2 == 0
                ? [.contacts, SyncScope("some", ContactEntity.self, where: \.uid <= "uid-4")]
                : [
                    SyncScope(
                        "contacts", evicting: ScopeEviction<ContactEntity>(maxCount: 3, order: [.descending(\.uid)]))
                ]
        }

        func roll(_ range: ClosedRange<Int>) -> Int {
            var value = 0
            random.update { value = Int.random(in: range, using: &$0) }
            return value
        }

        func changeServer() {
            if applying.value > 0 { return }
            random.update { server.change(&$0) }
            note("the server has \(server.tag): \(server.versions.value[server.tag].sorted())")
        }

        func note(_ event: String) { events.update { $0.append(event) } }

        func anyMember() -> ContactDataSource { members[roll(0...members.count - 1)] }

        func anyScope() -> SyncScope<ContactEntity> { scopes[roll(0...scopes.count - 1)] }

        /// Whether the scope has the object.
        func has(_ scope: SyncScope<ContactEntity>, _ uid: String) -> Bool {
            scope.name == "contacts" || uid <= "uid-4"
        }

        /// Changes something while a request is under way, or between two loads. A reset may come between.
        func interfere() async throws {
            do { try await change() } catch let error as DataSourceError {
                guard [.storeReset, .scopeChanged, .emptySync].contains(error.code) else { throw error }
            }
        }

        private func change() async throws {
            let (contacts, scope) = (anyMember(), anyScope())
            switch roll(0...12) {
            case 0, 1: changeServer()
            case 2:
                let uid = "uid-\(roll(0...9))"
                note("delete \(uid)")
                try await contacts.delete([ContactData(uid: uid, name: "")], waitFor: roll(0...1) == 0 ? .main : .store)
                note("deleted \(uid)")
            case 3:
                let uid = "uid-\(roll(0...9))"
                note("delete all \(uid)")
                try await contacts.delete(ContactEntity.self, where: \.uid == uid)
                note("deleted all \(uid)")
            case 4:
                isTouched.value = true
                applying.update { $0 += 1 }
                defer { applying.update { $0 -= 1 } }
                let before = try contacts.freshness(of: scope)
                let (tag, user) = (server.tag, resets.value)
                note("apply \(scope.name) \(tag)")
                try await contacts.apply(
                    .list(list(tag, of: scope, for: user), entityTag: "\(tag)"), to: scope,
                    requestedAt: place.clock.value,
                    since: before, deleting: .all)
                note("applied \(scope.name) \(tag)")
            // Members compare the times of their requests.
            case 5: place.pass(Double(roll((members.count == 1 ? -20 : 0)...20)))
            case 6: contacts.tier.forgetScopes()
            // A store that other members have open cannot be reset.
            case 7 where members.count == 1 && roll(0...3) == 0: try await reset()
            case 8:
                // The running requests have taken too long, but go on. The timers of shared stores are those of the system.
                mayOverlap.value = true
                place.timers.fire()
                note("time limit")
            case 9 where scopes.count == 2: await loadObject()
            default: place.pass(1)
            }
        }

        /// Loads an object of the lists. The request waits for no other load.
        private func loadObject() async {
            let uid = "uid-\(roll(0...9))"
            note("ask for \(uid)")
            defer { note("got \(uid)") }
            do {
                _ = try await anyMember().value(
                    where: \.uid, equals: uid, as: ContactValue.self,
                    maxAge: .seconds(roll(0...2) * 10), whenStale: roll(0...1) == 0 ? .wait : .serveStale
                ) { uid in
                    isTouched.value = true
                    let found = list(server.tag, of: scopes[0], for: resets.value).first { $0.uid == uid }
                    note("answer \(uid) \(found?.name ?? "gone")")
                    if roll(0...2) == 0 { changeServer() }
                    if roll(0...5) == 0 { throw Poison() }
                    return found
                }
            } catch { check(error) }
        }

        /// As if another user logs in.
        @MainActor func reset() async throws {
            mayOverlap.value = true
            resets.update { $0 += 1 }
            note("reset")
            isTouched.value = false
            try await members[0].main.container?.reset()
        }

        /// The list of a version, for a user.
        func list(_ tag: Int, of scope: SyncScope<ContactEntity>, for user: Int) -> [ContactData] {
            server.list(tag).filter { has(scope, $0.uid) }.map {
                ContactData(uid: $0.uid, name: $0.name, phone: "\(user)")
            }
        }

        func answer(
            _ request: ScopeRequest, for scope: SyncScope<ContactEntity>
        ) async throws -> ServerAnswer<any Sendable> {
            let name = scope.name
            server.requests.update { $0 += 1 }
            server.running.update { $0[name, default: 0] += 1 }
            defer { server.running.update { $0[name, default: 0] -= 1 } }
            isTouched.value = true
            #expect(server.running.value[name] == 1 || mayOverlap.value, "Two requests for \(name), seed \(seed).")
            let (tag, user) = (server.tag, resets.value)
            note("request \(name) \(tag), page \(request.page), with \(request.entityTag ?? "no tag")")
            defer { note("answer \(name) \(tag), page \(request.page)") }
            let list = { (tag: Int) in self.list(tag, of: scope, for: user) }
            for _ in 0..<roll(0...2) { try await interfere() }
            if scopes.count == 2, name == scopes[outer].name, roll(0...1) == 0 { try await loadTheOtherScope() }
            switch roll(0...10) {
            case 0: throw Poison()
            case 1: throw Busy(retryAfter: .seconds(roll(0...30)))
            case 2 where request.page == 0: return .list([])
            case 3, 4:
                // Pages of one version.
                let (first, second) = (list(tag).prefix(2), list(tag).dropFirst(1))
                return request.page == 0 ? .page(Array(first), next: "\(tag)") : .page(Array(second), next: nil)
            default: break
            }
            if request.page > 0, let cursor = request.cursor.flatMap(Int.init) {
                return .page(list(cursor), next: nil)
            }
            return request.entityTag == "\(tag)" ? .notModified : .list(list(tag), entityTag: "\(tag)")
        }

        /// Loads a newer list of the other scope during a request.
        private func loadTheOtherScope() async throws {
            changeServer()
            let scope = scopes[1 - outer]
            do {
                try await anyMember().load(scope, maxAge: .zero, deleting: .all) { try await answer($0, for: scope) }
            } catch { check(error) }
        }

        /// A tag is never newer than its rows: the rows are those of its version, or of newer ones. Nothing is left of the time
        /// before a reset.
        @MainActor func check() async throws {
            for contacts in members { try await contacts.main.container?.flush() }
            for contacts in members {
                contacts.tier.forgetScopes()
                let stored = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)])
                #expect(
                    stored.allSatisfy { $0.phone == "\(resets.value)" }, "A row is from before a reset, seed \(seed).")
                for scope in scopes {
                    let found = try contacts.freshness(of: scope)
                    #expect(
                        isTouched.value || found.failureCount == 0 && found.requestedAt == nil && stored.isEmpty,
                        "The reset left \(found), seed \(seed).")
                    if let limit = scope.eviction?.maxCount, found.isComplete {
                        #expect(stored.count <= limit, "Too many rows, seed \(seed).")
                    }
                    guard let tag = found.entityTag.flatMap(Int.init) else { continue }
                    let rows = stored.filter { has(scope, $0.uid) }
                    if rows.contains(where: { (Int($0.name) ?? 0) < tag }) {
                        let read = try await contacts.main.container?.read { context in
                            try context.fetch(ContactEntity.self).map { "\($0.uid) \($0.name)" }.sorted()
                        }
                        note("the store has \(read ?? [])")
                    }
                    check(scope, tag, rows.reduce(into: [:]) { $0[$1.uid] = Int($1.name) })
                }
            }
            events.value = ["check"]
        }

        /// - Parameter rows: The versions of the stored objects, by their uids.
        private func check(_ scope: SyncScope<ContactEntity>, _ tag: Int, _ rows: [String: Int]) {
            let world =
                "tag \(tag) of \(scope.name), seed \(seed), rows \(rows), after: \(events.value.joined(separator: "; "))"
            #expect(tag >= newest.value[scope.name] ?? 0, "An older list replaced a newer one, \(world).")
            newest.update { $0[scope.name] = tag }
            let listed = Set(list(tag, of: scope, for: 0).map(\.uid))
            #expect(listed.isSubset(of: rows.keys), "An object is missing, \(world).")
            let oldest = rows.values.min() ?? tag
            #expect(oldest >= tag, "A row is older, \(world).")
            if scopes.count == 1 { #expect(listed == Set(rows.keys), "There are other objects, \(world).") }
            let others = rows.filter { !listed.contains($0.key) && $0.value <= tag }
            #expect(others.isEmpty, "An old object is left, \(world).")
        }

        private func check(_ error: any Error) {
            if error is CancellationError || error is Poison || error is Busy { return }
            let expected: [DataSourceError.Code] = [
                .loadPostponed, .loadTimedOut, .emptySync, .scopeChanged, .storeReset,
            ]
            let isExpected = (error as? DataSourceError).map { expected.contains($0.code) } ?? false
            #expect(isExpected, "\(error), seed \(seed)")
        }

        /// Loads, often for several askers, one of which may leave.
        func load() async throws {
            let maxAge = Duration.seconds(roll(0...2) * 10)
            let count = roll(1...3)
            let isCancelled = count == 3 && roll(0...1) == 0
            mayOverlap.value = isCancelled
            let tasks = (0..<count).map { _ in
                let (contacts, scope) = (anyMember(), anyScope())
                return Task {
                    defer { note("load of \(scope.name) ends") }
                    do {
                        try await contacts.load(scope, maxAge: maxAge, deleting: .all) {
                            try await answer($0, for: scope)
                        }
                    } catch {
                        note("\(error)")
                        throw error
                    }
                }
            }
            if isCancelled {
                tasks[roll(0...1)].cancel()
                note("cancel")
            }
            for task in tasks {
                if case .failure(let error) = await task.result { check(error) }
            }
            while members.contains(where: { $0.tier.loadCount > 0 })
                || server.running.value.values.contains(where: { $0 > 0 })
            {
                await Task.yield()
            }
        }
    }

    private struct Busy: RetryAfterError { let retryAfter: Duration? }

    @Test(arguments: ScopeStoreKind.allCases)
    func aTagIsNeverNewerThanItsRows(_ kind: ScopeStoreKind) async throws {
        let seed = testSeed()
        let wanted = ProcessInfo.processInfo.environment["COREDATASOURCE_SCOPES"].flatMap { Int($0) }
        let rounds = wanted ?? (kind == .memory ? 40 : 10)
        print("Scopes: \(rounds) worlds, seed \(seed)")
        for round in 0..<rounds {
            let place = try ScopePlace(kind, history: round % 3 == 2 ? .unchanged : .ample)
            let count = ScopeStoreKind.shared.contains(kind) && round % 4 > 1 ? 2 : 1
            let containers = try (0..<count).map { _ in try place.open() }
            let world = World(
                try containers.map { try $0.dataSource(ContactDataSource.self) }, place, seed: seed, round: round)
            let copy = ContactCopy()
            for step in 0..<25 {
                try await world.interfere()
                try await world.load()
                try await world.check()
                if round % 3 == 2 { continue }
                try await copy.follow(
                    containers[step % count], resets: world.resets.value, "round \(round), seed \(seed)")
            }
            #expect(world.server.requests.value > 0)
            for container in containers { try await container.close() }
        }
    }
}
