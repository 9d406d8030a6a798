import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// What a store knows of the lists of a server.
@MainActor
struct ScopeTests {
    /// Stores contacts 0, 1 and 2 with the tag "1".
    private func store(_ contacts: ContactDataSource, _ place: ScopePlace) async throws {
        try await contacts.apply(
            .list(contactList(0..<3), entityTag: "1", cursor: "c"), to: .contacts, requestedAt: place.clock.value)
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListIsStoredWithItsTag(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let none = try contacts.freshness(of: .contacts)
            #expect(none.requestedAt == nil && none.entityTag == nil && !none.isComplete && none.failureCount == 0)
            #expect(none.isStale(after: .seconds(1_000_000), at: place.clock.value))
            let start = place.clock.value
            place.pass(5)
            let report = try await contacts.apply(
                .list(contactList(0..<3), entityTag: "1", cursor: "c"), to: .contacts, requestedAt: start)
            #expect(report.inserted == 3)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            let found = try contacts.freshness(of: .contacts)
            #expect(found.requestedAt == start && found.entityTag == "1" && found.cursor == "c" && found.isComplete)
            // The age counts from the request. A request in the future is no fresher.
            #expect(!found.isStale(after: .seconds(6), at: place.clock.value))
            #expect(found.isStale(after: .seconds(5), at: place.clock.value))
            #expect(found.isStale(after: .seconds(5), at: start - 1))
            #expect(found.isStale(after: .zero, at: start))
        }
    }

