internal import RowStore

/// The rows of one entity from small saves, indexed by key, by unique values and by links.
struct PendingTable {
    let layout: EntityLayout
    private(set) var rows = PartitionedRows<Int64, PendingRow>()
    /// For each constraint, the keys of rows by the hash of the rows' values.
    private var unique: [PartitionedRows<UInt64, PendingKeys>]
    /// For each link column, the keys of rows by the key of the rows' destination.
    private var sources: [PartitionedRows<Int64, PendingKeys>]

    init(_ layout: EntityLayout) {
        self.layout = layout
        unique = Array(repeating: PartitionedRows(), count: layout.constraints.count)
        sources = Array(repeating: PartitionedRows(), count: layout.linkColumns.count)
    }

    /// Sets the row after a save. Does nothing if a newer save has set the row.
    mutating func put(_ key: Int64, _ row: PendingRow) {
        if let older = rows.updateValue(row, forKey: key) {
            guard older.number <= row.number else {
                rows.updateValue(older, forKey: key)
                return
            }
            if let old = older.row { removeValues(of: old, key) }
        }
        guard let new = row.row else { return }
        for (constraint, columns) in layout.constraints.enumerated() {
            if let hash = new.uniqueHash(columns, layout) {
                unique[constraint].change(hash, initial: .one(key)) { $0.insert(key) }
            }
        }
        for (link, column) in layout.linkColumns.enumerated() where !new.isNull(column) {
            sources[link].change(new.integer(column), initial: .one(key)) { $0.insert(key) }
        }
    }

    /// Removes a row, if the save with the number was the last save that changed the row.
    mutating func remove(_ key: Int64, lastChangedBy number: SaveNumber) {
        guard rows[key]?.number == number, let removed = rows.removeValue(forKey: key) else { return }
        if let row = removed.row { removeValues(of: row, key) }
    }

    private mutating func removeValues(of row: RowSnapshot, _ key: Int64) {
        for (constraint, columns) in layout.constraints.enumerated() {
            guard let hash = row.uniqueHash(columns, layout) else { continue }
            unique[constraint].removeIf(hash) { $0.remove(key) }
        }
        for (link, column) in layout.linkColumns.enumerated() where !row.isNull(column) {
            sources[link].removeIf(row.integer(column)) { $0.remove(key) }
        }
    }

    /// Returns the keys of rows whose values have the hash.
    func keys(_ constraint: Int, _ hash: UInt64) -> [Int64] { unique[constraint][hash]?.all ?? [] }

    /// Returns the keys of the rows whose link column refers to the destination `end`.
    func sources(_ link: Int, of end: Int64) -> [Int64] { sources[link][end]?.all ?? [] }
}

/// The keys of rows. There is nearly always one key for unique values, and any number of keys for links.
private enum PendingKeys: Sendable {
    case one(Int64)
    case several(Set<Int64>)

    var all: [Int64] {
        switch self {
        case .one(let key): [key]
        case .several(let keys): Array(keys)
        }
    }

    mutating func insert(_ key: Int64) {
        switch self {
        case .one(let other): if other != key { self = .several([other, key]) }
        case .several(var keys):
            // Drop the reference to the set, so that the insertion does not copy it.
            self = .one(key)
            keys.insert(key)
            self = .several(keys)
        }
    }

    /// - Returns: Whether no key is left.
    mutating func remove(_ key: Int64) -> Bool {
        switch self {
        case .one(let other): return other == key
        case .several(var keys):
            self = .one(key)
            keys.remove(key)
            self = .several(keys)
            return keys.isEmpty
        }
    }
}
