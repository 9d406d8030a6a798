import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Single objects with an age, which the store may lack for several reasons.
@MainActor
struct ScopeObjectTests {
    private func load(
        _ contacts: ContactDataSource, _ requests: Shared<Int>, uid: String = "uid-0"
    ) async throws -> String? {
        try await contacts.value(where: \.uid, equals: uid, as: ContactValue.self, maxAge: .seconds(1000)) { uid in
            requests.update { $0 += 1 }
            return ContactData(uid: uid, name: "loaded")
        }?.name
    }

    /// The server still has it.
    @Test(arguments: ScopeStoreKind.allCases)
    func anEvictedObjectIsRequestedAgain(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let requests = Shared(0)
            for uid in ["uid-0", "uid-4"] { #expect(try await load(contacts, requests, uid: uid) == "loaded") }
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
            let report = try await contacts.apply(
                .list(contactList(0..<5)), to: scope, requestedAt: place.clock.value)
            #expect(report.evicted == 3 && requests.value == 2)
            #expect(try await load(contacts, requests) == "loaded")
            #expect(requests.value == 3)
            // The other one was not evicted.
            #expect(try await load(contacts, requests, uid: "uid-4") == "name 4")
            #expect(requests.value == 3)
        }
    }

    /// The save also evicts objects, but the list has said that the server no longer has this one.
    @Test(arguments: ScopeStoreKind.allCases)
    func anObjectThatAListHasDeletedIsNotRequestedBesideEvictions(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let requests = Shared(0)
            for uid in ["uid-0", "uid-1"] { #expect(try await load(contacts, requests, uid: uid) == "loaded") }
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
            let report = try await contacts.apply(
                .list(contactList(1..<5)), to: scope, requestedAt: place.clock.value)
            #expect(report.deleted == 1 && report.evicted == 2)
            #expect(try await load(contacts, requests) == nil)
            #expect(requests.value == 2)
            #expect(try await load(contacts, requests, uid: "uid-1") == "loaded")
            #expect(requests.value == 3)
        }
    }

