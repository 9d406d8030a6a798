internal import RowStore

/// The rows that small saves left of one entity, by key, by unique values and by their links.
struct PendingTable {
    let layout: EntityLayout
    private(set) var rows = PartitionedRows<Int64, PendingRow>()
    /// The keys of the rows with those values, by the hash of the values; for each constraint.
    private var unique: [PartitionedRows<UInt64, PendingKeys>]
    /// The keys of the rows that lead to a row, by its key; for each column of links.
    private var sources: [PartitionedRows<Int64, PendingKeys>]

    init(_ layout: EntityLayout) {
        self.layout = layout
        unique = Array(repeating: PartitionedRows(), count: layout.constraints.count)
        sources = Array(repeating: PartitionedRows(), count: layout.linkColumns.count)
    }

    /// Stores what a save left of a row, unless a newer save has left something else.
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

    /// Forgets a row if that save was the newest that changed it.
    mutating func remove(_ key: Int64, leftBy number: Int64) {
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

    /// The keys of rows that may have the values of that hash.
    func keys(_ constraint: Int, _ hash: UInt64) -> [Int64] { unique[constraint][hash]?.all ?? [] }

    /// The keys of rows that lead to that one.
    func sources(_ link: Int, of end: Int64) -> [Int64] { sources[link][end]?.all ?? [] }
}

/// Keys of rows: nearly always one for unique values, and any number for links.
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
            // No other reference holds the set now, so it is not copied.
            self = .one(key)
            keys.insert(key)
            self = .several(keys)
        }
    }

    /// - Returns: Whether none is left.
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
