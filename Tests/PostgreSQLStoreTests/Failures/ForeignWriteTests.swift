#if PostgreSQL
import ErrorExpectations
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Another program writes to the tables of a store.
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it.")
)
struct ForeignWriteTests {
    /// What the page says is unknown: the names of entities, or all.
    private func unknown(_ page: FeedPage) -> [Set<Int>?] {
        page.events.compactMap { event in
            if case .unknown(let entities) = event { .some(entities) } else { nil }
        }
    }

    @Test func aForeignWriteIsReportedAsAnUnknownChange() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1)])
        let start = try store.position()
        try place.run("UPDATE \"Item\" SET _key = 5")
        #expect(try unknown(store.readFeed(after: start)) == [[TestModel.item]])
        #expect(try store.keys() == [5])
        try place.run("TRUNCATE \"Item\"")
        #expect(try unknown(store.readFeed(after: start + 1)) == [[TestModel.item]])
        store.close()
    }

    /// It does not see the position of a save that was made since it began.
    @Test func aTransactionOfOneStateCanBeTriedAgain() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1)])
        let session = try place.server.session(database: place.database)
        func edit(_ meanwhile: () throws -> Void) throws {
            try session.run(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SET search_path = 'store 1'; SELECT * FROM \"Item\"")
            try meanwhile()
            try session.run("DELETE FROM \"Item\" WHERE _key = 1; COMMIT")
        }
        let error = expectThrows((any Error).self) { try edit { try store.write([FailurePlace.save(2)]) } }
        #expect(error.map { "\($0)" }?.contains("could not serialize access") == true)
        try session.run("ROLLBACK")
        #expect(try place.keys() == [1, 2])
        try edit {}
        #expect(try place.keys() == [2])
        let page = try store.readFeed(after: store.position())
        #expect(page.events.isEmpty)
        store.close()
    }

    /// Nobody has to save for it.
    @Test func oldForeignWritesAreForgotten() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1)])
        let start = try store.position()
        try place.run(
            "DO 'BEGIN FOR i IN 1..5000 LOOP UPDATE \"Item\" SET _key = 1; COMMIT; END LOOP; END'")
        #expect(
            try place.run(
                "SELECT count(*) BETWEEN 4096 AND 4160, min(position) = (SELECT lowest FROM _feed) FROM _changes")
                == [["t", "t"]])
        let page = try store.readFeed(after: start)
        #expect(page.position == start + 5000)
        #expect(unknown(page) == [nil])
        #expect(try store.readFeed(after: page.position).events.isEmpty)
        store.close()
    }
}
#endif
