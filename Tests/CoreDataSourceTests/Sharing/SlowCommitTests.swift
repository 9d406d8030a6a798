#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// A commit may take longer than a holder may take to answer those who wait for its leases.
@MainActor
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct SlowCommitTests {
    @Test func aProcessWhoseCommitTakesLongKeepsItsLease() async throws {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        func open() throws -> (PersistentContainer, PostgreSQLStore) {
            let layout = ModelLayout(.contacts)
            var options = PostgreSQLStore.Options(
                connection: server.connectionString(database: database), name: "store", layout: layout,
                identity: StoreIdentity(.contacts))
            options.leaseTimes = .unhurried
            options.leaseTimes.answer = .seconds(1)
            let store = try PostgreSQLStore.open(options)
            return (PersistentContainer(layout, store, store.startup, .init()), store)
        }
        let (first, store) = try open()
        let (second, _) = try open()
        let (contacts, others) = (
            try first.dataSource(ContactDataSource.self), try second.dataSource(ContactDataSource.self)
        )
        try await contacts.add(contactList(0..<1))
        let blocker = try server.session(database: database)
        try blocker.run("SET coredatasource.member = 'on'; BEGIN; SELECT FROM \"store 1\".\"ContactEntity\" FOR UPDATE")
        async let saved: SaveReport = contacts.add(contactList(0..<1) { _ in "changed" })
        let session = try server.session(database: database)
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ContactEntity%'"
        while try session.run(waits) != [["1"]] { try await Task.sleep(for: .milliseconds(5)) }
        async let added: SaveReport = others.add(contactList(1..<2))
        while try store.leases().tickets.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        // Several times as long as an answer may take.
        try await Task.sleep(for: .seconds(4))
        #expect(try store.leases().leases.allSatisfy { $0.holder == store.member })
        try blocker.run("ROLLBACK")
        #expect(try await saved.updated == 1)
        #expect(try await added.inserted == 1)
        try await first.close()
        try await second.close()
        try server.dropDatabase(database)
    }
}
#endif
