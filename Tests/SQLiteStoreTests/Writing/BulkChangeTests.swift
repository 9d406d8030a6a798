import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// Changes of every row that matches, which the store makes by itself.
struct BulkChangeTests {
    /// More than one statement changes, if the rows are looked for.
    private static let count: Int64 = 9_000

    private func withItems(
        _ count: Int64 = count, _ body: (SQLiteStore, TemporaryFolder) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: items(count))])
        try body(store, folder)
        store.close()
        try checkIntegrity(folder)
    }

    /// The integer is the key, the text its last digit.
    private func items(_ count: Int64) -> [StoredRow] {
        (1...count).map { key in
            StoredRow(
                key: key, row: TestModel.row(.integer(key), .real(Double(key)), .text("\(key % 10)"), .null, .null))
        }
    }

    /// The same rows by a predicate that SQLite cannot test by itself.
    private func foundEnding(in digit: Int) throws -> RowQuery {
        RowQuery(
            entity: TestModel.item,
            predicate: .text(.column(TestModel.text), try StringMatcher(.matches, "[\(digit)]", [])))
    }

    private func ending(in digit: Int) -> RowQuery {
        RowQuery(
            entity: TestModel.item,
            predicate: .compare(column: TestModel.text, .equal, .text("\(digit)")))
    }

    @Test func everyRowThatMatchesIsChanged() throws {
        try withItems { store, _ in
            let change = BulkChange([ending(in: 3)], values: [TestModel.real: .real(-1), TestModel.blob: .text("b")])
            #expect(try store.make(change) == 900)
            let rows = try store.rows(RowQuery(entity: TestModel.item))
            #expect(rows.count == Self.count)
            #expect(rows.allSatisfy { $0.row.real(TestModel.real) == ($0.key % 10 == 3 ? -1 : Double($0.key)) })
            // Those that have the values stay as they are.
            #expect(try store.make(change) == 0)
            let other = BulkChange([ending(in: 3), ending(in: 4)], values: [TestModel.real: .real(-1)])
            #expect(try store.make(other) == 900)
            #expect(try store.make(BulkChange([ending(in: 3)], values: [TestModel.real: .null])) == 900)
            #expect(try store.make(BulkChange([ending(in: 3)], values: [TestModel.real: .null])) == 0)
        }
    }

    @Test func rowsThatSQLiteCannotFindAreChangedInParts() throws {
        try withItems(50_000) { store, _ in
            let before = store.counters.statementsRun
            let three = BulkChange([try foundEnding(in: 3)], values: [TestModel.real: .real(-1)])
            #expect(try store.make(three) == 5_000)
            #expect(try store.make(three) == 0)
            let looked = store.counters.statementsRun - before
            #expect(try store.make(BulkChange([ending(in: 4)], values: [TestModel.real: .real(-1)])) == 5_000)
            #expect(store.counters.statementsRun - before - looked < looked / 2)
            let both = BulkChange([try foundEnding(in: 3), ending(in: 4)], values: nil)
            #expect(try store.make(both) == 10_000)
            let left = RowQuery(
                entity: TestModel.item, predicate: .compare(column: TestModel.real, .equal, .real(-1)))
            #expect(try store.count(left) == 0)
            #expect(try store.count() == 40_000)
        }
    }

    /// The task is cancelled while the statement reads the file, after its start and before its end.
    @Test func aCancelledTaskEndsTheStatement() async throws {
        let folder = try TemporaryFolder()
        let made = try SQLiteStore.open(.test(folder))
        try made.write([.of(insert: items(Self.count))])
        made.close()
        let (isArmed, calls) = (Guarded(false), Guarded(0))
        let faulty = try FaultyCalls { _ in
            if isArmed.withLock({ $0 }),
                calls.withLock({
                    $0 += 1; return $0
                }) == 20
            {
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return false
        }
        let store = try SQLiteStore.open(.test(folder, calls: faulty.calls))
        isArmed.withLock { $0 = true }
        let query = RowQuery(entity: TestModel.item, budget: QueryBudget(isCancellable: true))
        let outcome = await Task {
            code { _ = try store.make(BulkChange([query], values: [TestModel.real: .real(-1)])) }
        }
        .value
        #expect(outcome == .cancelled)
        isArmed.withLock { $0 = false }
        let changed = RowQuery(
            entity: TestModel.item, predicate: .compare(column: TestModel.real, .equal, .real(-1)))
        #expect(try store.count(changed) == 0)
        let count = try store.make(BulkChange([query], values: [TestModel.real: .real(-1)]))
        #expect(count == Int(Self.count))
        store.close()
        try checkIntegrity(folder)
    }

    /// A change of the column that is searched does not change which rows are found.
    @Test func theRowsAreThoseThatMatchedBefore() throws {
        try withItems { store, _ in
            let low = RowQuery(
                entity: TestModel.item, predicate: .compare(column: TestModel.integer, .less, .integer(5_000)))
            let change = BulkChange([low], values: [TestModel.integer: .integer(1_000_000), TestModel.text: .null])
            let count = try store.make(change)
            #expect(count == 4_999)
            #expect(try store.count(low) == 0)
            #expect(try store.count() == Int(Self.count))
        }
    }

    @Test func everyRowThatMatchesIsDeleted() throws {
        try withItems { store, _ in
            try store.write([
                .of(1, insert: [StoredRow(key: 20_000, row: RowSnapshot(columnCount: TestModel.columnCount + 1))])
            ])
            let all = [RowQuery(entity: TestModel.item), RowQuery(entity: 1)]
            #expect(try store.make(BulkChange([ending(in: 0)], values: nil)) == 900)
            #expect(try store.make(BulkChange(all, values: nil)) == 8_101)
            #expect(try store.count() == 0)
            // Keys are not given again.
            #expect(store.firstFreeKey > 20_000)
        }
    }

    @Test func aBulkChangeThatFailsForOneRowChangesNone() throws {
        try withItems { store, folder in
            let change = BulkChange([ending(in: 3)], values: [TestModel.code: .text("same")])
            #expect(code { _ = try store.make(change) } == .uniquenessViolated)
            #expect(try RawDatabase(folder).run("SELECT count(*) FROM Item WHERE code IS NULL") == ["9000"])
            try store.write([.of(delete: [items(1)[0]])])
            #expect(try store.count() == 8_999)
        }
    }

    /// It does not wait for a save that is being made, whose rows are written again later.
    @Test func anEarlyWriteIsRolledBack() throws {
        try withItems(100) { store, _ in
            let earlyWrite = EarlyWrite()
            let new = StoredRow(key: 500, row: TestModel.row(code: "new"))
            #expect(store.write(NewRows(entity: TestModel.item, [new]), for: earlyWrite))
            let count = try store.make(BulkChange([RowQuery(entity: TestModel.item)], values: nil))
            #expect(count == 100)
            #expect(earlyWrite.hasEnded)
            #expect(try store.count() == 0)
        }
    }

    /// Whichever call for the files fails, all of it has happened or nothing.
    @Test(arguments: [Fault.io, .full], [true, false])
    func aFailedBulkChangeIsCompleteOrUndone(fault: Fault, isInParts: Bool) throws {
        var number = 1
        while try fails(fault, at: number, isInParts) { number += 3 }
        #expect(number > 10)
    }

    /// - Returns: Whether there were so many calls.
    private func fails(_ fault: Fault, at number: Int, _ isInParts: Bool) throws -> Bool {
        let folder = try TemporaryFolder()
        let first = Guarded(Int.max)
        let faulty = try FaultyCalls(fault) { call in first.withLock { $0 == call } }
        let store = try SQLiteStore.open(.test(folder, synchronous: .full, calls: faulty.calls))
        try store.write([.of(insert: items(3_000))])
        first.withLock { $0 = faulty.count + number }
        let query = isInParts ? try foundEnding(in: 3) : ending(in: 3)
        let failure = code { _ = try store.make(BulkChange([query], values: [TestModel.real: .real(-1)])) }
        let wasReached = first.withLock { faulty.count >= $0 }
        first.withLock { $0 = Int.max }
        store.close()
        let next = try SQLiteStore.open(.test(folder))
        let changed = try next.count(
            RowQuery(entity: TestModel.item, predicate: .compare(column: TestModel.real, .equal, .real(-1))))
        switch failure {
        case nil: #expect(changed == 300, "\(fault) at \(number)")
        case .outcomeUnknown: #expect([0, 300].contains(changed), "\(fault) at \(number)")
        default: #expect(changed == 0, "\(fault) at \(number)")
        }
        next.close()
        try checkIntegrity(folder)
        return wasReached
    }
}
