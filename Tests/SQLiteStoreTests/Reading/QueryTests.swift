import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Both stores must answer every query as ``RowPredicate/evaluate(_:_:)`` does, row for row.
struct QueryTests {
    private static let layout = TestModel.layout.entities[TestModel.item]

    /// Few values a column, so that many comparisons meet.
    private static let values: [[RowValue]] = [
        [.null, .integer(.min), .integer(-1), .integer(0), .integer(1), .integer(7), .integer(.max)],
        [.null, .real(-.infinity), .real(-1.5), .real(0), .real(1), .real(1e300), .real(.infinity)],
        [.null, .text(""), .text("a"), .text("a\0"), .text("A"), .text("é"), .text("e\u{301}"), .text("%_'\"")],
        [.null, .blob([]), .blob([0]), .blob([0, 1]), .blob([255]), .blob(Array("a".utf8))],
        [.null, .text("-10.5"), .text("9"), .text("10"), .text("10.0"), .text("0.3"), .text("1E+2"), .text("none")],
        [.null, .text("code")],
        [.null, .integer(1)],
    ]

    private static func rows(_ count: Int64, _ generator: inout SeededRandom) -> [StoredRow] {
        (1...count).map { key in
            var row = RowSnapshot(columnCount: TestModel.columnCount)
            for column in 0...TestModel.decimal {
                row.setValue(values[column].randomElement(using: &generator) ?? .null, column)
            }
            // The pair of integer and text is unique: keep it apart.
            if !row.isNull(TestModel.integer), !row.isNull(TestModel.text) {
                row.setText(row.text(TestModel.text) + "\(key % 50)", TestModel.text)
                row.setInteger(key, TestModel.integer)
            }
            return StoredRow(key: key, row: row)
        }
    }

    private static func predicate(_ depth: Int, _ generator: inout SeededRandom) -> RowPredicate {
        let column = Int.random(in: 0..<TestModel.columnCount, using: &generator)
        // Now and then a value of another column's kind.
        let source = Int.random(in: 0..<10, using: &generator) == 0 ? (column + 1) % values.count : column
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &generator) {
        case 0...2:
            let relations: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            return .compare(
                column: column, relations.randomElement(using: &generator) ?? .equal,
                values[source].randomElement(using: &generator) ?? .null)
        case 3:
            // Now and then too many to be spelled out.
            let count = [0, 1, 2, 3, 40].randomElement(using: &generator) ?? 0
            return .isIn(
                column: column, (0..<count).map { _ in values[source].randomElement(using: &generator) ?? .null })
        case 4:
            return .constant(Bool.random(using: &generator))
        case 5, 6:
            return .not(predicate(depth - 1, &generator))
        default:
            let count = Int.random(in: 0...3, using: &generator)
            let parts = (0..<count).map { _ in predicate(depth - 1, &generator) }
            return Bool.random(using: &generator) ? .and(parts) : .or(parts)
        }
    }

    private static func expected(_ query: RowQuery, _ rows: [StoredRow]) throws -> [Int64] {
        let matching = try rows.filter { try query.predicate.evaluate($0.row, layout, query.budget) }
            .sorted { $0.precedes($1, by: query.sort, layout) }
        let rest = matching.dropFirst(query.offset)
        return rest.prefix(query.limit ?? rest.count).map(\.key)
    }

    @Test(arguments: StoreKind.allCases, [testSeed()])
    func randomQueriesAreAnsweredAsInMemory(kind: StoreKind, seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let rows = QueryTests.rows(120, &generator)
        try withStore(kind) { store in
            try store.write([.of(insert: rows)])
            for _ in 0..<1500 {
                var query = RowQuery(entity: TestModel.item, predicate: QueryTests.predicate(4, &generator))
                query.sort = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    SortKey(
                        column: Int.random(in: 0..<TestModel.columnCount, using: &generator),
                        isAscending: Bool.random(using: &generator))
                }
                if Bool.random(using: &generator) { query.limit = Int.random(in: 0...40, using: &generator) }
                if Bool.random(using: &generator) { query.offset = Int.random(in: 0...40, using: &generator) }
                let found = try store.keys(query)
                let expected = try QueryTests.expected(query, rows)
                try #require(found == expected, "seed \(seed): \(query)")
                query.limit = nil
                query.offset = 0
                try #require(
                    try store.count(query) == QueryTests.expected(query, rows).count, "seed \(seed): \(query)")
            }
        }
    }

    private static let numbered = (1...300).map { key in
        StoredRow(key: Int64(key), row: TestModel.row(.integer(Int64(key))))
    }

    @Test(arguments: StoreKind.allCases)
    func listsOfAnyLengthAreLookedUp(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: QueryTests.numbered)])
            for count in [1, 32, 33, 1001, 40_000] {
                let list = (0..<count).map { RowValue.integer(Int64($0 * 2)) } + [.null]
                let inside = RowPredicate.isIn(column: TestModel.integer, list)
                let wanted = min(count - 1, 150)
                #expect(try store.count(RowQuery(entity: TestModel.item, predicate: inside)) == wanted)
                let outside = RowQuery(entity: TestModel.item, predicate: .not(inside))
                #expect(try store.count(outside) == 300 - wanted)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func longChainsAreAnswered(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: QueryTests.numbered)])
            let terms = (1...5000).map {
                RowPredicate.compare(column: TestModel.integer, .equal, .integer(Int64($0 * 2)))
            }
            #expect(try store.count(RowQuery(entity: TestModel.item, predicate: .or(terms))) == 150)
            let none = RowQuery(entity: TestModel.item, predicate: .not(.or(terms)))
            #expect(try store.count(none) == 150)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func deepTreesAreAnswered(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: QueryTests.numbered)])
            var predicate = RowPredicate.compare(column: TestModel.integer, .lessOrEqual, .integer(100))
            for depth in 0..<300 {
                predicate =
                    depth % 2 == 0
                    ? .not(.and([predicate, .compare(column: TestModel.integer, .notEqual, .integer(Int64(depth)))]))
                    : .not(.or([predicate, .constant(false)]))
            }
            var query = RowQuery(
                entity: TestModel.item, predicate: predicate,
                sort: [SortKey(column: TestModel.integer, isAscending: false)], limit: 20, offset: 10)
            #expect(try store.keys(query) == QueryTests.expected(query, QueryTests.numbered))
            query.limit = nil
            query.offset = 0
            #expect(try store.count(query) == QueryTests.expected(query, QueryTests.numbered).count)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func valuesThatLookLikeSQLAreOnlyValues(kind: StoreKind) throws {
        try withStore(kind) { store in
            let texts = [
                "'; DROP TABLE Item; --", "\" OR 1 = 1", "?1", "%", "_", "\\", String(repeating: "x", count: 1 << 20),
            ]
            let rows = texts.enumerated().map {
                StoredRow(key: Int64($0 + 1), row: TestModel.row(.null, .null, .text($1)))
            }
            try store.write([.of(insert: rows)])
            for (index, text) in texts.enumerated() {
                let query = RowQuery(
                    entity: TestModel.item, predicate: .compare(column: TestModel.text, .equal, .text(text)))
                #expect(try store.keys(query) == [Int64(index + 1)])
            }
            #expect(try store.count() == texts.count)
        }
    }
}
