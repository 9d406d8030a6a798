#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A program has a transaction open for long, such as a backup: the server keeps every version of each row since it began.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct OldTransactionTests {
    /// The pages that the server has looked at in all tables and their indexes.
    private func pages(_ place: FailurePlace) throws -> Int {
        let sum = "sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::bigint"
        let found = try place.run("SELECT \(sum) FROM pg_statio_user_tables")
        return try #require(found.first?.first.flatMap { $0.flatMap { Int($0) } })
    }

    /// Saves so many new rows, edits each, and returns how many pages that took. The server counts them when the session has ended.
    private func save(_ count: Int64, after first: Int64, _ place: FailurePlace) throws -> Int {
        let before = try pages(place)
        let store = try place.open(isDirect: true)
        let layout = TestModel.layout.entities[TestModel.item]
        for key in first + 1...first + count {
            try store.write([FailurePlace.save(key)])
            let (row, edited) = (TestModel.row(code: "\(key)"), TestModel.row(code: "edited \(key)"))
            try store.write([.of(update: [.of(key, row, edited, layout)])])
        }
        store.close()
        let inserted = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'Item'"
        while try place.run(inserted) != [["\(first + count)"]] {}
        // All sessions of the store.
        while try place.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2") != [["0"]] {}
        return try pages(place) - before
    }

    /// Rows that each save changes had to be looked for among all their old versions.
    @Test func aSaveReadsNoMorePagesDuringALongTransaction() throws {
        let place = try FailurePlace(PostgreSQLServer())
        // On a slow machine the server would clean up meanwhile, and count the pages that it looks at.
        try place.server.session().run("ALTER SYSTEM SET autovacuum = off")
        try place.server.session().run("SELECT pg_reload_conf()")
        try place.open(isDirect: true).close()
        let session = try place.server.session(database: place.database)
        try session.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
        let first = try save(300, after: 0, place)
        _ = try save(4000, after: 300, place)
        let last = try save(300, after: 4300, place)
        #expect(Double(last) <= 1.5 * Double(first), "\(first) pages for the first saves, \(last) for the last")
        try session.run("ROLLBACK")
    }

    @Test func anOldTransactionIsNamedInAFailure() async throws {
        let place = try FailurePlace()
        let session = try place.server.session(database: place.database)
        try session.run("SET application_name = 'backup tool'; BEGIN; CREATE TABLE public.other (id integer)")
        var options = place.options(isDirect: true)
        options.oldTransactionAge = .milliseconds(1)
        let store = try PostgreSQLStore.open(options)
        let (failures, reported) = AsyncStream<DataSourceError>.makeStream()
        store.report(to: { reported.yield($0) })
        for await failure in failures where failure.code == .readerBlocksCheckpoint {
            if failure.message.contains("backup tool") { break }
        }
        try session.run("ROLLBACK")
        store.close()
    }
}
#endif
