internal import RowStore

/// The rows that small saves left of one entity, by key and by unique values.
struct PendingTable {
    let layout: EntityLayout
    private(set) var rows: [Int64: PendingRow] = [:]
    /// The keys of the rows with those values, by the hash of the values; for each constraint.
    private var unique: [[UInt64: Keys]]

    /// Nearly always one.
    private enum Keys {
        case one(Int64)
        case several([Int64])
    }

    init(_ layout: EntityLayout) {
        self.layout = layout
        unique = Array(repeating: [:], count: layout.constraints.count)
    }

    /// Takes what a save left of a row, unless a newer save has left something else.
    mutating func put(_ key: Int64, _ row: PendingRow) {
        if let older = rows.updateValue(row, forKey: key) {
            guard older.number <= row.number else {
                rows[key] = older
                return
            }
            if let old = older.row { removeUniqueValues(of: old, key) }
        }
        guard let new = row.row else { return }
        for (constraint, columns) in layout.constraints.enumerated() {
            guard let hash = new.uniqueHash(columns, layout) else { continue }
            switch unique[constraint][hash] {
            case nil: unique[constraint][hash] = .one(key)
            case .one(let other): unique[constraint][hash] = .several([other, key])
            case .several(let others): unique[constraint][hash] = .several(others + [key])
            }
        }
    }

    /// Forgets a row if that save was the newest that touched it.
    mutating func remove(_ key: Int64, leftBy number: Int64) {
        guard rows[key]?.number == number, let removed = rows.removeValue(forKey: key) else { return }
        if let row = removed.row { removeUniqueValues(of: row, key) }
    }

    private mutating func removeUniqueValues(of row: RowSnapshot, _ key: Int64) {
        for (constraint, columns) in layout.constraints.enumerated() {
            guard let hash = row.uniqueHash(columns, layout) else { continue }
            switch unique[constraint][hash] {
            case .one(key): unique[constraint][hash] = nil
            case .several(let keys):
                let rest = keys.filter { $0 != key }
                unique[constraint][hash] = rest.count == 1 ? .one(rest[0]) : .several(rest)
            case .one, nil: break
            }
        }
    }

    /// The keys of rows that may have the values of that hash.
    func keys(_ constraint: Int, _ hash: UInt64) -> [Int64] {
        switch unique[constraint][hash] {
        case nil: []
        case .one(let key): [key]
        case .several(let keys): keys
        }
    }
}
