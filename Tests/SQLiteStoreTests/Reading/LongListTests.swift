import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Lists of values that are too long to be spelled out.
struct LongListTests {
    private static let layout = TestModel.layout.entities[TestModel.item]

    /// Values that are easily taken for others, by column.
    private static let values: [Int: [RowValue]] = [
        TestModel.integer: [
            .integer(.min), .integer(.max), .integer(.max - 1), .integer(0), .integer(1 << 53 + 1), .integer(-1),
        ],
        TestModel.real: [
            .real(-0.0), .real(.nan), .real(.infinity), .real(-.infinity), .real(0x1p63), .real(-0x1p63),
            .real(0x1p53), .real(5), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(0.1),
        ],
        TestModel.text: [
            .text(""), .text("a"), .text("a\0"), .text("a\0b"), .text("A"), .text("é"), .text("e\u{301}"), .text("1"),
            .text("\u{10FFFF}"), .text("a "), .text("NULL"),
        ],
        TestModel.blob: [.blob([]), .blob([0]), .blob([0, 1]), .blob([255]), .blob(Array("a".utf8))],
        TestModel.decimal: [.text("10"), .text("10.0"), .text("1E+1"), .text("none")],
    ]

    /// A value that is in no row, of the same kind.
    private static func filler(_ column: Int, _ number: Int) -> RowValue {
        switch layout.columns[column].storage {
        case .integer: .integer(Int64(1000 + number))
        case .real: .real(1000.5 + Double(number))
        case .text: .text("filler \(number)")
        case .blob: .blob([1, 2, 3, UInt8(number & 0xFF)])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func valuesAreFoundByWhatTheyAre(kind: StoreKind) throws {
        try withStore(kind) { store in
            var rows = [StoredRow(key: 1, row: TestModel.row(.null))]
            for (column, values) in Self.values.sorted(by: { $0.key < $1.key }) {
                for value in values {
                    var row = TestModel.row(.null)
                    row.setValue(value, column)
                    rows.append(StoredRow(key: Int64(rows.count + 1), row: row))
                }
            }
            try store.write([.of(insert: rows)])
            for (column, values) in Self.values {
                let fillers = (0..<100).map { Self.filler(column, $0) }
                // Values of other kinds are in no row, whatever they look like.
                let others = Self.values.filter { $0.key != column }.flatMap(\.value)
                for value in values + [.null] {
                    let list = RowPredicate.isIn(column: column, fillers + others + [value])
                    for predicate in [list, .not(list), .and([list, .compareKey(.greater, 5)])] {
                        let query = RowQuery(entity: TestModel.item, predicate: predicate)
                        let expected = try rows.filter { try predicate.evaluate($0, Self.layout, QueryBudget()) }.map(
                            \.key)
                        #expect(try store.keys(query) == expected, "\(value)")
                        #expect(try store.count(query) == expected.count)
                    }
                }
            }
        }
    }

    @Test func anIndexServesLongLists() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let rows = (1...100).map {
            StoredRow(key: $0, row: TestModel.row(.integer($0), .null, .text("t"), .null, .null, .text("\($0)")))
        }
        try store.write([.of(insert: rows)])
        let keys = ValueList((1...10_000).map { .integer($0) }, .natural)
        let predicates: [RowPredicate] = [
            .isIn(column: TestModel.integer, (1...10_000).map { .integer($0) }),
            .isIn(column: TestModel.code, (1...10_000).map { .text("\($0)") }),
            .isMember(.column(TestModel.integer), keys), .isMember(.key, keys),
        ]
        for predicate in predicates {
            let query = RowQuery(entity: TestModel.item, predicate: predicate)
            let explanation = try store.read(.statement) { (reader) throws(DataSourceError) in
                try reader.explain(query)
            }
            #expect(explanation.steps.contains { $0.hasPrefix("SEARCH Item USING ") }, "\(explanation)")
            #expect(!explanation.steps.contains { $0.hasPrefix("SCAN Item") }, "\(explanation)")
            #expect(try store.count(query) == 100)
        }
        store.close()
    }

    /// The list of one query is not that of the next, though their statement is.
    @Test func eachQueryHasItsOwnList() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: (1...100).map { StoredRow(key: $0, row: TestModel.row(.integer($0))) })])
        for start in [0, 40, 90, 200] {
            let both = RowPredicate.or([
                .isIn(column: TestModel.integer, (start..<start + 50).map { .integer(Int64($0)) }),
                .isMember(.key, ValueList((1...33).map { .integer($0) }, .natural)),
            ])
            let expected = (1...100).filter { (start..<start + 50).contains($0) || $0 <= 33 }.map { Int64($0) }
            #expect(try store.keys(RowQuery(entity: TestModel.item, predicate: both)) == expected)
        }
        store.close()
    }
}
