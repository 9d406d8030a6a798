internal import ManagedModel

extension EntityLayout {
    /// Whether a value of a row lies apart.
    @inline(__always)
    package func hasValuesApart(_ row: RowSnapshot) -> Bool {
        !columnsApart.isEmpty && columnsApart.contains { row.liesApart($0) }
    }

    /// The row without the values that lie apart.
    package func withoutValuesApart(_ row: RowSnapshot) -> RowSnapshot {
        var row = row
        for column in columnsApart where row.liesApart(column) { row.setNull(column) }
        return row
    }
}

extension ColumnLayout {
    /// Whether the model allows the store to keep a large value of the column apart from its row.
    package var mayLieApart: Bool {
        guard isStored, let attribute, attribute.allowsExternalBinaryDataStorage else { return false }
        return attribute.type == .binary || attribute.type == .transformable
    }
}