    /// The store forgets the scopes of many objects together.
    @Test(arguments: HistoryPlace.migrated)
    func aLargeEvictionRunsFewStatements(_ place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let forgetting = Shared(0)
        let configuration = PersistentContainer.Configuration(
            synchronous: .normal,
            trace: { trace in
                if trace.sql.hasPrefix("DELETE"), trace.sql.contains("_scopes") { forgetting.update { $0 += 1 } }
            })
        let container = try await place.open(directory.store, configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        let requests = Shared(0)
        let uids = [0, 255, 256, 900, 1199].map { "uid-\($0)" }
        for uid in uids { #expect(try await load(contacts, requests, uid: uid) == "loaded") }
        try await contacts.add(contactList(0..<1200))
        let scope = SyncScope<ContactEntity>(
            "contacts", evicting: ScopeEviction(maxCount: 0, order: [.descending(\.uid)]))
        forgetting.update { $0 = 0 }
        let report = try await contacts.apply(.list(contactList(0..<1200)), to: scope, requestedAt: Date())
        #expect(report.evicted == 1200)
        // Each object has two names, its own and that of its parent entity, and a statement takes 256 of them.
        #expect((1...12).contains(forgetting.value), "\(forgetting.value) statements")
        for uid in uids { #expect(try await load(contacts, requests, uid: uid) == "loaded") }
        #expect(requests.value == 2 * uids.count)
        try await container.close()
    }

    /// The app knows better than the last answer.
    @Test(arguments: ScopeStoreKind.allCases)
    func aDeletedObjectIsNotRequestedBeforeItsAgeEnds(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let requests = Shared(0)
            #expect(try await load(contacts, requests) == "loaded")
            try await contacts.delete(ContactData(uid: "uid-0", name: ""))
            #expect(try await load(contacts, requests) == nil)
            #expect(requests.value == 1)
            place.pass(1000)
            #expect(try await load(contacts, requests) == "loaded")
        }
    }

    /// Two objects may have the same value of an attribute without a uniqueness constraint.
    @Test(arguments: ScopeStoreKind.allCases)
    func oneObjectReplacesNoOtherWithTheSameValue(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(contactList(0..<3) { _ in "same" })
            let load = { @Sendable (value: ContactData?) in
                try await contacts.value(
                    where: \.name, equals: "same", as: ContactValue.self, maxAge: .seconds(10)
                ) { _ in value }
            }
            let first = try await load(ContactData(uid: "uid-1", name: "same"))
            #expect(first != nil)
            #expect(try contacts.count(ContactEntity.self) == 3)
            place.pass(10)
            let second = try await load(nil)
            #expect(second == nil)
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    @Test func anObjectThatHasBecomeAnotherReplacesIt() async throws {
        try await withScopes { contacts, place in
            try await contacts.add(contactList(0..<3))
            let found = try await contacts.value(
                where: \.uid, equals: "uid-1", as: ContactValue.self, maxAge: .seconds(10)
            ) { _ in ContactData(uid: "uid-9", name: "moved") }
            #expect(found == nil)
            #expect(try contacts.uids() == ["uid-0", "uid-2", "uid-9"])
        }
    }

    // MARK: Serving old objects

    /// The app has no connection, but has the object.
    @Test(arguments: ScopeStoreKind.allCases)
    func anOldObjectIsServedAndLoadedBehind(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            // A list has brought the object. It was never loaded alone.
            try await contacts.add(contactList(0..<1))
            let (answer, requests) = (Shared<ContactData?>(nil), Shared(0))
            let load = { @Sendable (uid: String) in
                try await contacts.value(
                    where: \.uid, equals: uid, as: ContactValue.self, maxAge: .seconds(10), whenStale: .serveStale
                ) { _ in
                    requests.update { $0 += 1 }
                    guard let found = answer.value else { throw Poison() }
                    return found
                }?.name
            }
            let scope = SyncScope(where: \ContactEntity.uid, equals: "uid-0")
            #expect(try await load("uid-0") == "name 0")
            while try contacts.freshness(of: scope).failureCount == 0 { await Task.yield() }
            while contacts.tier.loadCount > 0 { await Task.yield() }
            // The pause after the failure has not ended.
            #expect(try await load("uid-0") == "name 0")
            #expect(requests.value == 1 && contacts.tier.loadCount == 0)
            answer.value = ContactData(uid: "uid-0", name: "new")
            place.pass(10)
            #expect(try await load("uid-0") == "name 0")
            while try contacts.freshness(of: scope).requestedAt == nil { await Task.yield() }
            while contacts.tier.loadCount > 0 { await Task.yield() }
            #expect(try await load("uid-0") == "new")
            #expect(requests.value == 2)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aMissingObjectIsWaitedFor(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            for value in [nil, ContactData(uid: "uid-0", name: "new")] {
                await expectThrows(Poison.self) {
                    _ = try await contacts.value(
                        where: \.uid, equals: "uid-0", as: ContactValue.self, maxAge: .zero, whenStale: .serveStale
                    ) { _ in throw Poison() }
                }
                let found = try await contacts.value(
                    where: \.uid, equals: "uid-0", as: ContactValue.self, maxAge: .zero, whenStale: .serveStale
                ) { _ in value }
                #expect(found?.name == value?.name)
                place.pass(10)
            }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func theScopeOfAnObjectHasItsAgeAndCanBeForgotten(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let scope = SyncScope(where: \ContactEntity.uid, equals: "uid-0")
            #expect(try contacts.freshness(of: scope).requestedAt == nil)
            let requests = Shared(0)
            for _ in 0..<2 { #expect(try await load(contacts, requests) == "loaded") }
            #expect(requests.value == 1)
            #expect(try contacts.freshness(of: scope).requestedAt == place.clock.value)
            #expect(try contacts.freshness(of: scope).isComplete)
            try await contacts.forget(scope)
            #expect(try contacts.freshness(of: scope).requestedAt == nil)
            #expect(try await load(contacts, requests) == "loaded")
            #expect(requests.value == 2)
        }
    }
}
