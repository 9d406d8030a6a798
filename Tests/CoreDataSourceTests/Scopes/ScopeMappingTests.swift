import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Data sources that map answers in another way than an earlier version of the app.
@MainActor
struct ScopeMappingTests {
    /// The data source of a new version of the app, which stores the phone as well.
    private final class NewDataSource: DataSource<any Sendable> {
        nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }
        nonisolated override class var mappingVersion: Int { 2 }

        nonisolated override func onAdd(_ value: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
            guard let data = value as? ContactData else { return nil }
            let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: data.uid)
            (contact.name, contact.phone) = (data.name, "new")
            return contact
        }
    }

    private var request: ObjectRequest<ContactEntity> {
        ObjectRequest(order: [.ascending(\.uid)], freshnessOf: .contacts)
    }

    private func value(_ source: DataSource<any Sendable>, _ uid: String, _ requests: Shared<[String]>) async throws
        -> String?
    {
        try await source.value(where: \.uid, equals: uid, as: ContactValue.self, maxAge: .seconds(1000)) { uid in
            requests.update { $0.append(uid) }
            return ContactData(uid: uid, name: "loaded")
        }?.name
    }

    @Test(arguments: ScopeStoreKind.kept)
    func aNewVersionLoadsTheWholeListAgain(_ kind: ScopeStoreKind) async throws {
        let (place, requests) = (try ScopePlace(kind), Shared<[String]>([]))
        let old = try place.open()
        let contacts = try old.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .seconds(1000)) { _ in
            .list(contactList(0..<3), entityTag: "1", cursor: "c")
        }
        #expect(try await value(contacts, "uid-1", requests) == "loaded")
        try await old.close()

        let new = try place.open()
        let newContacts = try new.dataSource(NewDataSource.self)
        let list = try newContacts.list(request)
        #expect(try newContacts.freshness(of: .contacts).requestedAt == nil)
        #expect(list.freshness?.requestedAt == nil && list.count == 3)
        try await newContacts.load(.contacts, maxAge: .seconds(1000)) { request in
            #expect(request == ScopeRequest())
            return .list(contactList(0..<2), entityTag: "1", cursor: "d")
        }
        #expect(try newContacts.fetch(ContactEntity.self).map(\.phone) == ["new", "new"])
        await newContacts.mainTier.waitForLists()
        #expect(list.freshness?.cursor == "d")
        #expect(try await value(newContacts, "uid-1", requests) == "loaded")
        #expect(requests.value == ["uid-1", "uid-1"])
        try await new.close()

        // The version is stored with the scope.
        let again = try place.open()
        let sameVersion = try again.dataSource(NewDataSource.self)
        #expect(try sameVersion.freshness(of: .contacts).entityTag == "1")
        #expect(try await value(sameVersion, "uid-1", requests) == "loaded")
        #expect(requests.value.count == 2)
        try await again.close()

        let earlier = try place.open()
        #expect(try earlier.dataSource(ContactDataSource.self).freshness(of: .contacts).requestedAt == nil)
        try await earlier.close()
    }

    /// Everything that a scope can do.
    @Test(arguments: ScopeStoreKind.allCases)
    func theScopesOfAVersionStay(_ kind: ScopeStoreKind) async throws {
        let (place, requests) = (try ScopePlace(kind), Shared<[String]>([]))
        let container = try place.open()
        let contacts = try container.dataSource(NewDataSource.self)
        try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<5), entityTag: "1") }
        contacts.tier.forgetScopes()
        let fresh = try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list([]) }
        #expect(fresh.entityTag == "1")
        place.pass(20)
        try await contacts.load(.contacts, maxAge: .seconds(10)) { request in
            #expect(request.entityTag == "1")
            return .notModified
        }
        #expect(try contacts.freshness(of: .contacts).requestedAt == place.clock.value)
        await expectThrows(Poison.self) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
        }
        #expect(try contacts.freshness(of: .contacts).failureCount == 1)
        // An object that was evicted is requested again.
        #expect(try await value(contacts, "uid-0", requests) == "loaded")
        let few = SyncScope<ContactEntity>(
            "contacts", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
        try await contacts.apply(.list(contactList(0..<5)), to: few, requestedAt: place.clock.value)
        #expect(try await value(contacts, "uid-0", requests) == "loaded")
        #expect(requests.value == ["uid-0", "uid-0"])
        try await contacts.forget(.contacts)
        contacts.tier.forgetScopes()
        #expect(try contacts.freshness(of: .contacts) == ScopeFreshness())
        try await container.close()
    }

    /// Another data source has the list.
    @Test func aListShowsTheScopeOfADataSourceThatIsMadeLater() async throws {
        let place = try ScopePlace(.file)
        let old = try place.open()
        let loading = try old.dataSource(NewDataSource.self)
        try await loading.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        try await old.close()

        let container = try place.open()
        let list = try container.dataSource(GroupDataSource.self).list(request)
        #expect(list.count == 3)
        let contacts = try container.dataSource(NewDataSource.self)
        await contacts.mainTier.waitForLists()
        #expect(list.freshness?.entityTag == "1")
        try await container.close()
    }

    /// The container that evicts the object does not know by which version the other one maps it.
    @Test(arguments: ScopeStoreKind.kept)
    func anObjectThatAnotherVersionEvictsIsRequestedAgain(_ kind: ScopeStoreKind) async throws {
        let (place, requests) = (try ScopePlace(kind), Shared<[String]>([]))
        let one = try place.open()
        let newContacts = try one.dataSource(NewDataSource.self)
        for uid in ["uid-1", "uid-4"] { _ = try await value(newContacts, uid, requests) }
        try await one.close()

        let other = try place.open()
        let few = SyncScope<ContactEntity>(
            "few", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
        try await other.dataSource(ContactDataSource.self)
            .apply(.list(contactList(0..<5)), to: few, requestedAt: place.clock.value)
        try await other.close()

        let again = try place.open()
        let sameVersion = try again.dataSource(NewDataSource.self)
        for uid in ["uid-1", "uid-4"] { #expect(try await value(sameVersion, uid, requests) != nil) }
        #expect(requests.value == ["uid-1", "uid-4", "uid-1"])
        try await again.close()
    }

    /// A later list keeps older answers of another member from its objects, and from no others.
    @Test(arguments: ScopeStoreKind.shared, [("uid-1", 2), ("uid-2", 1)])
    func theObjectsOfALaterListAreFound(_ kind: ScopeStoreKind, _ load: (uid: String, count: Int)) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let mine = try one.dataSource(NewDataSource.self)
        let theirs = try other.dataSource(NewDataSource.self)
        // The list sets `syncFlag`, so the later list changes no value.
        try await mine.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3)) }
        let requests = Shared(0)
        _ = try await mine.value(where: \.uid, equals: load.uid, as: ContactValue.self, maxAge: .zero) { uid in
            requests.update { $0 += 1 }
            guard requests.value == 1 else { return nil }
            place.pass(1)
            let some = SyncScope("some", ContactEntity.self, where: \.uid <= "uid-1")
            try await theirs.load(some, maxAge: .zero) { _ in .list(contactList(0..<2)) }
            return ContactData(uid: uid, name: "older")
        }
        #expect(requests.value == load.count)
        try await one.close()
        try await other.close()
    }

    @Test(arguments: ["", "uid <= \"uid-1\"", "mapping == \"3: \"", "mapping > 2"], [0, 1, -12])
    func theFormatOfAScopeHasNoVersion(_ format: String, _ version: Int) {
        let stored = StoredScope.predicate(format, mappingVersion: version)
        #expect(StoredScope(name: "", entity: "", predicate: stored).format == format)
    }
}
