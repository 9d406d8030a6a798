import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Values come back as they were stored.
struct ValuePromises {
    private static let numbers: [(column: Int, RowValue)] = [
        (TestModel.integer, .integer(0)), (TestModel.integer, .integer(.min)), (TestModel.integer, .integer(.max)),
        (TestModel.integer, .integer(-1)), (TestModel.real, .real(0)), (TestModel.real, .real(.infinity)),
        (TestModel.real, .real(-.infinity)), (TestModel.real, .real(.leastNonzeroMagnitude)),
        (TestModel.real, .real(-.leastNormalMagnitude)), (TestModel.real, .real(.greatestFiniteMagnitude)),
        (TestModel.real, .real(5)), (TestModel.real, .real(0.1)), (TestModel.real, .real(.pi)),
        (TestModel.real, .real(9_007_199_254_740_991)), (TestModel.decimal, .text("-12.50")),
        (TestModel.decimal, .text("99999999999999999999999999999999999999")),
    ]

    private static let strings: [(column: Int, RowValue)] = [
        "", " ", "12", "12345678", "\\x41", "\\N", "\\.", "NULL", "{a,\"b\"}", "a\tb\r\nc", "'\";--%_\\", "$1 ?1 :a",
        "\u{7F}\u{1}",
        "👩‍👩‍👧‍👦 e\u{301} é 日本", "\u{FFFD}\u{FFFE}\u{FFFF}\u{FEFF}", "\u{D7FF}\u{E000}",
        String(String.UnicodeScalarView((0...16).compactMap { Unicode.Scalar($0 << 16 | 0xFFFD) })),
    ].map { (TestModel.text, .text($0)) }

    /// In a column that no constraint has, for a server keeps long values out of indexes.
    private static let long: [(column: Int, RowValue)] = [
        (TestModel.decimal, .text(String(repeating: "é", count: 1 << 19)))
    ]

    private static let blobs: [(column: Int, RowValue)] = [
        [], [0], [0, 255, 0], Array("\\x00".utf8), Array(0...255), Array(repeating: 7, count: 1 << 20),
    ].map { (TestModel.blob, .blob($0)) }

    private static let values = numbers + strings + long + blobs

