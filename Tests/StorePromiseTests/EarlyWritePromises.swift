import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Rows of a save that are written while it is still being made.
struct EarlyWritePromises {
    /// They are in no read until the save is committed.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func rowsWrittenEarlyAreReadAfterTheCommitOnly(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let (all, earlyWrite) = (rows(1...1_600), EarlyWrite())
            #expect(store.write(items(all.prefix(300)), for: earlyWrite))
            #expect(store.write(items(all[300..<1_500]), for: earlyWrite))
            #expect(store.earlyRows == 1_500)
            #expect(try store.count() == 0)
            try store.write([.of(insert: all, number: 1, earlyWrite)])
            #expect(try store.keys() == Array(1...1_600))
            #expect(store.earlyRows == 0)
            #expect(!earlyWrite.wasWasteful)
        }
    }

    /// Rows may still be on their way when the save is made.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func rowsAfterTheEndOfAnEarlyWriteAreNotWrittenEarly(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let (all, earlyWrite) = (rows(1...400), EarlyWrite())
            #expect(store.write(items(all.prefix(300)), for: earlyWrite))
            earlyWrite.end()
            #expect(earlyWrite.isOpen)
            try store.write([.of(insert: all, number: 1, earlyWrite)])
            #expect(!earlyWrite.isOpen)
            #expect(!earlyWrite.wasWasteful)
            #expect(!store.write(items(401...500), for: earlyWrite))
            let late = EarlyWrite()
            late.end()
            #expect(!store.write(items(401...500), for: late))
            #expect(store.earlyRows == 0)
            #expect(try store.count() == 400)
        }
    }

    @Test(arguments: TestedStore.takingEarlyWrites)
    func aRowThatWasEditedAfterwardsIsWrittenAgain(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            var all = rows(1...20)
            let earlyWrite = EarlyWrite()
            #expect(store.write(items(all[...]), for: earlyWrite))
            all[4].row.setText("edited", TestModel.text)
            // Its unique value goes to another row.
            all[7].row.setText("code", TestModel.code)
            all[8].row.setText("code 8", TestModel.code)
            try store.write([.of(insert: all, number: 1, earlyWrite)])
            #expect(try store.keys() == Array(1...20))
            #expect(try store.row(5)?.text(TestModel.text) == "edited")
            #expect(try store.row(9)?.text(TestModel.code) == "code 8")
            #expect(earlyWrite.wasWasteful)
        }
    }

    @Test(arguments: TestedStore.takingEarlyWrites)
    func aRowThatWasDeletedAgainIsTakenOut(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let earlyWrite = EarlyWrite()
            let subItem = RowSnapshot(columnCount: TestModel.layout.entities[1].columns.count)
            #expect(store.write(items(1...20), for: earlyWrite))
            #expect(store.write(NewRows(entity: 1, [StoredRow(key: 21, row: subItem)]), for: earlyWrite))
            try store.write([.of(insert: rows(3...7) + rows(12...30).dropFirst(5), number: 1, earlyWrite)])
            #expect(try store.keys() == Array(3...7) + Array(17...30))
            #expect(try store.count(RowQuery(entity: 1)) == 0)
        }
    }

    /// The order of a save's rows is not that of their keys where an app gives keys, as drafts do.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func rowsInAnyOrderAreWrittenOnce(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let (all, earlyWrite) = (rows(1...9), EarlyWrite())
            let early = [all[4], all[0], all[8], all[2]]
            #expect(store.write(NewRows(entity: TestModel.item, early), for: earlyWrite))
            try store.write([.of(insert: [all[0], all[8], all[1], all[4], all[2]], number: 1, earlyWrite)])
            #expect(try store.keys() == [1, 2, 3, 5, 9])
        }
    }

    /// Whoever saves meanwhile goes first; the save is then written as if it had no early write.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func anotherSaveRollsItBack(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let earlyWrite = EarlyWrite()
            #expect(store.write(items(1...20), for: earlyWrite))
            // It takes a unique value of a row that was written early.
            try store.write([.of(insert: [StoredRow(key: 50, row: TestModel.row(code: "code 3"))], number: 1)])
            #expect(try store.keys() == [50])
            #expect(earlyWrite.hasEnded)
            #expect(!store.write(items(21...22), for: earlyWrite))
            #expect(code { try store.write([.of(insert: rows(1...30), number: 2, earlyWrite)]) } == .uniquenessViolated)
            #expect(try store.keys() == [50])
            try store.write([.of(insert: rows(4...30), number: 3, earlyWrite)])
            #expect(try store.count() == 28)
        }
    }

    /// A group of several saves is written as a whole.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func aGroupIsNotWrittenEarly(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let earlyWrite = EarlyWrite()
            #expect(store.write(items(1...20), for: earlyWrite))
            try store.write([.of(insert: rows(1...25), number: 1, earlyWrite), .of(insert: rows(31...33), number: 2)])
            #expect(try store.count() == 28)
        }
    }

    /// Two large saves at once: the first one has the transaction.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func onlyOneSaveIsWrittenEarly(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let (one, other) = (EarlyWrite(), EarlyWrite())
            #expect(store.write(items(1...20), for: one))
            #expect(!store.write(items(21...40), for: other))
            try store.write([.of(insert: rows(1...20), number: 1, one)])
            try store.write([.of(insert: rows(21...40), number: 2, other)])
            #expect(try store.count() == 40)
            // Each has one: the first one has ended.
            let third = EarlyWrite()
            #expect(store.write(items(41...60), for: third))
            try store.write([.of(insert: rows(41...60), number: 3, third)])
            #expect(try store.count() == 60)
        }
    }

    /// Rows that are inserted before others are deleted may have their unique values for a moment. That is no error of the save.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func aUniqueValueOfADeletedRowIsTakenOver(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            try store.write([.of(insert: rows(1...3), number: 1)])
            let new = StoredRow(key: 10, row: TestModel.row(code: "code 2"))
            let earlyWrite = EarlyWrite()
            let isWritten = store.write(NewRows(entity: TestModel.item, [new]), for: earlyWrite)
            #expect(earlyWrite.hasEnded != isWritten)
            try store.write([.of(insert: [new], delete: [rows(2...2)[0]], number: 2, earlyWrite)])
            #expect(try store.keys() == [1, 3, 10])
        }
    }

    /// A unique value that is there already refuses the save, and nothing of it is left.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func aSaveThatIsRefusedLeavesNothing(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            try store.write([.of(insert: rows(7...7), number: 1)])
            let earlyWrite = EarlyWrite()
            let all = (101...300).map { StoredRow(key: $0, row: TestModel.row(code: "code \($0 - 100)")) }
            _ = store.write(NewRows(entity: TestModel.item, all), for: earlyWrite)
            #expect(code { try store.write([.of(insert: all, number: 2, earlyWrite)]) } == .uniquenessViolated)
            #expect(try store.keys() == [7])
            #expect(store.earlyRows == 0)
        }
    }

    @Test(arguments: TestedStore.takingEarlyWrites)
    func anAbandonedEarlyWriteLeavesNothing(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let earlyWrite = EarlyWrite()
            #expect(store.write(items(1...20), for: earlyWrite))
            store.abandon(EarlyWrite())
            #expect(store.earlyRows == 20)
            store.abandon(earlyWrite)
            #expect(store.earlyRows == 0)
            #expect(try store.count() == 0)
            try store.write([.of(insert: rows(1...20), number: 1)])
            #expect(try store.count() == 20)
        }
    }

    /// A reset, and the end, do not wait for a save that is being made.
    @Test(arguments: TestedStore.takingEarlyWrites)
    func aResetAndTheEndRollItBack(kind: TestedStore) throws {
        try kind.withEarlyWriteStore { store in
            let earlyWrite = EarlyWrite()
            #expect(store.write(items(1...20), for: earlyWrite))
            _ = try store.reset {}
            #expect(earlyWrite.hasEnded)
            #expect(try store.count() == 0)
            try store.write([.of(insert: rows(31...33), number: 1)])
            #expect(store.write(items(41...60), for: EarlyWrite()))
        }
    }

    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "code \($0)")) }
    }

    private func items(_ keys: ClosedRange<Int64>) -> NewRows { items(rows(keys)[...]) }
    private func items(_ rows: ArraySlice<StoredRow>) -> NewRows { NewRows(entity: TestModel.item, Array(rows)) }
}

extension TestedStore {
    /// Those that take rows of a save while it is still being made.
    fileprivate static let takingEarlyWrites = [.sqlite, .sharedSQLite] + onServers

    fileprivate func withEarlyWriteStore(_ body: (any EarlyWriteStore) throws -> Void) throws {
        try withStore { store in try body(#require(store as? any EarlyWriteStore)) }
    }
}

extension ChangeSet {
    fileprivate static func of(
        insert: [StoredRow], delete: [StoredRow] = [], number: Int64, _ earlyWrite: EarlyWrite
    ) -> ChangeSet {
        var set = ChangeSet.of(insert: insert, delete: delete, number: number)
        set.earlyWrite = earlyWrite
        return set
    }
}
