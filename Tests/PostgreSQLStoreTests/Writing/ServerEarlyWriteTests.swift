#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A server that gets rows of a save while it is still being made.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ServerEarlyWriteTests {
    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "code \($0)")) }
    }

    private func items(_ keys: ClosedRange<Int64>) -> NewRows { NewRows(entity: TestModel.item, rows(keys)) }

    /// A save of the rows 1 to 2,000, of which those up to 1,500 are written early.
    private func writeEarly(_ store: PostgreSQLStore) -> ChangeSet {
        let (all, earlyWrite) = (rows(1...2_000), EarlyWrite())
        var set = ChangeSet.of(insert: all, number: 1)
        set.earlyWrite = earlyWrite
        for part in [all[..<200], all[200..<1_500]] {
            _ = store.write(NewRows(entity: TestModel.item, Array(part)), for: earlyWrite)
        }
        return set
    }

    @Test func rowsThatAreThereAreNotSentAgain() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        let traces = Traces()
        options.tracing = traces.tracing
        let store = try PostgreSQLStore.open(options)
        let set = writeEarly(store)
        #expect(store.earlyRows == 1_500)
        #expect(try place.keys() == [])
        let sent = (traces.all("INSERT INTO \"store 1\".\"Item\"") + traces.all("COPY")).map(\.rowCount)
        #expect(sent == [200, 1_300])
        traces.forget()
        try store.write([set])
        #expect(traces.all("INSERT INTO \"store 1\".\"Item\"").map(\.rowCount) == [500])
        #expect(traces.all("COPY").isEmpty && traces.all("DELETE FROM \"store 1\".\"Item\"").isEmpty)
        #expect(try place.keys() == Array(1...2_000))
        #expect(try store.readFeed(after: 0).position == 1)
        store.close()
    }

    @Test(
        arguments: [
            "SET LOCAL lock_timeout = '100ms'", "INSERT INTO \"store 1\".\"Item\"", "COPY",
            "SET LOCAL lock_timeout = 10000",
            "INSERT INTO \"store 1\".\"_saves\"", "INSERT INTO \"store 1\".\"_changes\"", "COMMIT",
        ], [false, true])
    func whereverTheConnectionIsCutTheSaveIsWrittenOnceOrNotAtAll(statement: String, isAfterwards: Bool) throws {
        let place = try FailurePlace()
        let store = try place.open()
        let start = try store.position()
        let cut = isAfterwards ? place.proxy.cutReply(to: statement) : place.proxy.cutBefore(statement)
        let set = writeEarly(store)
        let failure = code { try store.write([set]) }
        #expect(cut.isReached)
        #expect(failure == nil || failure == .storeUnavailable)
        #expect(try place.keys().count == (failure == nil ? 2_000 : 0))
        if failure != nil { try store.write([set]) }
        #expect(try place.keys() == Array(1...2_000))
        #expect(try store.position() == start + 1)
        store.close()
    }

    /// Keys are reserved and leases are taken over another connection.
    @Test func keysAndLeasesComeMeanwhile() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let set = writeEarly(store)
        #expect(try store.reserveKeys(10).count == 10)
        #expect(try store.takeLeases([TestModel.item], for: "a source").table.leases.map(\.source) == ["a source"])
        #expect(store.earlyRows == 1_500)
        try store.write([set])
        #expect(try place.keys().count == 2_000)
        store.close()
    }

    /// Somebody who has locked the table holds up the attempt, and nobody else.
    @Test func aTableThatIsLockedEndsIt() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let other = try place.server.session(database: place.database)
        try other.run("BEGIN")
        try other.run("LOCK TABLE \"store 1\".\"Item\" IN SHARE MODE")
        let earlyWrite = EarlyWrite()
        #expect(!store.write(items(1...20), for: earlyWrite))
        #expect(earlyWrite.hasEnded && !earlyWrite.isOpen)
        #expect(store.earlyRows == 0)
        try other.run("COMMIT")
        #expect(try store.count() == 0)
        try store.write([.of(insert: rows(1...20), number: 1)])
        #expect(try store.count() == 20)
        store.close()
    }

    /// Nothing is tried while the server is away, and a server that takes no more connections is no error.
    @Test func withoutAConnectionThereIsNone() throws {
        let place = try FailurePlace()
        let store = try place.open()
        place.proxy.refuseNewConnections()
        let refused = EarlyWrite()
        #expect(!store.write(items(1...20), for: refused))
        #expect(refused.hasEnded && !refused.isOpen)
        try store.write([.of(insert: rows(1...20), number: 1)])
        place.proxy.goOffline()
        #expect(code { try store.write([.of(insert: rows(31...40), number: 2)]) } == .storeUnavailable)
        #expect(!store.write(items(31...40), for: EarlyWrite()))
        place.proxy.goOnline()
        try store.write([.of(insert: rows(31...40), number: 2)])
        #expect(try place.keys().count == 30)
        store.close()
    }

    /// A process that is halted keeps unique values from nobody for long: the server ends its transaction.
    @Test func theRowsOfAHaltedProcessGoAway() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let set = writeEarly(store)
        #expect(store.earlyRows == 1_500)
        // It waits for the transaction.
        try place.run("INSERT INTO \"Item\" (_key, code) VALUES (5000, 'code 7')")
        #expect(try place.keys() == [5000])
        #expect(code { try store.write([set]) } == .uniquenessViolated)
        try place.run("DELETE FROM \"Item\"")
        try store.write([set])
        #expect(try place.keys().count == 2_000)
        store.close()
    }
}
#endif
