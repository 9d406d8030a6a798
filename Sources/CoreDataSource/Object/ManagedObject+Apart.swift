internal import RowStore

/// Values that lie apart (``RowQuery/leavesValuesApart``): a fetch has left them in the store, and they are read together with the
/// whole row when one of them is needed.
extension ManagedObject {
    /// Whether a value of the row lies apart.
    final var hasValuesApart: Bool { layout.hasValuesApart(row) }

    /// Whether the bytes of a column are in the row, after reading them if they lie apart. False also if there is no value any more,
    /// because the object is gone.
    @inline(__always)
    final func hasBytes(_ column: Int) -> Bool { !row.liesApart(column) || readApart(column) }

    @inline(never)
    private func readApart(_ column: Int) -> Bool {
        // The number of a result may look like a value that lies apart.
        if home.holdsAnyValue { return true }
        home.context?.bringValues(of: self, column)
        return !row.liesApart(column) && !row.isNull(column)
    }

    /// Whether the object has read the large values that a newer row lacks, and nothing else shows that the row has changed. What
    /// changes them comes as a whole row, with a save, or is read by all objects anew.
    final func holdsValuesApart(of newer: RowSnapshot) -> Bool {
        guard layout.hasValuesApart(newer) else { return false }
        return layout.columns.indices.allSatisfy { column in
            if layout.columnsApart.contains(column) {
                if row.liesApart(column) { return false }
                if newer.liesApart(column) { return row.blobByteCount(column) == newer.blobByteCount(column) }
            }
            return row.isEqual(to: newer, column: column, storage: layout.columns[column].storage)
        }
    }

    /// The row with all values. Those that lie apart and cannot be read are null.
    final var wholeRow: RowSnapshot { row(with: layout.columnsApart) }

    /// The row with the values of some columns. Others may lie apart.
    final func row(with columns: [Int]) -> RowSnapshot {
        if layout.columnsApart.isEmpty { return row }
        for column in columns where layout.columnsApart.contains(column) && !hasBytes(column) {
            return layout.withoutValuesApart(row)
        }
        return row
    }
}

extension ManagedObject {
    /// The bytes that its row takes in memory. For tests.
    package final var rowByteCount: Int { row.byteCount }
}
