internal import RowStore

/// The rows of one large save, indexed by key, by unique values and by links.
///
/// The saving context makes the block before it locks the log, so that no other context waits for the block. A block never
/// changes. The time of a look-up is logarithmic in the number of rows.
package final class PendingBlock: Sendable {
    /// A save with at least this many rows gets its own block.
    static let smallestCount = 1024

    let number: SaveNumber
    private let tables: [Int: Table]

    private struct Table: Sendable {
        let layout: EntityLayout
        /// In ascending order.
        var keys: ContiguousArray<Int64> = []
        /// The state of each row after the save, in the order of the keys; nil for a deleted row.
        var rows: ContiguousArray<RowSnapshot?> = []
        /// For each constraint, a hash table with open addressing. A used slot has one plus the position of a row. A free slot
        /// has 0.
        var indexes: [ContiguousArray<UInt32>] = []
        /// For each link column, an index from a destination to the rows that link to it.
        var sources: [PendingSources] = []
    }

    init(_ changes: ChangeSet, number: SaveNumber, _ layout: ModelLayout) {
        self.number = number
        var tables: [Int: Table] = [:]
        for entity in changes.entities { tables[entity.entity] = Self.table(entity, layout.entities[entity.entity]) }
        self.tables = tables
    }

    private init(_ other: PendingBlock, number: SaveNumber) {
        self.number = number
        tables = other.tables
    }

    /// Returns a block with the same rows and the given number of the save.
    func numbered(_ number: SaveNumber) -> PendingBlock { PendingBlock(self, number: number) }

    private static func table(_ changes: EntityChanges, _ layout: EntityLayout) -> Table {
        var table = Table(layout: layout)
        table.keys.reserveCapacity(changes.rowCount)
        table.rows.reserveCapacity(changes.rowCount)
        var isSorted = true
        changes.forEachRow { key, row in
            if let last = table.keys.last, last > key { isSorted = false }
            table.keys.append(key)
            table.rows.append(row)
        }
        if !isSorted {
            let order = table.keys.indices.sorted { table.keys[$0] < table.keys[$1] }
            table.rows = ContiguousArray(order.map { table.rows[$0] })
            table.keys = ContiguousArray(order.map { table.keys[$0] })
        }
        table.indexes = layout.constraints.map { columns in indexes(of: table.rows, columns, layout) }
        table.sources = layout.linkColumns.map { PendingSources($0, table.rows) }
        return table
    }

    private static func indexes(
        of rows: ContiguousArray<RowSnapshot?>, _ columns: [Int], _ layout: EntityLayout
    ) -> ContiguousArray<UInt32> {
        var capacity = 16
        while capacity < rows.count * 2 { capacity *= 2 }
        var indexes = ContiguousArray<UInt32>(repeating: 0, count: capacity)
        for (index, row) in rows.enumerated() {
            guard let hash = row?.uniqueHash(columns, layout) else { continue }
            var slot = Int(truncatingIfNeeded: hash) & (capacity - 1)
            while indexes[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            indexes[slot] = UInt32(index + 1)
        }
        return indexes
    }

    func isEmpty(_ entity: Int) -> Bool { tables[entity] == nil }

    func count(_ entity: Int) -> Int { tables[entity]?.keys.count ?? 0 }

    /// The keys of the rows that the save inserted, updated or deleted, in ascending order.
    func keys(_ entity: Int) -> some Sequence<Int64> { tables[entity]?.keys ?? [] }

    /// The keys of the rows whose link column refers to the row `end`.
    func sources(_ entity: Int, link: Int, of end: Int64) -> [Int64] {
        guard let table = tables[entity] else { return [] }
        return table.sources[link].indexes(end, table.rows).map { table.keys[$0] }
    }

    /// Returns the row after the save; nil if the save did not change the row.
    func row(_ entity: Int, _ key: Int64) -> PendingRow? {
        guard let table = tables[entity] else { return nil }
        var (low, high) = (0, table.keys.count)
        while low < high {
            let middle = (low + high) / 2
            if table.keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        guard low < table.keys.count, table.keys[low] == key else { return nil }
        return PendingRow(number: number, row: table.rows[low])
    }

    /// Returns the key of the row with the given values in the columns of a uniqueness constraint.
    func key(_ entity: Int, constraint: Int, hash: UInt64, values: [RowValue]) -> Int64? {
        guard let table = tables[entity] else { return nil }
        let indexes = table.indexes[constraint]
        var slot = Int(truncatingIfNeeded: hash) & (indexes.count - 1)
        while indexes[slot] != 0 {
            let index = Int(indexes[slot]) - 1
            if let row = table.rows[index], row.holds(values, table.layout.constraints[constraint]) {
                return table.keys[index]
            }
            slot = (slot + 1) & (indexes.count - 1)
        }
        return nil
    }

    /// Calls the body for each row of an entity.
    func forEachRow(
        _ entity: Int, _ body: (Int64, PendingRow) throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        guard let table = tables[entity] else { return }
        for (key, row) in zip(table.keys, table.rows) { try body(key, PendingRow(number: number, row: row)) }
    }
}
