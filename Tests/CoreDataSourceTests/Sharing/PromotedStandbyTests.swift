#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// A standby that lacks the newest commits takes the place of the server that had them.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)), .timeLimit(.minutes(30)))
struct PromotedStandbyTests {
    private let primary: PostgreSQLServer
    private let standby: PostgreSQLServer
    private let proxy: TCPProxy
    private let database: String

    init() throws {
        primary = try PostgreSQLServer()
        database = try primary.makeDatabase()
        standby = try PostgreSQLServer(standbyOf: primary)
        proxy = try TCPProxy(to: primary.port)
    }

    private func open(by proxy: TCPProxy? = nil) throws -> PersistentContainer {
        let layout = ModelLayout(.contacts)
        let connection = primary.connectionString(database: database, port: (proxy ?? self.proxy).port)
        let store = try PostgreSQLStore.open(
            PostgreSQLStore.Options(
                connection: connection, name: "store", layout: layout, identity: StoreIdentity(.contacts)))
        return PersistentContainer(layout, store, startup: store.startup, configuration: .init())
    }

    /// - Parameter first: What others do on the new server before the members of the test find it.
    private func failOver(_ first: () throws -> Void = {}) throws {
        primary.kill()
        try standby.promote()
        try first()
        proxy.redirect(to: standby.port)
    }

    /// What the server has, as another program sees it.
    private func rows(_ sql: String) throws -> [[String?]] {
        let session = try standby.session(database: database)
        try session.run("SET search_path = 'store 1'")
        return try session.run(sql)
    }

    /// Tries again what was refused because of the change of servers.
    private func add(_ values: [any Sendable], to source: DataSource<any Sendable>) async throws -> SaveReport {
        var refusals: [DataSourceError.Code] = []
        while true {
            do { return try await source.add(values) } catch let error as DataSourceError {
                refusals.append(error.code)
                let isExpected = [.storeUnavailable, .leaseLost, .saveRolledBack].contains(error.code)
                guard isExpected, refusals.count < 10 else { throw error }
            }
        }
    }

    /// The standby never got the key of the draft's object, and gives it to another object.
    @Test func aDraftWhoseKeysWereLostIsSavedWithOthers() async throws {
        let container = try open()
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        try standby.stopFollowing(primary)
        // More keys than were reserved at first.
        for _ in 0..<6000 { try contacts.draft(inserting: ContactEntity.self).discard() }
        let draft = try contacts.draft(inserting: ContactEntity.self)
        (draft.object.uid, draft.object.name) = ("draft", "drafted")
        let id = draft.object.objectID
        // Another process gets keys first.
        try failOver { _ = try rows("UPDATE _keys SET next = next + 100000") }
        #expect(try await add(contactList(3..<4), to: contacts).inserted == 1)
        try await draft.save()
        #expect(draft.object.objectID != id && draft.object.name == "drafted" && !draft.hasChanges)
        #expect(try contacts.main.count(ContactEntity.self) == 5)
        let uids = try rows("SELECT uid FROM \"ContactEntity\" ORDER BY uid")
        #expect(uids.compactMap { $0[0] } == ["draft"] + contactList(0..<4).map(\.uid))
        try await container.close()
    }

    /// It was made under a lease that the standby never heard of. The member that has the lease there goes on first.
    @Test func aPendingSaveOverwritesNothingThatWasSavedSince() async throws {
        let theirProxy = try TCPProxy(to: primary.port)
        let (one, other) = (try open(), try open(by: theirProxy))
        let (contacts, theirs) = (
            try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self)
        )
        try await theirs.add(contactList(0..<2))
        try standby.stopFollowing(primary)
        let uid = contactList(0..<1)[0].uid
        let primary = primary
        try await contacts.perform(waitFor: .main) { context in
            try context.first(ContactEntity.self, where: \.uid, equals: uid)?.name = "pending"
            primary.kill()
        }
        #expect(one.pendingSaveCount == 1)
        try standby.promote()
        theirProxy.redirect(to: standby.port)
        _ = try await add(contactList(0..<1) { _ in "theirs" }, to: theirs)
        proxy.redirect(to: standby.port)
        // It takes the lease once more, maybe before the pending save is tried again.
        #expect(try await add(contactList(2..<3), to: contacts).inserted == 1)
        try? await one.flush()
        #expect(try rows("SELECT name FROM \"ContactEntity\" WHERE uid = '\(uid)'") == [["theirs"]])
        #expect(try contacts.main.first(ContactEntity.self, where: \.uid == uid)?.name == "theirs")
        try await other.close()
        try await one.close()
    }

    @Test func allMembersReloadAndNoKeyIsGivenTwice() async throws {
        let (one, other) = (try open(), try open())
        let contacts = try one.dataSource(ContactDataSource.self)
        let groups = try other.dataSource(GroupDataSource.self)
        let followed = try other.dataSource(ContactDataSource.self)
        var updates = followed.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)]))
            .makeAsyncIterator()
        try await contacts.add(contactList(0..<3))
        try await groups.add((0..<3).map { GroupData(gid: "\($0)", name: "") })

        try standby.stopFollowing(primary)
        // More than were reserved at first, so that reservations are lost too.
        try await contacts.add(contactList(3..<6000))
        try await groups.add((3..<6000).map { GroupData(gid: "\($0)", name: "") })
        // The right to write contacts is handed over, and the standby never gets that.
        try await followed.add(contactList(6000..<6001))
        while let update = await updates.next(), update.snapshot.count < 6001 {}

        try failOver()
        // The list shows what is left before anybody saves.
        while let update = await updates.next(), update.snapshot.count > 3 {}
        #expect(try await add((20..<30).map { GroupData(gid: "\($0)", name: "") }, to: groups).inserted == 10)
        #expect(try await add(contactList(10..<11), to: followed).inserted == 1)
        // What this process had inserted before, and what is new.
        #expect(try await add(contactList(0..<10), to: contacts).inserted == 7)
        while let update = await updates.next(), update.snapshot.count < 11 {}
        #expect(try contacts.fetch(ContactEntity.self).count == 11)
        #expect(try rows("SELECT count(*) FROM \"ContactEntity\"") == [["11"]])
        #expect(try rows("SELECT count(*) FROM \"GroupEntity\"") == [["13"]])
        for _ in 0..<3 {
            // Each of them uses up what it had reserved before.
            let count = try groups.count(GroupEntity.self)
            try await groups.add((6000 + count..<6000 + count + 5000).map { GroupData(gid: "\($0)", name: "") })
            try await contacts.add(contactList(6000 + count..<6000 + count + 5000))
        }
        let all = "(SELECT _key FROM \"ContactEntity\" UNION ALL SELECT _key FROM \"GroupEntity\") rows"
        #expect(try rows("SELECT count(*) - count(DISTINCT _key) FROM \(all)") == [["0"]])
        try await other.close()
        try await one.close()
    }
}
#endif
