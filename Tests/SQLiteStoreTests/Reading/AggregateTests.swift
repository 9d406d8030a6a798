import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Aggregates that SQLite calculates: each result is the one that adding the rows has.
struct AggregateTests {
    private static let operations: [Aggregation.Operation] = [.count, .sum, .min, .max, .average]

    /// Every operation for every column.
    private var aggregations: [Aggregation] {
        let columns: [(Int, ValueKind)] = [(TestModel.integer, .integer), (TestModel.real, .real)]
        var all = [Aggregation(.count, column: nil, .integer)]
        for (column, kind) in columns { all += Self.operations.map { Aggregation($0, column: column, kind) } }
        let others = [(TestModel.text, ValueKind.text), (TestModel.blob, .data)]
        for (column, kind) in others { all += [.count, .min, .max].map { Aggregation($0, column: column, kind) } }
        return all
    }

    /// - Returns: The results of the rows, and those of SQLite; nil where it has none, or there is none.
    private func results(_ aggregation: Aggregation, _ rows: [StoredRow]) throws -> (added: RowValue?, found: RowValue?)
    {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        defer { store.close() }
        try store.write([.of(insert: rows)])
        return try results(aggregation, rows, in: store)
    }

    private func results(
        _ aggregation: Aggregation, _ rows: [StoredRow], in store: SQLiteStore
    ) throws -> (added: RowValue?, found: RowValue?) {
        var added = aggregation
        for row in rows { added.add(row) }
        let found = try store.read(.statement) { reader throws(DataSourceError) in
            try (reader as? any AggregatingReader)?.results([aggregation], of: RowQuery(entity: TestModel.item))
        }
        return (try? added.result(), found?.first)
    }

    private func row(_ key: Int64, _ values: RowValue...) -> StoredRow {
        var row = TestModel.row(.null)
        for (column, value) in values.enumerated() { row.setValue(value, column) }
        return StoredRow(key: key, row: row)
    }

    @Test func sqlAggregatesEqualACalculationOverTheRows() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        let reals = [0, 1, -1, 0.1, 0.2, 1e300, -1e300, 1e-300, .leastNonzeroMagnitude, 1e16, 1, .infinity, -3.5]
        for round in 0..<60 {
            let folder = try TemporaryFolder()
            let store = try SQLiteStore.open(.test(folder))
            defer { store.close() }
            let rows = (0..<random.next(below: 30)).map { number in
                row(
                    Int64(number + 1),
                    random.next(below: 5) == 0 ? .null : .integer(Int64(random.next(below: 2_000_000)) - 1_000_000),
                    random.next(below: 5) == 0 ? .null : .real(reals[random.next(below: reals.count)]),
                    random.next(below: 5) == 0 ? .null : .text("é\(random.next(below: 50)) \(number)"),
                    random.next(below: 5) == 0 ? .null : .blob([UInt8(random.next(below: 256))]))
            }
            try store.write([.of(insert: rows)])
            for aggregation in aggregations {
                let (added, found) = try results(aggregation, rows, in: store)
                #expect(
                    found == added, "\(aggregation.operation) of \(aggregation.column ?? -1), seed \(seed), \(round)")
            }
        }
    }

    /// Each partial sum of SQLite would have to fit too.
    @Test func aSumThatOverflowsOnTheWayIsLeftToTheRows() throws {
        let rows = [Int64.min, -1, 10].enumerated().map { row(Int64($0 + 1), .integer($1)) }
        let (added, found) = try results(Aggregation(.sum, column: TestModel.integer, .integer), rows)
        #expect(added == .integer(.min + 9))
        #expect(found == nil)
        let average = try results(Aggregation(.average, column: TestModel.integer, .integer), rows)
        #expect(average.added != nil)
        #expect(average.found == nil)
    }

    /// They have no sum, which is an error, not a result.
    @Test func infinitiesOfBothSignsAreLeftToTheRows() throws {
        let rows = [Double.infinity, -.infinity].enumerated().map { row(Int64($0 + 1), .null, .real($1)) }
        let (added, found) = try results(Aggregation(.sum, column: TestModel.real, .real), rows)
        #expect(added == nil)
        #expect(found == nil)
    }

    /// A sum of reals is rounded once, where SQLite's own depends on the order of the rows.
    @Test func aSumOfRealsIsExact() throws {
        let rows = [1e16, 1, -1e16].enumerated().map { row(Int64($0 + 1), .null, .real($1)) }
        let (added, found) = try results(Aggregation(.sum, column: TestModel.real, .real), rows)
        #expect(added == .real(1))
        #expect(found == .real(1))
    }

    @Test func decimalsAreLeftToTheRows() throws {
        let rows = [row(1, .null, .null, .null, .null, .text("1.5"))]
        for operation in [Aggregation.Operation.sum, .min, .max, .average] {
            let (_, found) = try results(Aggregation(operation, column: TestModel.decimal, .decimal), rows)
            #expect(found == nil)
        }
    }

    /// Values that another program has written, which are no values of the attribute.
    @Test func valuesOfAnotherKindAreLeftToTheRows() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        defer { store.close() }
        let rows = [row(1, .integer(5)), row(2, .integer(6))]
        try store.write([.of(insert: rows)])
        try RawDatabase(folder).run("UPDATE Item SET \"integer\" = 'five' WHERE _key = 1")
        for operation in [Aggregation.Operation.sum, .max, .average] {
            let (_, found) = try results(Aggregation(operation, column: TestModel.integer, .integer), rows, in: store)
            #expect(found == nil)
        }
    }
}
