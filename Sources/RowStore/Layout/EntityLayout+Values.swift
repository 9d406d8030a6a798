/// Converting rows to values and back.
extension EntityLayout {
    /// The values of a row, in the order of ``columns``.
    ///
    /// ```swift
    /// for (column, value) in zip(layout.columns, layout.values(of: row)) where column.isStored {
    ///     print(column.name, value)
    /// }
    /// ```
    ///
    /// - Parameter row: A row of this entity. A row of another entity is a programmer error and traps.
    public func values(of row: RowSnapshot) -> [RowValue] {
        precondition(row.columnCount == columns.count, "A row of \(row.columnCount) columns is not one of \(name).")
        return columns.indices.map { row.value($0, columns[$0].storage) }
    }

    /// Makes a row.
    ///
    /// - Parameter values: One for each of ``columns``, in their order.
    /// - Throws: `storeCorrupt` if there are more or fewer, or if a value does not fit its column's ``ColumnLayout/storage``;
    ///   `valueTooLarge`. This is how a store finds damaged values.
    public func row(_ values: [RowValue]) throws(DataSourceError) -> RowSnapshot {
        guard values.count == columns.count else {
            throw DataSourceError(
                .storeCorrupt,
                "A stored object of \(name) has \(values.count) values instead of \(columns.count). Restore the store from a copy, or delete it and start over.",
                entityName: name)
        }
        var row = RowSnapshot(columnCount: columns.count)
        for (index, value) in values.enumerated() {
            let column = columns[index]
            guard value.fits(column.storage) else {
                throw DataSourceError(
                    .storeCorrupt,
                    "An object of \(name) has a stored \(column.name) that does not have its type. Restore the store from a copy, or correct that value.",
                    entityName: name, attributeName: column.name)
            }
            guard value.byteCount <= RowSnapshot.longestValue else {
                throw DataSourceError(
                    .valueTooLarge,
                    "An object of \(name) has a \(column.name) of \(value.byteCount) bytes, but a value can have at most \(RowSnapshot.longestValue).",
                    entityName: name, attributeName: column.name)
            }
            row.setValue(value, index)
        }
        return row
    }
}

extension RowValue {
    /// How many bytes a string or blob has; 0 for a value that always fits.
    fileprivate var byteCount: Int {
        switch self {
        case .null, .integer, .real: 0
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}
