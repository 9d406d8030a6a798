import ErrorExpectations
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What is in the file of a save whose rows are written while it is still being made.
struct EarlyWriteTests {
    @Test func rowsWrittenEarlyAreInTheFileAfterTheCommitOnly() throws {
        try withSQLiteStore { store, folder in
            let earlyWrite = EarlyWrite()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...300)), for: earlyWrite))
            #expect(store.earlyRows == 300)
            #expect(try RawDatabase(folder).run("SELECT count(*) FROM Item") == ["0"])
            let before = store.counters.rowsWritten
            try store.write([.of(insert: rows(1...400), number: 1, earlyWrite)])
            #expect(try store.keys() == Array(1...400))
            #expect(store.counters.rowsWritten - before == 400)
            #expect(store.earlyRows == 0)
        }
    }

    /// A row that was handed over is not written twice: only what is new, or other than it was, runs a statement.
    @Test func theCommitWritesOnlyWhatIsNotThere() throws {
        try withSQLiteStore { store, _ in
            let all = rows(1...400)
            let earlyWrite = EarlyWrite()
            #expect(store.write(NewRows(entity: TestModel.item, Array(all.prefix(300))), for: earlyWrite))
            let before = store.counters.statementsRun
            try store.write([.of(insert: all, number: 1, earlyWrite)])
            // One a row, those that begin and end the transaction, and one for the bound of keys.
            #expect(store.counters.statementsRun - before <= 400 + 3)
            #expect(store.counters.statementsRun - before >= 400)
            #expect(store.counters.rowsWritten == 400)
            #expect(!earlyWrite.wasWasteful)
        }
    }

    @Test func anAbandonedEarlyWriteLeavesNothing() throws {
        try withSQLiteStore { store, folder in
            let raw = try RawDatabase(folder)
            let earlyWrite = EarlyWrite()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), for: earlyWrite))
            expectThrows(RawDatabase.Failure.self) { try raw.run("BEGIN IMMEDIATE") }
            store.abandon(EarlyWrite())
            expectThrows(RawDatabase.Failure.self) { try raw.run("BEGIN IMMEDIATE") }
            store.abandon(earlyWrite)
            try raw.run("BEGIN IMMEDIATE; ")
            try raw.run("COMMIT")
            #expect(try store.count() == 0)
            #expect(!store.noticeOutsideWrites())
            // Copying the log is for a store without an open transaction.
            store.upkeep()
        }
    }

    /// Nobody waits for an attempt: it would wait for an hour here.
    @Test(.timeLimit(.minutes(30))) func anEarlyWriteDoesNotWaitForAnotherProgram() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.lockTimeout = .seconds(3_600)
        let store = try SQLiteStore.open(options)
        let other = try RawDatabase(folder)
        try other.run("BEGIN IMMEDIATE; ")
        let earlyWrite = EarlyWrite()
        #expect(!store.write(NewRows(entity: TestModel.item, rows(1...20)), for: earlyWrite))
        #expect(earlyWrite.hasEnded)
        try other.run("COMMIT")
        try store.write([.of(insert: rows(1...20), number: 1, earlyWrite)])
        #expect(try store.count() == 20)
        store.close()
    }

    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "code \($0)")) }
    }

    private func withSQLiteStore(_ body: (SQLiteStore, TemporaryFolder) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try body(store, folder)
        store.close()
        try checkIntegrity(folder)
    }
}

extension ChangeSet {
    fileprivate static func of(
        insert: [StoredRow], number: Int64, _ earlyWrite: EarlyWrite
    ) -> ChangeSet {
        var set = ChangeSet.of(insert: insert, number: number)
        set.earlyWrite = earlyWrite
        return set
    }
}
