import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Which loads callers join, and which loads they do not join.
@MainActor
struct ScopeJoinTests {
    /// A request that does not end before the test says so.
    private struct SlowRequest: Sendable {
        private let arrived = AsyncStream.makeStream(of: Void.self)
        private let answered = AsyncStream.makeStream(of: Void.self)

        func list(_ request: ScopeRequest) async throws -> ServerAnswer<any Sendable> {
            arrived.continuation.finish()
            for await _ in answered.stream {}
            return .list(contactList(0..<3), entityTag: "slow")
        }

        func waitUntilRequested() async { for await _ in arrived.stream {} }
        func answer() { answered.continuation.finish() }
    }

    /// For example, another user has logged in since.
    @Test(arguments: ScopeStoreKind.allCases)
    func aLoadFromBeforeAResetIsNotJoined(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let (slow, isRequested) = (SlowRequest(), Shared(false))
            let first = Task { try await contacts.load(.contacts, maxAge: .seconds(10), slow.list) }
            await slow.waitUntilRequested()
            try await contacts.main.container?.reset()
            let second = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    isRequested.value = true
                    return .list(contactList(5..<6), entityTag: "2")
                }
            }
            while contacts.tier.loadWaiterCount < 2, !isRequested.value { await Task.yield() }
            slow.answer()
            await expectError(.storeReset) { try await first.value }
            #expect(try await second.value.entityTag == "2")
            #expect(try contacts.uids() == ["uid-5"])
        }
    }

    @Test func aLoadOfAnotherPredicateIsNotJoined() async throws {
        try await withScopes { contacts, _ in
            let (slow, isRequested) = (SlowRequest(), Shared(false))
            let mine = SyncScope("mine", ContactEntity.self, where: \.uid == "uid-1")
            let first = Task { try await contacts.load(mine, maxAge: .seconds(10), slow.list) }
            await slow.waitUntilRequested()
            let theirs = SyncScope("mine", ContactEntity.self, where: \.uid == "uid-5")
            let second = Task {
                try await contacts.load(theirs, maxAge: .seconds(10)) { _ in
                    isRequested.value = true
                    return .list(contactList(5..<6), entityTag: "2")
                }
            }
            while contacts.tier.loadWaiterCount < 2, !isRequested.value { await Task.yield() }
            if isRequested.value {
                // It does not wait for the first one.
                #expect(try await second.value.entityTag == "2")
            }
            slow.answer()
            _ = try await first.value
            _ = try await second.value
            #expect(isRequested.value)
        }
    }

    @Test func aLoadThatServesStaleObjectsKeepsTheRunningLoad() async throws {
        try await withScopes { contacts, place in
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
            place.pass(20)
            let slow = SlowRequest()
            let first = Task { try await contacts.load(.contacts, maxAge: .seconds(10), slow.list) }
            await slow.waitUntilRequested()
            let served = try await contacts.load(
                .contacts, maxAge: .seconds(10), whenStale: .serveStale
            ) { _ in .list(contactList(5..<6)) }
            #expect(served.entityTag == nil)
            first.cancel()
            await expectThrows(CancellationError.self) { try await first.value }
            try #require(contacts.tier.loadCount == 1)
            slow.answer()
            while contacts.tier.loadCount > 0 { await Task.yield() }
            #expect(try contacts.freshness(of: .contacts).entityTag == "slow")
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func withNothingToServeTheErrorOfTheServerIsThrown() async throws {
        try await withScopes { contacts, _ in
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .seconds(10), whenStale: .serveStale) { _ in
                    throw Poison()
                }
            }
        }
    }

    /// The main actor is busy until the list is in the store, so it cannot show the list before the second load.
    @Test(arguments: ScopeStoreKind.allCases)
    func mainShowsAFreshListWhenTheLoadReturns(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add([ContactData(uid: "uid-0", name: "old")])
            let object = try #require(try contacts.fetch(ContactEntity.self).first)
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            #expect(object.name == "old" && list.count == 1)
            let loading = Task.detached {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    .list(contactList(0..<3) { "new \($0)" })
                }
            }
            while try contacts.freshness(of: .contacts).requestedAt == nil {}
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
            #expect(object.name == "new 0" && list.count == 3)
            _ = try await loading.value
        }
    }

    /// The joined load ends without a request, because an answer that was stored meanwhile is fresh enough for its caller.
    @Test func aLoadThatIsFreshForItsCallerIsNotEnoughForWhoWantsAllNew() async throws {
        try await withScopes { contacts, place in
            let slow = SlowRequest()
            let first = Task { try await contacts.load(.contacts, maxAge: .seconds(10), slow.list) }
            await slow.waitUntilRequested()
            try await contacts.apply(
                .list(contactList(0..<3), entityTag: "1"), to: .contacts, requestedAt: place.clock.value)
            let second = Task {
                try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<4), entityTag: "2") }
            }
            while contacts.tier.loadWaiterCount < 2 { await Task.yield() }
            slow.answer()
            #expect(try await first.value.isComplete)
            #expect(try await second.value.entityTag == "2")
            #expect(try contacts.count(ContactEntity.self) == 4)
        }
    }

    /// The answer is as old as its request, not as the caller that waits for it.
    @Test(arguments: ScopeStoreKind.allCases)
    func anAnswerThatWasOldWhenACallerAskedIsNotEnough(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let slow = SlowRequest()
            let first = Task { try await contacts.load(.contacts, maxAge: .seconds(100), slow.list) }
            await slow.waitUntilRequested()
            place.pass(20)
            let load = { @Sendable (maxAge: Duration) in
                try await contacts.load(.contacts, maxAge: maxAge) { _ in .list(contactList(0..<4), entityTag: "new") }
            }
            let (patient, impatient) = (Task { try await load(.seconds(30)) }, Task { try await load(.seconds(10)) })
            while contacts.tier.loadWaiterCount < 3 { await Task.yield() }
            slow.answer()
            _ = (try await first.value, try await patient.value)
            let found = try await impatient.value
            #expect(found.entityTag == "new")
            #expect(try contacts.freshness(of: .contacts).requestedAt == place.clock.value)
        }
    }
}
