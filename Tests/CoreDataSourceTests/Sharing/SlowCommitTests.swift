#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// A commit may take longer than a holder may take to answer those who wait for its leases.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct SlowCommitTests {
    /// As long as a session has this lock, each update of a contact works on the server.
    private static let lock = 7_301

    private func makeUpdatesSlow(_ session: PostgreSQLSession) throws {
        try session.run(
            """
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Self.lock)) LOOP
            PERFORM pg_sleep(0.05); END LOOP; RETURN NEW; END $$;
            CREATE TRIGGER slow BEFORE UPDATE ON "store 1"."ContactEntity" FOR EACH ROW EXECUTE FUNCTION slow();
            SELECT pg_advisory_lock(\(Self.lock))
            """)
    }

    /// Waits until an update works on the server.
    private func waitForUpdate(_ session: PostgreSQLSession) async throws {
        let works =
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        while try session.run(works) != [["t"]] { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// The holder has a minute for its answer, and takes a quarter of it. Nothing else depends on the time: the leases are decided
    /// as if the commit took a day.
    @Test func aProcessWhoseCommitTakesLongKeepsItsLease() async throws {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        func open() throws -> (PersistentContainer, PostgreSQLStore) {
            let layout = ModelLayout(.contacts)
            var options = PostgreSQLStore.Options(
                connection: server.connectionString(database: database), name: "store", layout: layout,
                identity: StoreIdentity(.contacts))
            options.leaseTimes = .patient
            options.responseTimeout = .seconds(600)
            let store = try PostgreSQLStore.open(options)
            return (PersistentContainer(layout, store, startup: store.startup, configuration: .init()), store)
        }
        let (first, store) = try open()
        let (second, _) = try open()
        let contacts = try await first.dataSource(ContactDataSource.self)
        let others = try await second.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        let session = try server.session(database: database)
        try makeUpdatesSlow(session)
        async let saved: SaveReport = contacts.add(contactList(0..<1) { _ in "changed" })
        // Until then the holder could hand its lease over.
        try await waitForUpdate(session)
        async let added: SaveReport = others.add(contactList(1..<2))
        var (isKept, isAnswered) = (true, false)
        while isKept, !isAnswered {
            try await Task.sleep(for: .milliseconds(20))
            let table = try store.leases()
            isKept = table.leases.allSatisfy { $0.holder == store.member }
            isAnswered = table.tickets.contains(where: \.isAnswered)
        }
        let snapshot = try store.leaseSnapshot()
        var later = snapshot.arbiter
        later.grantLeases(at: snapshot.now + 86_400_000, answerTimeout: 60_000) { _ in true }
        #expect(later == snapshot.arbiter)
        try session.run("SELECT pg_advisory_unlock(\(Self.lock))")
        #expect(isKept)
        #expect(try await saved.updated == 1)
        #expect(try await added.inserted == 1)
        try await first.close()
        try await second.close()
        try server.dropDatabase(database)
    }
}
#endif
