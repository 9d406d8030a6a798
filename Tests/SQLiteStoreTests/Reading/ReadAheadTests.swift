import ErrorExpectations
import ManagedModel
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Synchronization
import Testing

/// Long reads, which another thread continues.
@Suite(.timeLimit(.minutes(30)))
struct ReadAheadTests {
    private static let count = 20_000

    private func filled(_ folder: TemporaryFolder) throws -> SQLiteStore {
        let store = try SQLiteStore.open(.test(folder))
        let rows = (1...Self.count).map { number in
            StoredRow(
                key: Int64(number),
                row: TestModel.row(.integer(Int64(number * 7)), .real(Double(number) + 0.5), .text("row \(number)")))
        }
        try store.write([.of(insert: rows)])
        return store
    }

    /// Whether another thread is there in time is up to the system, so reads are repeated until one was.
    private func repeatUntilReadAhead(_ store: SQLiteStore, _ body: () throws -> Void) async throws {
        let before = store.counters.readsContinued
        while store.counters.readsContinued == before {
            try Task.checkCancellation()
            try body()
            await Task.yield()
        }
    }

    @Test func rowsThatAnotherThreadReadsArriveCompleteAndInOrder() async throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        defer { store.close() }
        try await repeatUntilReadAhead(store) {
            var next = 1
            try store.read(.statement) { (reader) throws(DataSourceError) in
                try reader.forEachRow(RowQuery(entity: TestModel.item)) { stored in
                    let isRight =
                        stored.key == Int64(next) && stored.row.integer(TestModel.integer) == Int64(next * 7)
                        && stored.row.real(TestModel.real) == Double(next) + 0.5
                        && stored.row.text(TestModel.text) == "row \(next)" && stored.row.isNull(TestModel.blob)
                    if !isRight { Issue.record("Row \(next) is wrong: \(stored.key)") }
                    next += 1
                }
            }
            #expect(next == Self.count + 1)
        }
    }

    @Test func aCancelledReadEndsWhileAnotherThreadReads() async throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        defer { store.close() }
        let before = store.counters.readsContinued
        // Far more rows than are read ahead.
        while store.counters.readsContinued == before, !Task.isCancelled {
            let task = Task.detached {
                var query = RowQuery(entity: TestModel.item, budget: QueryBudget(isCancellable: true))
                query.isOrdered = false
                try store.read(.statement) { (reader) throws(DataSourceError) in
                    var count = 0
                    try reader.forEachRow(query) { _ in
                        count += 1
                        if count == 1_000 { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                }
            }
            await expectError(.cancelled) { try await task.value }
        }
        #expect(try store.count() == Self.count)
    }

    /// The thread that reads ahead meets the fault, and the caller learns of it.
    @Test func aDiskThatFailsWhileAnotherThreadReadsEndsTheRead() throws {
        let folder = try TemporaryFolder()
        try filled(folder).close()
        let isFailing = Atomic(false)
        let faulty = try FaultyCalls { _ in isFailing.load(ordering: .relaxed) }
        var wasContinued = false
        while !wasContinued, !Task.isCancelled {
            // Opened anew, so that no page is in SQLite's memory.
            let store = try SQLiteStore.open(.test(folder, calls: faulty.calls))
            var count = 0
            let failure = code {
                try store.read(.statement) { (reader) throws(DataSourceError) in
                    try reader.forEachRow(RowQuery(entity: TestModel.item)) { _ in
                        count += 1
                        if count == 1_000 { isFailing.store(true, ordering: .relaxed) }
                    }
                }
            }
            isFailing.store(false, ordering: .relaxed)
            #expect(failure == .storeUnreadable)
            #expect(count >= 1_000 && count < Self.count)
            #expect(try store.count() == Self.count)
            wasContinued = store.counters.readsContinued > 0
            store.close()
        }
    }

    /// So many columns that each row is tested outside of SQLite, which ends the read at the limit.
    @Test func aReadThatEndsEarlyLeavesItsReaderUsable() async throws {
        let width = 140
        let model = ManagedObjectModel(
            name: "Wide",
            entities: [
                EntityDescription(
                    name: "Wide",
                    attributes: (0..<width).map {
                        AttributeDescription(name: "text\($0)", type: .string, isOptional: true)
                    })
            ])
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.of(model, folder))
        defer { store.close() }
        let rows = (1...6_000).map { number in
            var row = RowSnapshot(columnCount: width)
            row.setText("\(number % 2)", 0)
            return StoredRow(key: Int64(number), row: row)
        }
        try store.write([.of(0, insert: rows)])
        let first = (0..<width).reversed().reduce(RowExpression.constant(.null)) { .coalesce(.column($1), $0) }
        var query = RowQuery(
            entity: 0, predicate: .compareExpressions(first, .equal, .constant(.text("0")), .natural))
        let plan = try store.read(.statement) { (reader) throws(DataSourceError) in try reader.explain(query) }
        #expect(plan.steps.contains("TEST EACH ROW OUTSIDE OF SQLITE"), "\(plan)")
        query.limit = 1_500
        try await repeatUntilReadAhead(store) {
            let found = try store.read(.statement) { (reader) throws(DataSourceError) in try reader.rows(query) }
            #expect(found.map(\.key) == (1...1_500).map { Int64($0 * 2) })
            #expect(try store.read(.statement) { (reader) throws(DataSourceError) in try reader.count(query) } == 3_000)
        }
    }
}
