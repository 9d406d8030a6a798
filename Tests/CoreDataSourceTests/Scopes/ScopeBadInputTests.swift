import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Wrong times, predicates and cursors, a full disk, and a container that is closed during a request.
@MainActor
struct ScopeBadInputTests {
    @Test(arguments: [Double.nan, .infinity])
    func aTimeThatIsNoTimeIsRefused(_ seconds: Double) async throws {
        try await withScopes { contacts, _ in
            for answer in [ServerAnswer<any Sendable>.list(contactList(0..<1)), .notModified] {
                await expectError(.invalidRequest) {
                    try await contacts.apply(
                        answer, to: .contacts, requestedAt: Date(timeIntervalSinceReferenceDate: seconds))
                }
            }
            let uids = try contacts.uids()
            #expect(uids.isEmpty)
        }
    }

    @Test func anAnswerToARequestWithoutATagMustBeAList() async throws {
        try await withScopes { contacts, place in
            let scope = SyncScope<ContactEntity>("untagged")
            let applied = await expectError(.invalidRequest) {
                try await contacts.apply(
                    .notModified, to: scope, requestedAt: place.clock.value, since: contacts.freshness(of: scope))
            }
            let requests = Shared(0)
            let loaded = await expectError(.invalidRequest) {
                try await contacts.load(scope, maxAge: .zero) { _ in
                    requests.update { $0 += 1 }
                    return .notModified
                }
            }
            // The server would give the same answer to another request.
            #expect(requests.value == 1)
            let found = try contacts.freshness(of: scope)
            #expect(found.requestedAt == nil && found.failureCount == 1 && found.lastFailure == "invalidRequest")
            for error in [applied, loaded] {
                #expect(error?.message.contains("the request had no entity tag") == true)
            }
        }
    }

    /// A list in pages has no entity tag. The cursor of a part is no cursor of the whole list.
    @Test(arguments: ScopeStoreKind.allCases)
    func aListInPagesIsNeverNotModified(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let load = { @Sendable () async throws -> [ScopeRequest] in
                let requests = Shared<[ScopeRequest]>([])
                await expectError(.invalidRequest) {
                    try await contacts.load(.contacts, maxAge: .zero) { request in
                        requests.update { $0.append(request) }
                        return .notModified
                    }
                }
                return requests.value
            }
            try await contacts.apply(
                .page(contactList(0..<2), next: "2"), to: .contacts, requestedAt: place.clock.value)
            #expect(try await load() == [ScopeRequest()])
            let part = try contacts.freshness(of: .contacts)
            #expect(!part.isComplete && part.failureCount == 1)
            try await contacts.load(.contacts, maxAge: .zero) { request in
                request.page == 0 ? .page(contactList(0..<2), next: "2") : .page(contactList(2..<3), next: nil)
            }
            #expect(try await load() == [ScopeRequest()])
            let whole = try contacts.freshness(of: .contacts)
            #expect(whole.isComplete && whole.failureCount == 1)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    /// PostgreSQL cannot store it. If the store refused it, a later save of the data source would be refused as well.
    @Test(arguments: ScopeStoreKind.allCases)
    func aNullCharacterIsRefusedBeforeTheSave(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add(contactList(0..<1))
            let list = contactList(0..<9)
            for answer in [
                ServerAnswer<any Sendable>.list(list, entityTag: "a\0"), .list(list, cursor: "a\0"),
                .page(list, next: "\0"),
            ] {
                await expectError(.validationFailed) {
                    try await contacts.apply(answer, to: .contacts, requestedAt: Date())
                }
            }
            let named = SyncScope<ContactEntity>("a\0")
            await expectThrows(Poison.self) {
                try await contacts.load(named, maxAge: .zero) { _ in throw Poison() }
            }
            await expectError(.validationFailed) {
                try await contacts.load(named, maxAge: .zero) { _ in .list(list) }
            }
            try await contacts.perform(waitFor: .main) { context in
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.note = "edited"
            }
            try await contacts.main.container?.flush()
            let found = try contacts.fetch(ContactEntity.self).map(\.note)
            #expect(found == ["edited"])
        }
    }

