package import RowStore
package import SQLiteStore
internal import StoreTestModel
internal import TestSupport

/// Random saves, and the contents of a store after each save.
package struct SaveSequence {
    package let saves: [ChangeSet]
    /// The strings by key after each number of saves, each with the number of the last save of all rows.
    package let states: [[Int64: String]]

    /// The key of the row with the number of saves.
    static let counter: Int64 = 1
    /// The number of rows of the first save: so many that a save of all rows is written by one statement.
    private static let firstRows: Int64 = 40
    /// The first key of the first save's rows. The keys of other saves are ten times their number and a little more.
    private static let firstKey: Int64 = 1_000_000

    package init(count: Int, seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var rows: [Int64: RowSnapshot] = [:]
        var saves: [ChangeSet] = []
        var states: [[Int64: String]] = [[:]]
        for number in 1...count {
            saves.append(SaveSequence.save(number, &rows, &generator))
            states.append(rows.mapValues(SaveSequence.state))
        }
        self.saves = saves
        self.states = states
    }

    private static func save(
        _ number: Int, _ rows: inout [Int64: RowSnapshot], _ generator: inout SeededRandom
    ) -> ChangeSet {
        if number % 3 == 0 { return saveAll(number, &rows) }
        let layout = TestModel.layout.entities[TestModel.item]
        var insert: [StoredRow] = []
        var update: [UpdatedRow] = []
        var delete: [StoredRow] = []
        var count = row(number, "save \(number)")
        count.setReal(Double(number), TestModel.real)
        if let old = rows[counter] {
            update.append(.of(counter, old, count, layout))
        } else {
            insert.append(StoredRow(key: counter, row: count))
            insert += (1...firstRows).map { StoredRow(key: firstKey + $0, row: row(Int(firstKey + $0), "first")) }
        }
        var touched: Set<Int64> = [counter]
        for place in 0..<Int.random(in: 1...4, using: &generator) {
            // Some rows have overflow pages, so that the WAL fills and is copied.
            let length =
                Int.random(in: 0...20, using: &generator) == 0 ? 60_000 : Int.random(in: 0...300, using: &generator)
            let new = row(number * 10 + place, String(repeating: "\(number % 10)", count: length))
            let known = rows.keys.filter { !touched.contains($0) }.sorted().randomElement(using: &generator)
            switch (Int.random(in: 0..<3, using: &generator), known) {
            case (1, let key?): update.append(.of(key, rows[key] ?? new, new, layout))
            case (2, let key?): delete.append(StoredRow(key: key, row: rows[key] ?? new))
            default: insert.append(StoredRow(key: Int64(number * 10 + place), row: new))
            }
            if let key = update.last?.key { touched.insert(key) }
            if let key = delete.last?.key { touched.insert(key) }
        }
        for row in insert { rows[row.key] = row.row }
        for row in update { rows[row.key] = row.row }
        for row in delete { rows[row.key] = nil }
        return .of(insert: insert, update: update, delete: delete, number: Int64(number))
    }

    /// Sets one column of all rows to the same value.
    private static func saveAll(_ number: Int, _ rows: inout [Int64: RowSnapshot]) -> ChangeSet {
        var changes = EntityChanges(entity: TestModel.item)
        var columns = ColumnSet()
        columns.insert(TestModel.real)
        for (key, old) in rows.sorted(by: { $0.key < $1.key }) {
            var row = old
            row.setReal(Double(number), TestModel.real)
            changes.updated.append(UpdatedRow(key: key, row: row, previous: old, columns: columns))
            rows[key] = row
        }
        changes.sharedColumns = columns
        var set = ChangeSet(entities: [changes])
        set.number = Int64(number)
        return set
    }

    private static func state(_ row: RowSnapshot) -> String {
        "\(row.real(TestModel.real)) \(row.text(TestModel.text))"
    }

    private static func row(_ integer: Int, _ text: String) -> RowSnapshot {
        TestModel.row(.integer(Int64(integer)), .null, .text(text))
    }

    /// The number of saves in a store with all of their rows and no others; nil if there is half of a save.
    package func count(in store: SQLiteStore) throws -> Int? {
        let rows = try store.read(.statement) { (reader) throws(DataSourceError) in
            try reader.rows(RowQuery(entity: TestModel.item))
        }
        let found = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, SaveSequence.state($0.row)) })
        let number = rows.first { $0.key == SaveSequence.counter }.map { Int($0.row.real(TestModel.real)) } ?? 0
        return states.indices.contains(number) && states[number] == found ? number : nil
    }
}
