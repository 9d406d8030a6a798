import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Failures that are remembered, and failures of loads from before a reset.
@MainActor
struct ScopeFailureTests {
    /// The disk is full: neither the failures nor the answers can be stored.
    @Test(arguments: [ScopeStoreKind.file, .sharedFile])
    func aWriteThatFailsKeepsTheRememberedFailures(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let raw = try RawConnection(place.url)
            try raw.execute("CREATE TRIGGER t BEFORE INSERT ON _scopes BEGIN SELECT RAISE(ABORT, 'no'); END")
            for count in 1...2 {
                await expectThrows(Poison.self) {
                    try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
                }
                await expectThrows(DataSourceError.self) {
                    try await contacts.apply(.list(contactList(0..<4)), to: .contacts, requestedAt: place.clock.value)
                }
                #expect(try contacts.freshness(of: .contacts).failureCount == count)
            }
            place.pass(0.5)
            await expectError(.loadPostponed) {
                try await contacts.load(.contacts, maxAge: .nanoseconds(1)) { _ in throw Poison() }
            }
            try raw.execute("DROP TRIGGER t")
            try await contacts.apply(.list(contactList(0..<4)), to: .contacts, requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: .contacts).failureCount == 0)
        }
    }

    /// The first page alone is no success.
    @Test(arguments: ScopeStoreKind.allCases)
    func loadsWhoseLaterPagesFailPauseLongerAndLonger(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            for count in 1...3 {
                await expectThrows(Poison.self) {
                    try await contacts.load(.contacts, maxAge: .zero) { request in
                        if request.page > 0 { throw Poison() }
                        return .page(contactList(0..<2), next: "2")
                    }
                }
                contacts.tier.forgetScopes()
                let found = try contacts.freshness(of: .contacts)
                #expect(found.failureCount == count && !found.isComplete && found.requestedAt == place.clock.value)
                #expect(found.retryAt == place.clock.value + exp2(Double(count)))
            }
            try await contacts.load(.contacts, maxAge: .zero) {
                .page(contactList(0..<2), next: $0.page < 1 ? "2" : nil)
            }
            let found = try contacts.freshness(of: .contacts)
            #expect(found.failureCount == 0 && found.retryAt == nil && found.isComplete)
        }
    }

    // MARK: Resets

    @Test(arguments: ScopeStoreKind.allCases)
    func aFailureFromBeforeAResetIsNotNoted(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let container = try #require(contacts.main.container)
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    try await container.reset()
                    throw Poison()
                }
            }
            let found = try contacts.freshness(of: .contacts)
            #expect(found.failureCount == 0 && found.retryAt == nil)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
        }
    }

    /// For example, another user has logged in since.
    @Test(arguments: [Duration.seconds(10), nil])
    func anObjectFromBeforeAResetIsNotAdded(_ maxAge: Duration?) async throws {
        try await withScopes { contacts, _ in
            let container = try #require(contacts.main.container)
            await expectError(.storeReset) {
                _ = try await contacts.value(where: \.uid, equals: "7", as: ContactValue.self, maxAge: maxAge) { uid in
                    try await container.reset()
                    return ContactData(uid: uid, name: "Guan Yu")
                }
            }
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }
}