    @Test(arguments: ScopeStoreKind.kept)
    func aStoreKeepsItWhenItIsClosed(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let first = try place.open()
        try await store(try first.dataSource(ContactDataSource.self), place)
        try await first.close()
        let second = try place.open()
        let contacts = try second.dataSource(ContactDataSource.self)
        #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        // A scope of an earlier launch is cleared by deletions, too.
        try await contacts.delete(ContactData(uid: "uid-1", name: ""))
        #expect(try contacts.freshness(of: .contacts).entityTag == nil)
        try await second.close()
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsNotModifiedIsAsFreshAsItsRequest(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts, place)
            place.pass(100)
            let before = try contacts.freshness(of: .contacts)
            try await contacts.apply(.notModified, to: .contacts, requestedAt: place.clock.value, since: before)
            let after = try contacts.freshness(of: .contacts)
            #expect(after.requestedAt == place.clock.value && after.entityTag == "1" && after.cursor == "c")
            #expect(after.isComplete)
        }
    }

    enum Deletion: CaseIterable { case values, edits, matching, all }

    @Test(arguments: ScopeStoreKind.allCases, Deletion.allCases)
    func aDeletionDropsTheTagAndNotTheAge(_ kind: ScopeStoreKind, _ deletion: Deletion) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts, place)
            let before = try contacts.freshness(of: .contacts)
            switch deletion {
            case .values: try await contacts.delete(ContactData(uid: "uid-1", name: ""))
            case .edits:
                try await contacts.perform { context in
                    for contact in try context.fetch(ContactEntity.self).prefix(1) { context.delete(contact) }
                }
            case .matching: try await contacts.delete(ContactEntity.self, where: \.uid == "uid-1")
            case .all: try await contacts.delete(ContactEntity.self, where: nil)
            }
            // It was read before, and is not believed.
            await expectError(.scopeChanged) {
                try await contacts.apply(.notModified, to: .contacts, requestedAt: place.clock.value, since: before)
            }
            await expectError(.scopeChanged) {
                try await contacts.apply(.notModified, to: .contacts, requestedAt: place.clock.value)
            }
            let after = try ScopePlaceReading(contacts)
            #expect(after.freshness.entityTag == nil && after.freshness.cursor == nil)
            #expect(after.freshness.requestedAt == before.requestedAt && after.freshness.isComplete)
        }
    }

    @Test func otherChangesKeepTheTag() async throws {
        try await withScopes(.file) { contacts, place in
            try await store(contacts, place)
            try await contacts.add(ContactData(uid: "uid-1", name: "changed"))
            try await contacts.update(ContactEntity.self, set: [.set(\.phone, "110")])
            try await contacts.delete(ContactData(uid: "none", name: ""))
            #expect(try ScopePlaceReading(contacts).freshness.entityTag == "1")
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func deletionsOfItsOwnListKeepTheTagOfAScope(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let named = SyncScope("named", ContactEntity.self, where: \.name != "nobody")
            try await store(contacts, place)
            try await contacts.apply(
                .list(contactList(0..<3), entityTag: "n"), to: named, requestedAt: place.clock.value)
            let report = try await contacts.apply(
                .list(contactList(1..<3), entityTag: "2"), to: .contacts, requestedAt: place.clock.value)
            #expect(report.deleted == 1)
            #expect(try contacts.freshness(of: .contacts).entityTag == "2")
            // The other scope may have had the object as well.
            #expect(try ScopePlaceReading(contacts, named).freshness.entityTag == nil)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aScopeWithAnotherPredicateWasNeverLoaded(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let scope = { (name: String) in SyncScope("one", ContactEntity.self, where: \.name == name) }
            try await contacts.apply(
                .list(contactList(0..<1), entityTag: "1"), to: scope("a"), requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: scope("a")).entityTag == "1")
            let other = try contacts.freshness(of: scope("b"))
            #expect(other.entityTag == nil && other.requestedAt == nil && !other.isComplete)
            try await contacts.apply(
                .list(contactList(0..<1), entityTag: "2"), to: scope("b"), requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: scope("b")).entityTag == "2")
            #expect(try contacts.freshness(of: scope("a")).requestedAt == nil)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsRefusedLeavesNothing(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts, place)
            let before = try contacts.freshness(of: .contacts)
            place.pass(10)
            await expectError(.emptySync) {
                try await contacts.apply(.list([], entityTag: "2"), to: .contacts, requestedAt: place.clock.value)
            }
            await expectThrows(Poison.self) {
                try await contacts.apply(
                    .list([ContactData(uid: "4", name: "poison")], entityTag: "2"), to: .contacts,
                    requestedAt: place.clock.value)
            }
            let long = String(repeating: "x", count: 1 << 20)
            await expectError(.valueTooLarge) {
                try await contacts.apply(
                    .list(contactList(0..<4), entityTag: long), to: .contacts, requestedAt: place.clock.value)
            }
            await expectError(.valueTooLarge) {
                try await contacts.apply(
                    .page(contactList(0..<4), next: long), to: .contacts, requestedAt: place.clock.value)
            }
            #expect(try contacts.freshness(of: .contacts) == before)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            let longest = String(repeating: "x", count: 64 << 10)
            try await contacts.apply(
                .list(contactList(0..<3), entityTag: longest), to: .contacts, requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: .contacts).entityTag == longest)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsGoneDeletesItsObjects(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let one = SyncScope("one", ContactEntity.self, where: \.uid == "uid-1")
            try await store(contacts, place)
            let report = try await contacts.apply(.gone, to: one, requestedAt: place.clock.value)
            #expect(report.deleted == 1)
            #expect(try contacts.uids() == ["uid-0", "uid-2"])
            let found = try contacts.freshness(of: one)
            #expect(found.isComplete && found.entityTag == nil)
        }
    }

    @Test func aPageDeletesNothingAndIsNoWholeList() async throws {
        try await withScopes { contacts, place in
            try await store(contacts, place)
            try await contacts.apply(
                .page(contactList(5..<6), next: "2"), to: .contacts, requestedAt: place.clock.value)
            let first = try contacts.freshness(of: .contacts)
            #expect(first.cursor == "2" && first.entityTag == nil && !first.isComplete)
            #expect(first.isStale(after: .seconds(1000), at: place.clock.value))
            try await contacts.apply(
                .page(contactList(6..<7), next: nil), to: .contacts, requestedAt: place.clock.value)
            let last = try contacts.freshness(of: .contacts)
            #expect(last.cursor == nil && last.isComplete)
            #expect(try contacts.count(ContactEntity.self) == 5)
        }
    }

    @Test func eachScopeHasANameOfItsOwn() async throws {
        try await withScopes { contacts, place in
            try await store(contacts, place)
            let container = try #require(contacts.main.container)
            let groups = try container.dataSource(GroupDataSource.self)
            expectError(.scopeAlreadyUsed) { try groups.freshness(of: SyncScope("contacts", GroupEntity.self)) }
            await expectError(.scopeAlreadyUsed) {
                try await groups.apply(
                    .list([GroupData(gid: "1", name: "")]), to: SyncScope("contacts", GroupEntity.self),
                    requestedAt: place.clock.value)
            }
            expectError(.entityNotOwned) { try groups.freshness(of: .contacts) }
            await expectError(.entityNotOwned) {
                try await groups.load(SyncScope<ContactEntity>("mine"), maxAge: .zero) { _ in .notModified }
            }
            let long = SyncScope<ContactEntity>(String(repeating: "x", count: 1025))
            expectError(.valueTooLarge) { try contacts.freshness(of: long) }
            #expect(try groups.count(GroupEntity.self) == 0)
            #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        }
    }

    @Test func aCustomStoreWithoutScopesNamesTheProtocol() async throws {
        let layout = ModelLayout(.contacts)
        let container = PersistentContainer(
            layout, FaultyStore(layout), startup: StoreStartup(reason: .firstLaunch), configuration: .init())
        let contacts = try container.dataSource(ContactDataSource.self)
        expectError(.scopesNotKept) { try contacts.freshness(of: .contacts) }
        await expectError(.scopesNotKept) {
            try await contacts.apply(.list(contactList(0..<1)), to: .contacts, requestedAt: Date())
        }
        await expectError(.scopesNotKept) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<1)) }
        }
        #expect(try contacts.count(ContactEntity.self) == 0)
    }

    @Test func aTestMakesAFreshnessAndSetsTheClock() async throws {
        let clock = Shared(Date(timeIntervalSinceReferenceDate: 1000))
        let container = try await PersistentContainer(
            model: .contacts, store: .inMemory, configuration: .init(now: { clock.value }))
        let contacts = try container.dataSource(ContactDataSource.self)
        let offline = Offline()
        await expectThrows(Offline.self) {
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw offline }
        }
        let failed = try contacts.freshness(of: .contacts)
        #expect(failed.failedAt == clock.value && failed.lastFailureCode == offline.errorCode)
        clock.update { $0 += 2 }
        let loaded = try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
        #expect(loaded.requestedAt == clock.value && loaded.lastFailureCode == nil)
        let made = ScopeFreshness(requestedAt: clock.value, lastFailure: "emptySync")
        #expect(made.isComplete && made.lastFailureCode == nil)
        #expect(!made.isStale(after: .seconds(1), at: clock.value) && ScopeFreshness().isStale(after: .seconds(1)))
        try await container.close()
    }

    /// Without the numbers that only the library uses.
    @Test func whatIsKnownOfAScopeCanBePrinted() {
        let start = Date(timeIntervalSince1970: 0)
        #expect("\(ScopeFreshness())" == "never loaded")
        let loaded = ScopeFreshness(requestedAt: start, entityTag: "a7", isLoading: true)
        #expect("\(loaded)" == "requested 1970-01-01T00:00:00Z, entity tag a7, loading")
        let failed = ScopeFreshness(
            requestedAt: start, cursor: "c", isComplete: false, failureCount: 2, lastFailure: "URLError -1009",
            failedAt: start + 1, retryAt: start + 60)
        #expect(
            "\(failed)"
                == "requested 1970-01-01T00:00:00Z, incomplete, cursor c, 2 failures, the last URLError -1009 at 1970-01-01T00:00:01Z, next try 1970-01-01T00:01:00Z"
        )
        #expect("\(SyncScope<ContactEntity>("all"))" == "all: ContactEntity")
    }

    @Test func theStoreForgetsTheOldestScopes() async throws {
        let place = try ScopePlace(.file)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.apply(
            .list(contactList(0..<1)), to: SyncScope<ContactEntity>("new"), requestedAt: place.clock.value)
        let raw = try RawConnection(place.url)
        try raw.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
            INSERT INTO _scopes SELECT NULL, 'old ' || i, entity, predicate, i, tag, cursor, complete, failures, failed, failure, retry,
            answer, version FROM n, _scopes
            """)
        try await contacts.apply(
            .list(contactList(0..<1)), to: SyncScope<ContactEntity>("newer"), requestedAt: place.clock.value)
        #expect(try raw.column("SELECT count(*) FROM _scopes") == ["10000"])
        #expect(
            try raw.column("SELECT name FROM _scopes WHERE name IN ('new', 'newer', 'old 1', 'old 2') ORDER BY 1")
                == ["new", "newer", "old 2"])
        // The first failure of one more scope is kept, so its loads pause.
        let failing = SyncScope<ContactEntity>("failing")
        await expectThrows(Poison.self) {
            try await contacts.load(failing, maxAge: .seconds(10)) { _ in throw Poison() }
        }
        await expectError(.loadPostponed) {
            try await contacts.load(failing, maxAge: .seconds(10)) { _ in throw Poison() }
        }
        #expect(try raw.column("SELECT count(*) FROM _scopes") == ["10000"])
        try await container.close()
    }
}

private struct Offline: CustomNSError {
    let errorCode = -1009
}

/// What a second data source reads from the store, which knows nothing yet.
private struct ScopePlaceReading {
    let freshness: ScopeFreshness

    @MainActor init(_ contacts: ContactDataSource, _ scope: SyncScope<ContactEntity> = .contacts) throws {
        contacts.tier.forgetScopes()
        freshness = try contacts.freshness(of: scope)
    }
}
