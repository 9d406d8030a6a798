import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Look-ups that share a transaction, and other programs.
@Suite(.timeLimit(.minutes(30)))
struct KeptReadTests {
    private func withRow(
        _ body: (_ store: SQLiteStore, _ raw: RawDatabase, _ set: (Int64) throws -> Void) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        defer { store.close() }
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(.integer(0)))], number: 1)])
        let raw = try RawDatabase(folder.store)
        let table = TestModel.layout.entities[TestModel.item]
        let column = table.columns[TestModel.integer].name
        try body(store, raw) { number in
            try raw.run("UPDATE \"\(table.name)\" SET \"\(column)\" = \(number) WHERE _key = 1")
        }
    }

    private func lookUp(_ store: SQLiteStore) throws -> Int64? {
        try store.read(.lookup) { (reader) throws(DataSourceError) in
            try reader.row(entity: TestModel.item, key: 1)
        }?.integer(TestModel.integer)
    }

    /// Whether a look-up is in the transaction of the one before is up to the time between them, so this is repeated until one was.
    @Test func lookupsShareATransactionAndSeeOtherProgramsAfterAWhile() throws {
        try withRow { store, _, set in
            var number: Int64 = 0
            var wasKept = false
            while !wasKept {
                try Task.checkCancellation()
                for _ in 0..<2 { _ = try lookUp(store) }
                number += 1
                try set(number)
                while let found = try lookUp(store), found < number {
                    #expect(found == number - 1)
                    wasKept = true
                }
            }
        }
    }

    @Test func otherReadsSeeOtherProgramsAtOnce() throws {
        try withRow { store, _, set in
            for number in 1...100 as ClosedRange<Int64> {
                for _ in 0..<2 { _ = try lookUp(store) }
                try set(number)
                let isolation: ReadIsolation = number % 2 == 0 ? .statement : .snapshot
                let row = try store.read(isolation) { (reader) throws(DataSourceError) in
                    try reader.row(entity: TestModel.item, key: 1)
                }
                #expect(row?.integer(TestModel.integer) == number)
                #expect(try lookUp(store) == number)
            }
        }
    }

    @Test func aBatchThatBeginsSeesOtherProgramsAtOnce() throws {
        try withRow { store, _, set in
            for number in 1...100 as ClosedRange<Int64> {
                for _ in 0..<2 { _ = try lookUp(store) }
                try set(number)
                #expect(store.noticeOutsideWrites())
                #expect(try lookUp(store) == number)
            }
        }
    }

    /// The commit has nothing to write, and tells of the other program instead of the next batch.
    @Test func aRefusedSaveThatFindsOutsideWritesEndsTheTransaction() throws {
        try withRow { store, _, set in
            for number in 1...100 as ClosedRange<Int64> {
                for _ in 0..<2 { _ = try lookUp(store) }
                try set(number)
                // The key is taken.
                let outcome = try store.commit([
                    .of(insert: [StoredRow(key: 1, row: TestModel.row(.integer(-1)))], number: number + 1)
                ])
                #expect(outcome.refused.count == 1 && outcome.foundOutsideWrites)
                #expect(!store.noticeOutsideWrites())
                #expect(try lookUp(store) == number)
            }
        }
    }

    /// Nobody reads any more, so nothing but time ends the transaction.
    @Test func theLogIsNotKeptFromBeingEmptied() throws {
        try withRow { store, raw, _ in
            for _ in 0..<3 { _ = try lookUp(store) }
            // 0: it was not busy.
            while try raw.run("PRAGMA wal_checkpoint(TRUNCATE)").first?.hasPrefix("0") != true {
                try Task.checkCancellation()
            }
        }
    }

    /// The listener would be called for the end of a transaction under a lock.
    @Test func noTransactionIsSharedWhileAListenerHearsOfStatements() throws {
        let folder = try TemporaryFolder()
        let statements = Guarded<[String]>([])
        var options = SQLiteStore.Options.test(folder)
        options.tracing = StatementTracing(showsValues: false) { trace in statements.withLock { $0.append(trace.sql) } }
        let store = try SQLiteStore.open(options)
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(.integer(7)))], number: 1)])
        statements.withLock { $0 = [] }
        for _ in 0..<5 { #expect(try lookUp(store) == 7) }
        #expect(statements.withLock { $0.count == 5 && !$0.contains("BEGIN") })
        store.close()
    }

    @Test func aStoreClosesAndIsCopiedWhileATransactionIsKept() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(.integer(7)))], number: 1)])
        for _ in 0..<3 { #expect(try lookUp(store) == 7) }
        let copy = folder.url.appending(path: "copy.sqlite")
        try store.copy(to: copy)
        for _ in 0..<3 { #expect(try lookUp(store) == 7) }
        store.close()
        try checkIntegrity(folder)
        #expect(code { _ = try lookUp(store) } == .storeClosed)
    }
}
