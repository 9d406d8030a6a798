import RowStore
import SQLiteStore
import StoreTestModel

/// Random saves, and what a store holds after each of them.
struct SaveSequence {
    let saves: [ChangeSet]
    /// The texts by key after so many saves.
    let states: [[Int64: String]]

    /// The row that says how many saves there have been.
    static let counter: Int64 = 1

    init(count: Int, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var rows: [Int64: RowSnapshot] = [:]
        var saves: [ChangeSet] = []
        var states: [[Int64: String]] = [[:]]
        for number in 1...count {
            saves.append(SaveSequence.save(number, &rows, &generator))
            states.append(rows.mapValues { $0.text(TestModel.text) })
        }
        self.saves = saves
        self.states = states
    }

    private static func save(
        _ number: Int, _ rows: inout [Int64: RowSnapshot], _ generator: inout SeededGenerator
    ) -> ChangeSet {
        let layout = TestModel.layout.entities[TestModel.item]
        var insert: [StoredRow] = []
        var update: [UpdatedRow] = []
        var delete: [StoredRow] = []
        let count = row(number, "save \(number)")
        if let old = rows[counter] {
            update.append(.of(counter, old, count, layout))
        } else {
            insert.append(StoredRow(key: counter, row: count))
        }
        var touched: Set<Int64> = [counter]
        for place in 0..<Int.random(in: 1...4, using: &generator) {
            // Some rows are long enough for pages of their own, so that the log fills and is copied.
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

    private static func row(_ integer: Int, _ text: String) -> RowSnapshot {
        TestModel.row(.integer(Int64(integer)), .null, .text(text))
    }

    /// How many of the saves a store holds, all of their rows and no others; nil if it is half of one.
    func count(in store: SQLiteStore) throws -> Int? {
        let rows = try store.rows(RowQuery(entity: TestModel.item))
        let found = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.row.text(TestModel.text)) })
        let number = rows.first { $0.key == SaveSequence.counter }.map { Int($0.row.integer(TestModel.integer)) } ?? 0
        return states.indices.contains(number) && states[number] == found ? number : nil
    }
}
