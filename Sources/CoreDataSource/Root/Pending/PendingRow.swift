internal import RowStore

/// The newest version of a row that some saves left.
struct PendingRow {
    /// The number of that save.
    let number: Int64
    /// Nil for a deleted row.
    let row: RowSnapshot?
}

extension EntityChanges {
    /// Passes on what the save left of each row that it changed: the new row, or nil for a deleted one.
    func forEachRow(_ body: (Int64, RowSnapshot?) -> Void) {
        for row in inserted { body(row.key, row.row) }
        for row in updated { body(row.key, row.row) }
        for row in deleted { body(row.key, nil) }
    }
}

extension RowSnapshot {
    /// The hash of the values in the columns of a uniqueness constraint; nil if one of them is null, because null never
    /// collides.
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
