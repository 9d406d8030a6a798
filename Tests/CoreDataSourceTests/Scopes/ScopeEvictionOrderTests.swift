import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Which objects an eviction deletes, and with which save.
@MainActor
struct ScopeEvictionOrderTests {
    private func store(_ contacts: ContactDataSource, _ dates: [Double?]) async throws {
        for (index, date) in dates.enumerated() {
            try await contacts.add(contactList(index..<index + 1))
            try await contacts.update(
                ContactEntity.self, where: \.uid == "uid-\(index)",
                set: [.set(\.birthday, date.map { Date(timeIntervalSinceReferenceDate: $0) })])
        }
    }

    @Test(
        arguments: ScopeStoreKind.allCases,
        [
            ([5, 5, 5, 5], [2, 3]), ([nil, nil, nil, nil], [2, 3]), ([nil, 1, nil, 2], [1, 3]),
            ([9, nil, nil, nil], [0, 3]), ([7, 5, 5, 5], [0, 3]), ([5, 5, 5, 7], [2, 3]),
        ] as [([Double?], [Int])])
    func ofEqualDatesTheObjectsThatWereInsertedLastStay(
        _ kind: ScopeStoreKind, _ example: (dates: [Double?], left: [Int])
    ) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts, example.dates)
            let scope = SyncScope<ContactEntity>("contacts", evicting: ScopeEviction(maxCount: 2, by: \.birthday))
            let report = try await contacts.apply(
                .list(contactList(0..<example.dates.count)), to: scope, requestedAt: place.clock.value)
            #expect(report.evicted == 2)
            #expect(try contacts.uids() == example.left.map { "uid-\($0)" })
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func ofEqualObjectsInAnOrderTheObjectsThatWereInsertedLastStay(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxCount: 2, order: [.ascending(\.note), .descending(\.age)]))
            try await contacts.apply(.list(contactList(0..<5)), to: scope, requestedAt: place.clock.value)
            #expect(try contacts.uids() == ["uid-3", "uid-4"])
            try await contacts.update(ContactEntity.self, where: \.uid == "uid-3", set: [.set(\.age, 9)])
            try await contacts.apply(
                .list(contactList(3..<7)), to: scope, requestedAt: place.clock.value)
            #expect(try contacts.uids() == ["uid-3", "uid-6"])
        }
    }

    /// What is too old does not count for the number.
    @Test(arguments: ScopeStoreKind.allCases)
    func ageAndCountTogetherDeleteEachObjectOnce(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let now = place.clock.value.timeIntervalSinceReferenceDate
            try await store(contacts, [now - 200, now - 150, now - 3, now - 2, now - 1])
            let eviction = ScopeEviction<ContactEntity>(maxAge: .seconds(100), maxCount: 2, by: \.birthday)
            let report = try await contacts.apply(
                .list(contactList(0..<5)), to: SyncScope("contacts", evicting: eviction),
                requestedAt: place.clock.value)
            #expect(report.evicted == 3)
            #expect(try contacts.uids() == ["uid-3", "uid-4"])
        }
    }

    /// It keeps objects from evictions, not from the list.
    @Test(arguments: ScopeStoreKind.allCases)
    func aListWithoutAKeptObjectDeletesIt(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let eviction = ScopeEviction<ContactEntity>(
                maxCount: 1, order: [.descending(\.uid)], keeping: \.isFavorite == true)
            let scope = SyncScope("contacts", evicting: eviction)
            try await contacts.add(contactList(0..<4))
            try await contacts.update(ContactEntity.self, where: \.uid <= "uid-1", set: [.set(\.isFavorite, true)])
            let report = try await contacts.apply(
                .list(contactList(1..<4), entityTag: "1"), to: scope, requestedAt: place.clock.value)
            #expect(report.deleted == 1 && report.evicted == 1)
            #expect(try contacts.uids() == ["uid-1", "uid-3"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsNotModifiedReportsItsEvictions(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.apply(
                .list(contactList(0..<5), entityTag: "1"), to: .contacts, requestedAt: place.clock.value)
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxCount: 3, order: [.descending(\.uid)]))
            place.pass(5)
            let report = try await contacts.apply(.notModified, to: scope, requestedAt: place.clock.value)
            #expect(report.evicted == 2 && report.deleted == 0)
            let found = try contacts.freshness(of: scope)
            #expect(found.entityTag == nil && found.isComplete && found.requestedAt == place.clock.value)
            #expect(try contacts.uids() == ["uid-2", "uid-3", "uid-4"])
        }
    }

    /// The answer and its evictions are one save.
    @Test(arguments: [ScopeStoreKind.file, .sharedFile])
    func anEvictionThatFailsLeavesTheOldFreshness(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.apply(
                .list(contactList(0..<5), entityTag: "1"), to: .contacts, requestedAt: place.clock.value)
            let before = try contacts.freshness(of: .contacts)
            let raw = try RawConnection(place.url)
            try raw.execute("CREATE TRIGGER t BEFORE DELETE ON ContactEntity BEGIN SELECT RAISE(ABORT, 'no'); END")
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxCount: 3, order: [.descending(\.uid)]))
            place.pass(5)
            for answer in [ServerAnswer<any Sendable>.notModified, .list(contactList(0..<5), entityTag: "2")] {
                await expectThrows(DataSourceError.self) {
                    try await contacts.apply(answer, to: scope, requestedAt: place.clock.value)
                }
                contacts.tier.forgetScopes()
                #expect(try contacts.freshness(of: scope) == before)
                #expect(try contacts.count(ContactEntity.self) == 5)
            }
            try raw.execute("DROP TRIGGER t")
            let report = try await contacts.apply(.notModified, to: scope, requestedAt: place.clock.value)
            #expect(report.evicted == 2)
        }
    }

    /// Another process of a shared store sees the rows without the evicted ones, and its tag is gone as well.
    @Test(arguments: ScopeStoreKind.shared)
    func anEvictionOfAnotherProcessIsSeen(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let (mine, theirs) = (
            try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self)
        )
        let all = SyncScope<ContactEntity>("all")
        try await mine.apply(.list(contactList(0..<5), entityTag: "1"), to: all, requestedAt: place.clock.value)
        #expect(try theirs.freshness(of: all).entityTag == "1")
        let list = try theirs.list(ObjectRequest(ContactEntity.self, freshnessOf: all))
        let seen = try theirs.freshness(of: all)
        let scope = SyncScope<ContactEntity>(
            "few", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
        try await mine.apply(.list(contactList(0..<5)), to: scope, requestedAt: place.clock.value)
        #expect(try theirs.uids() == ["uid-3", "uid-4"])
        #expect(try theirs.freshness(of: all).entityTag == nil)
        await expectError(.scopeChanged) {
            try await theirs.apply(.notModified, to: all, requestedAt: place.clock.value, since: seen)
        }
        while list.freshness?.entityTag != nil || list.count != 2 { await Task.yield() }
        try await one.close()
        try await other.close()
    }
}
