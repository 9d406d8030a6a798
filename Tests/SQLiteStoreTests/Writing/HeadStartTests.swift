import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Rows of a save that are written while it is still being made.
struct HeadStartTests {
    /// They are in no read, and not in the file for anybody else, until the save is committed.
    @Test func rowsWrittenAheadAreReadAfterTheCommitOnly() throws {
        try withSQLiteStore { store, folder in
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...300)), ahead: headStart))
            #expect(store.rowsAhead == 300)
            #expect(try store.count() == 0)
            #expect(try RawDatabase(folder).run("SELECT count(*) FROM Item") == ["0"])
            let before = store.counters.rowsWritten
            try store.write([.of(insert: rows(1...400), number: 1, headStart)])
            #expect(try store.keys() == Array(1...400))
            #expect(store.counters.rowsWritten - before == 400)
            #expect(store.rowsAhead == 0)
        }
    }

    /// Rows may still be on their way when the save is made.
    @Test func whatComesAfterItsEndIsNotWrittenAhead() throws {
        try withSQLiteStore { store, folder in
            let (all, headStart) = (rows(1...400), HeadStart())
            #expect(store.write(NewRows(entity: TestModel.item, Array(all.prefix(300))), ahead: headStart))
            headStart.end()
            #expect(headStart.isOpen)
            try store.write([.of(insert: all, number: 1, headStart)])
            #expect(!headStart.isOpen)
            #expect(!headStart.wasInVain)
            #expect(!store.write(NewRows(entity: TestModel.item, rows(401...500)), ahead: headStart))
            let late = HeadStart()
            late.end()
            #expect(!store.write(NewRows(entity: TestModel.item, rows(401...500)), ahead: late))
            try RawDatabase(folder).run("BEGIN IMMEDIATE; ")
            #expect(store.rowsAhead == 0)
        }
    }

    /// A row that was handed over is not written twice: only what is new, or other than it was, runs a statement.
    @Test func theCommitWritesOnlyWhatIsNotThere() throws {
        try withSQLiteStore { store, _ in
            let all = rows(1...400)
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, Array(all.prefix(300))), ahead: headStart))
            let before = store.counters.statementsRun
            try store.write([.of(insert: all, number: 1, headStart)])
            // One a row, those that begin and end the transaction, and one for the bound of keys.
            #expect(store.counters.statementsRun - before <= 400 + 3)
            #expect(store.counters.statementsRun - before >= 400)
            #expect(store.counters.rowsWritten == 400)
            #expect(!headStart.wasInVain)
        }
    }

    @Test func aRowThatWasEditedAfterwardsIsWrittenAgain() throws {
        try withSQLiteStore { store, _ in
            var all = rows(1...20)
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, all), ahead: headStart))
            all[4].row.setText("edited", TestModel.text)
            // Its unique value goes to another row.
            all[7].row.setText("code", TestModel.code)
            all[8].row.setText("code 8", TestModel.code)
            try store.write([.of(insert: all, number: 1, headStart)])
            #expect(try store.keys() == Array(1...20))
            #expect(try store.row(5)?.text(TestModel.text) == "edited")
            #expect(try store.row(9)?.text(TestModel.code) == "code 8")
            #expect(headStart.wasInVain)
        }
    }

    @Test func aRowThatWasDeletedAgainIsTakenOut() throws {
        try withSQLiteStore { store, _ in
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
            #expect(store.write(NewRows(entity: 1, [StoredRow(key: 21, row: subItem)]), ahead: headStart))
            try store.write([.of(insert: rows(3...7) + rows(12...30).dropFirst(5), number: 1, headStart)])
            #expect(try store.keys() == Array(3...7) + Array(17...30))
            #expect(try store.count(RowQuery(entity: 1)) == 0)
        }
    }

    /// The order of a save's rows is not that of their keys where an app gives keys, as drafts do.
    @Test func rowsInAnyOrderAreWrittenOnce() throws {
        try withSQLiteStore { store, _ in
            let all = rows(1...9)
            let headStart = HeadStart()
            let early = [all[4], all[0], all[8], all[2]]
            #expect(store.write(NewRows(entity: TestModel.item, early), ahead: headStart))
            try store.write([.of(insert: [all[0], all[8], all[1], all[4], all[2]], number: 1, headStart)])
            #expect(try store.keys() == [1, 2, 3, 5, 9])
        }
    }

    /// Whoever saves meanwhile goes first; the save is then written as if it had no head start.
    @Test func anotherSaveRollsItBack() throws {
        try withSQLiteStore { store, _ in
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
            // It takes a unique value of a row that was written ahead.
            try store.write([.of(insert: [StoredRow(key: 50, row: TestModel.row(code: "code 3"))], number: 1)])
            #expect(try store.keys() == [50])
            #expect(headStart.isOver)
            #expect(!store.write(NewRows(entity: TestModel.item, rows(21...22)), ahead: headStart))
            #expect(code { try store.write([.of(insert: rows(1...30), number: 2, headStart)]) } == .uniquenessViolated)
            #expect(try store.keys() == [50])
            try store.write([.of(insert: rows(4...30), number: 3, headStart)])
            #expect(try store.count() == 28)
        }
    }

    /// A group of several saves is written as a whole.
    @Test func aGroupHasNoHeadStart() throws {
        try withSQLiteStore { store, _ in
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
            try store.write([.of(insert: rows(1...25), number: 1, headStart), .of(insert: rows(31...33), number: 2)])
            #expect(try store.count() == 28)
        }
    }

    /// Two large saves at once: the first one has the transaction.
    @Test func onlyOneSaveHasAHeadStart() throws {
        try withSQLiteStore { store, _ in
            let (one, other) = (HeadStart(), HeadStart())
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: one))
            #expect(!store.write(NewRows(entity: TestModel.item, rows(21...40)), ahead: other))
            try store.write([.of(insert: rows(1...20), number: 1, one)])
            try store.write([.of(insert: rows(21...40), number: 2, other)])
            #expect(try store.count() == 40)
        }
    }

    /// Rows that are inserted before others are deleted may have their unique values for a moment. That is no error of the save.
    @Test func aUniqueValueOfADeletedRowIsTakenOver() throws {
        try withSQLiteStore { store, _ in
            try store.write([.of(insert: rows(1...3), number: 1)])
            let new = StoredRow(key: 10, row: TestModel.row(code: "code 2"))
            let headStart = HeadStart()
            #expect(!store.write(NewRows(entity: TestModel.item, [new]), ahead: headStart))
            #expect(headStart.isOver)
            try store.write([.of(insert: [new], delete: [rows(2...2)[0]], number: 2, headStart)])
            #expect(try store.keys() == [1, 3, 10])
        }
    }

    @Test func whatIsAbandonedLeavesNothing() throws {
        try withSQLiteStore { store, folder in
            let raw = try RawDatabase(folder)
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
            #expect(throws: RawDatabase.Failure.self) { try raw.run("BEGIN IMMEDIATE") }
            store.abandon(HeadStart())
            #expect(throws: RawDatabase.Failure.self) { try raw.run("BEGIN IMMEDIATE") }
            store.abandon(headStart)
            try raw.run("BEGIN IMMEDIATE; ")
            try raw.run("COMMIT")
            #expect(try store.count() == 0)
            #expect(!store.noticeOutsideWrites())
            // Copying the log is for a store without an open transaction.
            store.upkeep()
        }
    }

    /// Nobody waits for an attempt: it would wait for an hour here.
    @Test(.timeLimit(.minutes(1))) func itDoesNotWaitForAnotherProgram() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.patience = .seconds(3_600)
        let store = try SQLiteStore.open(options)
        let other = try RawDatabase(folder)
        try other.run("BEGIN IMMEDIATE; ")
        let headStart = HeadStart()
        #expect(!store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
        #expect(headStart.isOver)
        try other.run("COMMIT")
        try store.write([.of(insert: rows(1...20), number: 1, headStart)])
        #expect(try store.count() == 20)
        store.close()
    }

    /// A reset, and the end, do not wait for a save that is being made.
    @Test func aResetAndTheEndRollItBack() throws {
        try withSQLiteStore { store, _ in
            let headStart = HeadStart()
            #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), ahead: headStart))
            _ = try store.reset()
            #expect(headStart.isOver)
            #expect(try store.count() == 0)
            try store.write([.of(insert: rows(31...33), number: 1)])
            #expect(store.write(NewRows(entity: TestModel.item, rows(41...60)), ahead: HeadStart()))
        }
    }

    private var subItem: RowSnapshot { RowSnapshot(columnCount: TestModel.layout.entities[1].columns.count) }

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
        insert: [StoredRow], delete: [StoredRow] = [], number: Int64, _ headStart: HeadStart
    ) -> ChangeSet {
        var set = ChangeSet.of(insert: insert, delete: delete, number: number)
        set.headStart = headStart
        return set
    }
}
