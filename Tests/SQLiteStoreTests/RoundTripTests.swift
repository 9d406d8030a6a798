import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct RoundTripTests {
    static let values: [(column: Int, RowValue)] = [
        (TestModel.integer, .integer(0)), (TestModel.integer, .integer(.min)), (TestModel.integer, .integer(.max)),
        (TestModel.integer, .integer(-1)), (TestModel.real, .real(0)), (TestModel.real, .real(.infinity)),
        (TestModel.real, .real(-.infinity)), (TestModel.real, .real(.leastNonzeroMagnitude)),
        (TestModel.real, .real(.greatestFiniteMagnitude)), (TestModel.real, .real(5)), (TestModel.real, .real(0.1)),
        (TestModel.text, .text("")), (TestModel.text, .text("a\0b")), (TestModel.text, .text("\0")),
        (TestModel.text, .text("👩‍👩‍👧‍👦 e\u{301} é 日本")), (TestModel.text, .text("12")),
        (TestModel.text, .text("'\";--%_\\")),
        (TestModel.text, .text(String(repeating: "é", count: 1 << 19))), (TestModel.text, .text("12345678")),
        (TestModel.blob, .blob([])), (TestModel.blob, .blob([0])), (TestModel.blob, .blob([0, 255, 0])),
        (TestModel.blob, .blob(Array(repeating: 7, count: 100_000))), (TestModel.decimal, .text("-12.50")),
    ]

    @Test(arguments: StoreKind.allCases)
    func everyValueComesBackAsItWas(kind: StoreKind) throws {
        try withStore(kind) { store in
            for (index, (column, value)) in RoundTripTests.values.enumerated() {
                var row = RowSnapshot(columnCount: TestModel.columnCount)
                row.setValue(value, column)
                try store.write([.of(insert: [StoredRow(key: Int64(index + 1), row: row)])])
                let found = try #require(try store.row(Int64(index + 1)))
                #expect(found.value(column, TestModel.layout.entities[0].columns[column].storage) == value)
                for other in 0..<TestModel.columnCount where other != column { #expect(found.isNull(other)) }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func negativeZeroIsZeroAndNotANumberIsNull(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([
                .of(insert: [
                    StoredRow(key: 1, row: TestModel.row(.null, .real(-0.0))),
                    StoredRow(key: 2, row: TestModel.row(.null, .real(.nan))),
                ])
            ])
            #expect(try store.row(1)?.real(TestModel.real).sign == .plus)
            #expect(try store.row(2)?.isNull(TestModel.real) == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func transientColumnsAreNotKept(kind: StoreKind) throws {
        try withStore(kind) { store in
            var row = TestModel.row(code: "a")
            row.setInteger(1, TestModel.flag)
            try store.write([.of(insert: [StoredRow(key: 1, row: row)])])
            #expect(try store.row(1)?.isNull(TestModel.flag) == true)
            #expect(
                try store.keys(
                    RowQuery(
                        entity: TestModel.item,
                        predicate: .compare(column: TestModel.flag, .equal, .null))) == [1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aRowMayHaveMoreThan64Columns(kind: StoreKind) throws {
        let count = 150
        let attributes = (0..<count).map {
            AttributeDescription(name: "c\($0)", type: $0 % 2 == 0 ? .integer64 : .string, isOptional: true)
        }
        let layout = ModelLayout(
            ManagedObjectModel(name: "Wide", entities: [EntityDescription(name: "Wide", attributes: attributes)]))
        try withStore(kind, layout) { store in
            var row = RowSnapshot(columnCount: count)
            for column in 0..<count where column % 3 != 0 {
                row.setValue(column % 2 == 0 ? .integer(Int64(column)) : .text("text \(column)"), column)
            }
            try store.write([.of(0, insert: [StoredRow(key: 1, row: row)])])
            var changed = row
            changed.setText("new", 149)
            changed.setNull(64)
            changed.setInteger(9, 66)
            try store.write([.of(0, update: [.of(1, row, changed, layout.entities[0])])])
            let found = try #require(try store.row(1))
            for column in 0..<count {
                #expect(found.isEqual(to: changed, column: column, storage: layout.entities[0].columns[column].storage))
            }
        }
    }

    @Test func storedBytesThatAreNotUTF8AreRepairedWhenRead() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(.test(folder)).close()
        do {
            let raw = try RawDatabase(folder.store)
            try raw.run("INSERT INTO Item (_key, text, code) VALUES (1, CAST(x'ff41' AS TEXT), 7)")
        }
        let store = try SQLiteStore.open(.test(folder))
        let row = try #require(try store.row(1))
        #expect(row.text(TestModel.text) == "\u{FFFD}A")
        #expect(row.text(TestModel.code) == "7")
        store.close()
    }
}