    private func expect(_ store: any PersistentStore, _ key: Int64, _ column: Int, _ value: RowValue) throws {
        let found = try #require(try store.row(key))
        let isSame = found.value(column, TestModel.layout.entities[0].columns[column].storage) == value
        #expect(isSame, "value \(key) of column \(column)")
        for other in 0..<TestModel.columnCount where other != column { #expect(found.isNull(other)) }
    }

    private func row(_ column: Int, _ value: RowValue) -> RowSnapshot {
        var row = RowSnapshot(columnCount: TestModel.columnCount)
        row.setValue(value, column)
        return row
    }

    @Test(arguments: TestedStore.all)
    func everyValueComesBackAsItWas(kind: TestedStore) throws {
        try kind.withStore { store in
            for (index, (column, value)) in ValuePromises.values.enumerated() {
                try store.write([.of(insert: [StoredRow(key: Int64(index + 1), row: row(column, value))])])
                try expect(store, Int64(index + 1), column, value)
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func everyValueOfManyRowsComesBackAsItWas(kind: TestedStore) throws {
        try kind.withStore { store in
            let rows = ValuePromises.values.enumerated().map { index, value in
                StoredRow(key: Int64(index + 1), row: row(value.column, value.1))
            }
            try store.write([.of(insert: rows)])
            for (index, (column, value)) in ValuePromises.values.enumerated() {
                try expect(store, Int64(index + 1), column, value)
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func everyValueMayTakeThePlaceOfAnother(kind: TestedStore) throws {
        try kind.withStore { store in
            let layout = TestModel.layout.entities[TestModel.item]
            var old = RowSnapshot(columnCount: TestModel.columnCount)
            try store.write([.of(insert: [StoredRow(key: 1, row: old)])])
            for (column, value) in ValuePromises.values {
                let new = row(column, value)
                try store.write([.of(update: [.of(1, old, new, layout)])])
                try expect(store, 1, column, value)
                old = new
            }
        }
    }

    @Test(arguments: TestedStore.persistent)
    func everyValueIsThereAfterTheStoreIsOpenedAgain(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open()
        let rows = ValuePromises.values.enumerated().map { index, value in
            StoredRow(key: Int64(index + 1), row: row(value.column, value.1))
        }
        try store.write([.of(insert: rows)])
        store.close()
        let reopened = try place.open()
        for (index, (column, value)) in ValuePromises.values.enumerated() {
            try expect(reopened, Int64(index + 1), column, value)
        }
        reopened.close()
        try place.verify()
    }

    /// A store that cannot keep one says so by name, and no other save is refused for it.
    @Test(arguments: TestedStore.all)
    func aStringMayHoldANUL(kind: TestedStore) throws {
        for string in ["\0", "a\0b", "\0\0\0", "日\0"] {
            try kind.withStore { store in
                var other = ChangeSet.of(insert: [StoredRow(key: 2, row: TestModel.row(code: "b"))])
                other.origin = 1
                let row = row(TestModel.text, .text(string))
                let refused = try store.commit([.of(insert: [StoredRow(key: 1, row: row)]), other]).refused
                #expect(refused.mapValues(\.code) == (kind.codeOfNUL.map { [0: $0] } ?? [:]))
                if kind.codeOfNUL == nil {
                    try expect(store, 1, TestModel.text, .text(string))
                } else {
                    #expect(refused[0]?.attributeName == "text")
                    #expect(try store.row(1) == nil)
                }
                #expect(try store.row(2) != nil)
            }
        }
    }

    /// The same for one that is too long for the index of a constraint.
    @Test(arguments: TestedStore.all)
    func aUniqueStringMayBeLong(kind: TestedStore) throws {
        try kind.withStore { store in
            // Nothing that a server could make short.
            var random = SeededRandom(seed: 1)
            let code = String((0..<20_000).map { _ in Character(Unicode.Scalar(UInt8(33 + random.next(below: 90)))) })
            var other = ChangeSet.of(insert: [StoredRow(key: 2, row: TestModel.row(code: "b"))])
            other.origin = 1
            let group = [.of(insert: [StoredRow(key: 1, row: TestModel.row(code: code))]), other]
            let refused = try store.commit(group).refused
            #expect(refused.mapValues(\.code) == (kind.codeOfLongUnique.map { [0: $0] } ?? [:]))
            #expect(try store.row(constraint: 0, .text(code))?.key == (kind.codeOfLongUnique == nil ? 1 : nil))
            #expect(try store.row(2) != nil)
        }
    }

    @Test(arguments: TestedStore.all)
    func stringsDifferIfTheirBytesDo(kind: TestedStore) throws {
        try kind.withStore { store in
            let codes = ["é", "e\u{301}", "É", "ss", "ß", "a", "a ", "A", "ａ"]
            for (index, code) in codes.enumerated() {
                try store.write([.of(insert: [StoredRow(key: Int64(index + 1), row: TestModel.row(code: code))])])
            }
            for (index, code) in codes.enumerated() {
                #expect(try store.row(constraint: 0, .text(code))?.key == Int64(index + 1))
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func negativeZeroIsZeroAndNotANumberIsNull(kind: TestedStore) throws {
        try kind.withStore { store in
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

    @Test(arguments: TestedStore.all)
    func transientColumnsAreNotKept(kind: TestedStore) throws {
        try kind.withStore { store in
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

    @Test(arguments: TestedStore.all)
    func aRowMayHaveMoreThan64Columns(kind: TestedStore) throws {
        let count = 150
        let attributes = (0..<count).map {
            AttributeDescription(name: "c\($0)", type: $0 % 2 == 0 ? .integer64 : .string, isOptional: true)
        }
        let layout = ModelLayout(
            ManagedObjectModel(name: "Wide", entities: [EntityDescription(name: "Wide", attributes: attributes)]))
        try kind.withStore(layout) { store in
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
}
