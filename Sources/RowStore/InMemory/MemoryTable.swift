/// The rows of one entity, and the key of the row with each unique group of values.
struct MemoryTable: Sendable {
    let layout: EntityLayout
    private(set) var rows: [Int64: RowSnapshot] = [:]
    /// By constraint.
    private(set) var keys: [[[RowValue]: Int64]]
    private let transientColumns: [Int]

    init(_ layout: EntityLayout) {
        self.layout = layout
        keys = layout.constraints.map { _ in [:] }
        transientColumns = layout.columns.indices.filter { !layout.columns[$0].isStored }
    }

    /// The rows that match, in order if the query is ordered.
    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try query.matches(rows.lazy.map { StoredRow(key: $0.key, row: $0.value) }, layout)
    }

    /// Removes a row.
    mutating func remove(_ key: Int64) {
        guard let row = rows.removeValue(forKey: key) else { return }
        for (constraint, columns) in layout.constraints.enumerated() {
            if let values = uniqueValues(row, columns) { keys[constraint][values] = nil }
        }
    }

    /// Adds a row whose key is free.
    ///
    /// - Throws: `uniquenessViolated`; the table stays unchanged.
    mutating func insert(_ key: Int64, _ row: RowSnapshot) throws(DataSourceError) {
        guard rows[key] == nil else { throw DataSourceError(uniqueness: nil, layout) }
        let row = stored(row)
        var uniqueValues: [[RowValue]?] = []
        for (constraint, columns) in layout.constraints.enumerated() {
            let values = self.uniqueValues(row, columns)
            if let values, keys[constraint][values] != nil { throw DataSourceError(uniqueness: columns, layout) }
            uniqueValues.append(values)
        }
        for (constraint, values) in uniqueValues.enumerated() {
            if let values { keys[constraint][values] = key }
        }
        rows[key] = row
    }

    /// The values of a constraint's columns, or nil if one of them is null: such rows never collide.
    private func uniqueValues(_ row: RowSnapshot, _ columns: [Int]) -> [RowValue]? {
        if columns.contains(where: row.isNull) { return nil }
        return columns.map { row.value($0, layout.columns[$0].storage) }
    }

    /// The row without transient values.
    private func stored(_ row: RowSnapshot) -> RowSnapshot {
        precondition(
            row.columnCount == layout.columns.count, "A row of \(row.columnCount) columns was saved as \(layout.name).")
        guard transientColumns.contains(where: { !row.isNull($0) }) else { return row }
        var row = row
        for column in transientColumns { row.setNull(column) }
        return row
    }
}
