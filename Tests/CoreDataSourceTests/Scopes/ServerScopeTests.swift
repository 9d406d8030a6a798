#if PostgreSQL
import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Scopes in stores on a server that an earlier release has made, without a table for scopes.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)), .timeLimit(.minutes(30)))
struct ServerScopeTests {
    private func store(_ contacts: ContactDataSource) async throws {
        try await contacts.apply(.list(contactList(0..<3), entityTag: "1"), to: .contacts, requestedAt: Date())
    }

    @Test func aStoreOfAnEarlierReleaseGetsTheTableWhenItsOwnerOpensIt() async throws {
        let place = try SharedPlace(.postgreSQL)
        try await place.open().close()
        let early = try place.open()
        try place.run("DROP TABLE _scopes")
        let old = try early.dataSource(ContactDataSource.self)
        try await old.add(contactList(0..<3))
        try await old.delete(contactList(0..<1))
        // A load without a scope needs no table.
        let loaded = try await old.value(where: \.uid, equals: "uid-7", as: ContactValue.self) {
            ContactData(uid: $0, name: "loaded")
        }
        #expect(loaded?.name == "loaded")
        expectError(.scopesNotKept) { try old.freshness(of: .contacts) }
        await expectError(.scopesNotKept) { try await self.store(old) }
        let late = try place.open()
        try await store(try late.dataSource(ContactDataSource.self))
        // So does the member that was there before.
        #expect(try old.freshness(of: .contacts).entityTag == "1")
        try await old.delete(contactList(0..<1))
        #expect(try old.freshness(of: .contacts).entityTag == nil)
        try await early.close()
        try await late.close()
    }

    @Test func aTextWithANullCharacterIsRefusedAlone() async throws {
        let place = try ScopePlace(.server)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        try await store(contacts)
        await expectError(.validationFailed) {
            try await contacts.apply(.list(contactList(0..<9), entityTag: "\0"), to: .contacts, requestedAt: Date())
        }
        #expect(try contacts.freshness(of: SyncScope<ContactEntity>("\0")).requestedAt == nil)
        #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        #expect(try contacts.count(ContactEntity.self) == 3)
        try await container.close()
    }

    /// A save that changes no rows is no save for others.
    @Test func anAnswerWithoutChangesIsNotInTheFeed() async throws {
        let place = try ScopePlace(.server)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        try await store(contacts)
        let stored = try contacts.freshness(of: .contacts)
        let count = "DO $$ BEGIN ASSERT (SELECT count(*) FROM _changes WHERE position > 0) = 1; END $$"
        try place.run(count)
        try await store(contacts)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
        await expectThrows(Poison.self) { try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() } }
        try place.run(count)
        #expect(try contacts.freshness(of: .contacts).entityTag == stored.entityTag)
        // Saves after it have their places.
        try await contacts.add(contactList(7..<9))
        #expect(try contacts.count(ContactEntity.self) == 5)
        try await container.close()
    }
}
#endif
