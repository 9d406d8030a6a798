import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Several processes that share a store make one request for a stale scope. Each container counts as a process.
@MainActor
struct ScopeTurnTests {
    /// Several containers on one store, each with its data source.
    private func withMembers(
        _ kind: ScopeStoreKind, _ count: Int = 2,
        _ body: ([ContactDataSource], ScopePlace) async throws -> Void
    ) async throws {
        let place = try ScopePlace(kind)
        let containers = try (0..<count).map { _ in try place.open() }
        try await body(try containers.map { try $0.dataSource(ContactDataSource.self) }, place)
        for container in containers { try await container.close() }
    }

    private func isWaiting(_ contacts: ContactDataSource) -> Bool {
        contacts.mainTier.stack.root.scopes.waiterCount > 0
    }

    @Test(arguments: ScopeStoreKind.shared, [Duration.seconds(10), .zero])
    func manyProcessesMakeOneRequest(_ kind: ScopeStoreKind, _ maxAge: Duration) async throws {
        try await withMembers(kind, 3) { members, _ in
            let requests = Shared(0)
            let (arrived, answered) = (Signal(), Signal())
            let tasks = members.flatMap { contacts in
                (0..<5).map { _ in
                    Task {
                        try await contacts.load(.contacts, maxAge: maxAge) { _ in
                            requests.update { $0 += 1 }
                            arrived.send()
                            await answered.wait()
                            return .list(contactList(0..<3), entityTag: "1")
                        }
                    }
                }
            }
            await arrived.wait()
            while members.count(where: isWaiting) < 2 || members.contains(where: { $0.tier.loadWaiterCount < 5 }) {
                await Task.yield()
            }
            answered.send()
            for task in tasks {
                let found = try await task.value
                #expect(found.entityTag == "1")
            }
            #expect(requests.value == 1)
            for contacts in members { #expect(try contacts.uids().count == 3) }
        }
    }

    @Test(arguments: ScopeStoreKind.shared)
    func whoWaitsIsToldOfTheFailure(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { members, place in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await members[0].load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    await answered.wait()
                    throw Poison()
                }
            }
            await arrived.wait()
            let second = Task {
                try await members[1].load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
            }
            while !isWaiting(members[1]) { await Task.yield() }
            answered.send()
            await expectThrows(Poison.self) { try await first.value }
            await expectError(.loadPostponed) { try await second.value }
            place.pass(10)
            try await members[1].load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
        }
    }

    /// Whoever waits is the next if the load is canceled, or if its process ends.
    @Test(arguments: ScopeStoreKind.shared, [true, false])
    func theNextProcessTakesOver(_ kind: ScopeStoreKind, _ isClosed: Bool) async throws {
        let place = try ScopePlace(kind)
        let containers = [try place.open(), try place.open()]
        let members = try containers.map { try $0.dataSource(ContactDataSource.self) }
        let (arrived, answered) = (Signal(), Signal())
        let first = Task {
            try await members[0].load(.contacts, maxAge: .seconds(10)) { _ in
                arrived.send()
                await answered.wait()
                return .list(contactList(5..<6))
            }
        }
        await arrived.wait()
        let second = Task {
            try await members[1].load(.contacts, maxAge: .seconds(10)) { _ in
                .list(contactList(0..<3), entityTag: "1")
            }
        }
        while !isWaiting(members[1]) { await Task.yield() }
        if isClosed { try await containers[0].close() } else { first.cancel() }
        let found = try await second.value
        #expect(found.entityTag == "1")
        answered.send()
        _ = await first.result
        #expect(try members[1].uids().count == 3)
        if !isClosed { try await containers[0].close() }
        try await containers[1].close()
    }

    /// Its answer comes too late, and is not stored over the newer one.
    @Test(arguments: ScopeStoreKind.shared)
    func aProcessThatHangsIsNotWaitedForLongerThanTheTimeLimit(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { members, _ in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await members[0].load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(5..<6), entityTag: "0")
                }
            }
            await arrived.wait()
            members[1].mainTier.stack.root.scopes.longestTurn = .zero
            let found = try await members[1].load(.contacts, maxAge: .seconds(10)) { _ in
                .list(contactList(0..<3), entityTag: "1")
            }
            #expect(found.entityTag == "1")
            answered.send()
            let late = try await first.value
            #expect(late.entityTag == "1")
            #expect(try members[0].uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    /// The other process began its request before this one asked.
    @Test(arguments: ScopeStoreKind.shared)
    func anAnswerOfAnotherProcessThatIsTooOldIsNotEnough(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { members, place in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await members[0].load(.contacts, maxAge: .seconds(100)) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3), entityTag: "1")
                }
            }
            await arrived.wait()
            place.pass(20)
            let second = Task {
                try await members[1].load(.contacts, maxAge: .seconds(10)) { _ in
                    .list(contactList(0..<4), entityTag: "2")
                }
            }
            while !isWaiting(members[1]) { await Task.yield() }
            answered.send()
            _ = try await first.value
            let found = try await second.value
            #expect(found.entityTag == "2" && found.requestedAt == place.clock.value)
        }
    }

    @Test(arguments: ScopeStoreKind.shared)
    func whoWaitsCanBeCanceled(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { members, _ in
            let (arrived, answered) = (Signal(), Signal())
            let load = { @Sendable (contacts: ContactDataSource) in
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3))
                }
            }
            let first = Task { try await load(members[0]) }
            await arrived.wait()
            let second = Task { try await load(members[1]) }
            while !isWaiting(members[1]) { await Task.yield() }
            second.cancel()
            await expectThrows(CancellationError.self) { try await second.value }
            answered.send()
            let found = try await first.value
            #expect(found.isComplete)
        }
    }

    /// A store with many scopes keeps no leases of those that nobody loads.
    @Test(arguments: ScopeStoreKind.shared)
    func freeLeasesAreForgotten(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind, 1) { members, _ in
            for name in 0..<20 {
                let scope = SyncScope<ContactEntity>("scope \(name)")
                try await members[0].load(scope, maxAge: .zero) { _ in .list(contactList(0..<3)) }
            }
            let root = members[0].mainTier.stack.root
            let store = try #require(root.store.sharing as? any LeaseStore)
            await members[0].tier.waitForScopeLeases()
            let names = try store.leaseSnapshot().arbiter.leases.keys
            #expect(names.contains("ContactEntity") && !names.contains { LeaseArbiter.isScope($0) })
        }
    }

    /// All others have waited for the same holder, and for the same time.
    @Test(arguments: ScopeStoreKind.shared)
    func oneOfThoseWhoWaitTakesOver(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind, 3) { members, _ in
            let stores = try members.map {
                try #require($0.mainTier.stack.root.store.sharing as? any LeaseStore)
            }
            guard case .taken(let first) = try stores[0].takeLease(ofScope: "a", for: "source") else {
                Issue.record("The lease was not free.")
                return
            }
            for store in stores.dropFirst() {
                #expect(try store.takeLease(ofScope: "a", for: "source") == .held(epoch: first))
            }
            guard case .taken(let second) = try stores[1].takeLease(ofScope: "a", for: "source", overtaking: first)
            else {
                Issue.record("The lease of the process that hangs was not taken.")
                return
            }
            #expect(
                try stores[2].takeLease(ofScope: "a", for: "source", overtaking: first) == .held(epoch: second))
            // The first holder comes back.
            try stores[0].releaseLease(ofScope: "a", epoch: first)
            #expect(try stores[2].takeLease(ofScope: "a", for: "source") == .held(epoch: second))
        }
    }

    @Test func theLeaseOfADeadMemberIsTaken() {
        var arbiter = LeaseArbiter(nextTicket: 1)
        let first = arbiter.take(scope: "a", for: "source", by: 1, at: 0)
        #expect(arbiter.isHeld(scope: "a", byOtherThan: 2) { _ in true })
        #expect(!arbiter.isHeld(scope: "a", byOtherThan: 1) { _ in true })
        #expect(!arbiter.isHeld(scope: "a", byOtherThan: 2) { $0 != 1 })
        let second = arbiter.take(scope: "a", for: "source", by: 2, at: 0)
        // The first holder comes back.
        arbiter.release(scope: "a", epoch: first)
        #expect(arbiter.isHeld(scope: "a", byOtherThan: 1) { _ in true })
        arbiter.release(scope: "a", epoch: second)
        #expect(arbiter.leases.isEmpty)
        _ = arbiter.take(scope: "a", for: "source", by: 1, at: 0)
        arbiter.grantLeases(at: 0, answerTimeout: 0) { $0 != 1 }
        #expect(arbiter.leases.isEmpty)
    }
}
