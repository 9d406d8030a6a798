import CoreDataSource
import ErrorExpectations
import Testing

/// The freshness of a scope is never newer than the rows of a pinned main context.
@MainActor
struct PinScopeTests {
    private let request = ObjectRequest(
        ContactEntity.self, order: [.ascending(\.uid)], freshnessOf: SyncScope("contacts"))

    private func load(_ contacts: ContactDataSource, _ count: Int) async throws {
        try await contacts.load(.contacts, maxAge: .zero) { _ in
            .list(contactList(0..<count), entityTag: "\(count)")
        }
    }

    @Test(arguments: ScopeStoreKind.allCases.filter { $0 != .custom })
    func aTagIsNeverNewerThanThePinnedRows(kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await load(contacts, 3)
            let list = try contacts.list(request)
            try contacts.main.pin(for: .ample)
            try await load(contacts, 5)
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.entityTag == "3" && list.count == 3)
            let late = try contacts.list(request)
            #expect(late.freshness?.entityTag == "3" && late.count == 3)
            var updates = contacts.updates(request).makeAsyncIterator()
            let update = try #require(await updates.next())
            #expect(update.freshness?.entityTag == "3" && update.snapshot.count == 3)
            #expect(try contacts.freshness(of: .contacts).entityTag == "5")
            try contacts.main.advance()
            #expect(list.count == 5)
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.entityTag == "5" && late.freshness?.entityTag == "5")
            try await load(contacts, 7)
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.entityTag == "5" && list.count == 5)
            contacts.main.unpin()
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.entityTag == "7" && list.count == 7)
        }
    }

    /// A failure that could not be stored has no place in a snapshot.
    @Test func aPinKeepsTheFreshnessThatTheListShows() async throws {
        try await withScopes { contacts, _ in
            try await load(contacts, 3)
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            let list = try contacts.list(request)
            let before = list.freshness
            try contacts.main.pin(for: .ample)
            await contacts.mainTier.waitForLists()
            #expect(before?.failureCount == 1 && list.freshness == before)
        }
    }
}
