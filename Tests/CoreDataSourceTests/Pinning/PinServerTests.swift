#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// What a server says about the transaction of a pinned main context.
@MainActor
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct PinServerTests {
    /// The number of the server process whose transaction keeps the state of a pin.
    private func keeper(_ session: PostgreSQLSession) throws -> String {
        let rows = try session.run(
            """
            SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' \
            AND query LIKE '%pg_export_snapshot%'
            """)
        #expect(rows.count == 1)
        return try #require(rows.first?.first.flatMap { $0 })
    }

    /// Until the pin ends, the server keeps the old versions of all changed rows.
    @Test func aLongPinIsNamedAsAnOldTransaction() async throws {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        var options = PostgreSQLStore.Options(
            connection: server.connectionString(database: database), name: "store", layout: ModelLayout(.contacts),
            identity: StoreIdentity(.contacts))
        options.oldTransactionAge = .milliseconds(1)
        let store = try PostgreSQLStore.open(options)
        let container = PersistentContainer(options.layout, store, startup: store.startup)
        var failures = container.failures.makeAsyncIterator()
        try container.main.pin(for: .ample)
        let process = try keeper(server.session(database: database))
        // A transaction of the server itself can be the oldest one for a while. It is then reported first.
        while let failure = await failures.next() {
            let isPin = failure.error.message.contains("(process \(process) of ")
            if failure.error.code == .readerBlocksCheckpoint, isPin { break }
        }
        #expect(container.main.pinned != nil)
        container.main.unpin()
        try await container.close()
    }
}
#endif
