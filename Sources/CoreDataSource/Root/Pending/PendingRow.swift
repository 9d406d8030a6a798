internal import RowStore

/// What the newest of some saves left of a row.
struct PendingRow {
    /// The number of that save.
    let number: Int64
    /// Nil for a deleted row.
    let row: RowSnapshot?
}

extension EntityChanges {
    /// Hands over what the save left of each row that it touched: the new row, or nil for a deleted one.
    func forEachRow(_ body: (Int64, RowSnapshot?) -> Void) {
        for row in inserted { body(row.key, row.row) }
        for row in updated { body(row.key, row.row) }
        for row in deleted { body(row.key, nil) }
    }
}

extension RowSnapshot {
    /// The hash of the values in the columns of a uniqueness constraint; nil if one of them is null, which collides with
    /// nothing.
    func uniqueHash(_ columns: [Int], _ layout: EntityLayout) -> UInt64? {
        var hash = UniqueHash()
        for column in columns {
            if isNull(column) { return nil }
            hash.combine(self, column: column, storage: layout.columns[column].storage)
        }
        return hash.value
    }

    /// Whether the columns hold those values.
    func holds(_ values: [RowValue], _ columns: [Int]) -> Bool {
        columns.indices.allSatisfy { holds(values[$0], column: columns[$0]) }
    }
}