    /// A clock may be years away, and may be corrected during a request or after it.
    @Test(arguments: ScopeStoreKind.allCases, [-1e10, 1e10])
    func aClockThatIsYearsAwayMakesAListStale(_ kind: ScopeStoreKind, _ seconds: Double) async throws {
        try await withScopes(kind) { contacts, place in
            place.pass(seconds)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                place.pass(-seconds)
                return .list(contactList(0..<1))
            }
            let found = try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<2)) }
            #expect(
                found.requestedAt == place.clock.value && !found.isStale(after: .seconds(10), at: place.clock.value))
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
            // So does a failure: nothing is postponed for years.
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    place.pass(seconds)
                    throw Poison()
                }
            }
            place.pass(1 - seconds)
            try await contacts.load(.contacts, maxAge: .nanoseconds(1)) { _ in .list(contactList(0..<3)) }
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    @Test func aPredicateThatCannotBeStoredIsRefused() async throws {
        try await withScopes { contacts, _ in
            let unknown = SyncScope("a", ContactEntity.self, where: FetchPredicate(#Predicate { $0.name.first != nil }))
            expectError(.unsupportedQuery) { try contacts.freshness(of: unknown) }
            let long = SyncScope("b", ContactEntity.self, where: .isIn(\.uid, (0..<20_000).map { "uid-\($0)" }))
            expectError(.valueTooLarge) { try contacts.freshness(of: long) }
            await expectError(.valueTooLarge) {
                try await contacts.load(long, maxAge: .zero) { _ in .list(contactList(0..<1)) }
            }
            let uids = try contacts.uids()
            #expect(uids.isEmpty)
        }
    }

    @Test func aTimeLimitMayHaveAnySize() async throws {
        try await withScopes { contacts, place in
            for limit in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
                try await contacts.load(.contacts, maxAge: .zero, timeLimit: limit) { _ in .list(contactList(0..<1)) }
            }
            #expect(Array(place.timers.delays.suffix(2)) == [.seconds(604_800), .zero])
        }
    }

    /// The load would delete the objects of the parts before.
    @Test(arguments: ScopeStoreKind.allCases)
    func theCursorOfAPartBeginsNoLoad(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.apply(
                .page(contactList(0..<2), next: "2"), to: .contacts, requestedAt: place.clock.value)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { request in
                #expect(request.cursor == (request.page == 0 ? nil : "2"))
                return request.cursor == nil
                    ? .page(contactList(0..<2), next: "2") : .page(contactList(2..<3), next: nil)
            }
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anAnswerFromBeforeAnotherAnswerIsRefused(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let answers: [ServerAnswer<any Sendable>] = [
                .list(contactList(0..<1), entityTag: "1"), .page(contactList(0..<1), next: nil), .notModified, .gone,
            ]
            for answer in answers {
                let before = try contacts.freshness(of: .contacts)
                place.pass(1)
                try await contacts.apply(
                    .list(contactList(0..<3), entityTag: "2"), to: .contacts, requestedAt: place.clock.value,
                    since: before)
                await expectError(.scopeChanged) {
                    try await contacts.apply(answer, to: .contacts, requestedAt: place.clock.value, since: before)
                }
                #expect(try contacts.freshness(of: .contacts).entityTag == "2")
                #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anAnswerFromBeforeAResetIsNotConfirmed(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let store = {
                try await contacts.apply(
                    .list(contactList(0..<3), entityTag: "1"), to: .contacts, requestedAt: place.clock.value)
            }
            _ = try await store()
            let before = try contacts.freshness(of: .contacts)
            try await contacts.main.container?.reset()
            _ = try await store()
            await expectError(.storeReset) {
                try await contacts.apply(.notModified, to: .contacts, requestedAt: place.clock.value, since: before)
            }
        }
    }

    /// For example, another user has logged in since.
    @Test(arguments: ScopeStoreKind.allCases)
    func theFirstAnswerFromBeforeAResetIsNotStored(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let before = try contacts.freshness(of: .contacts)
            let list = try contacts.list(ObjectRequest(ContactEntity.self, freshnessOf: .contacts))
            try await contacts.main.container?.reset()
            for answer in [ServerAnswer<any Sendable>.list(contactList(0..<1), entityTag: "1"), .gone] {
                await expectError(.storeReset) {
                    try await contacts.apply(answer, to: .contacts, requestedAt: place.clock.value, since: before)
                }
            }
            #expect(try contacts.uids().isEmpty)
            #expect(try contacts.freshness(of: .contacts).requestedAt == nil)
            // The list shows a freshness from after the reset.
            let after = try contacts.freshness(of: .contacts)
            while list.freshness != after { await Task.yield() }
            try await contacts.apply(
                .list(contactList(0..<1)), to: .contacts, requestedAt: place.clock.value, since: after)
            #expect(try contacts.uids() == ["uid-0"])
        }
    }

    @Test func aFullDiskLeavesTheOldListWithItsTag() async throws {
        try await withScopesOnADisk { contacts, place, isFull in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            isFull.value = true
            await expectError(.diskFull) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(2..<9), entityTag: "2") }
            }
            await expectError(.diskFull) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            }
            // The failures could not be stored either, but the next load waits.
            let found = try contacts.freshness(of: .contacts)
            #expect(found.entityTag == "1" && found.failureCount == 2 && found.lastFailure == "diskFull")
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            place.pass(1)
            await expectError(.loadPostponed) {
                try await contacts.load(.contacts, maxAge: .nanoseconds(1)) { _ in .notModified }
            }
            isFull.value = false
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(2..<9), entityTag: "2") }
            #expect(try contacts.freshness(of: .contacts).failureCount == 0)
            #expect(try contacts.count(ContactEntity.self) == 7)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aContainerThatIsClosedDuringARequestStoresNothing(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        await expectError(.storeClosed) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                try await container.close()
                return .list(contactList(0..<1))
            }
        }
        if kind == .memory { return }
        let next = try place.open()
        let found = try next.dataSource(ContactDataSource.self).freshness(of: .contacts)
        #expect(found.requestedAt == nil && found.failureCount == 0)
        try await next.close()
    }

    /// The answer has values for the old model.
    @Test(arguments: HistoryPlace.migrated)
    func anAnswerFromBeforeAMigrationIsNotStored(_ place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let url = directory.store
        let first = try await place.open(url, .init(synchronous: .normal))
        let contacts = try first.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        var model = ManagedObjectModel.contacts
        let entity = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        model.entities[entity].attributes.append(
            AttributeDescription(name: "country", type: .string, isOptional: true))
        let (opened, migrated) = (Shared<PersistentContainer?>(nil), model)
        let migrate = { @Sendable in
            try await place.open(url, .init(synchronous: .normal, resetPolicy: .migrate), model: migrated)
        }
        await expectError(.storeClosed) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                // The store keeps its model for as long as this container has it open.
                await expectError(.storeInUse) { _ = try await migrate() }
                try await first.close()
                let container = try await migrate()
                opened.value = container
                return .list(contactList(5..<9), entityTag: "2")
            }
        }
        let second = try #require(opened.value)
        let migratedContacts = try second.dataSource(ContactDataSource.self)
        #expect(try migratedContacts.uids() == ["uid-0", "uid-1", "uid-2"])
        #expect(try migratedContacts.freshness(of: .contacts) == ScopeFreshness())
        try await migratedContacts.load(.contacts, maxAge: .seconds(1000)) { request in
            #expect(request == ScopeRequest())
            return .list(contactList(0..<2), entityTag: "2")
        }
        #expect(try migratedContacts.uids() == ["uid-0", "uid-1"])
        try await second.close()
    }
}
