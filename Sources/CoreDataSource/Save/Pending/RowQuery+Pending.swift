internal import RowStore

/// Rows that replace stored ones.
protocol NewerRows {
    var isEmpty: Bool { get }
    /// Whether the stored row with that key, if there is one, is ignored.
    func replaces(_ key: Int64) -> Bool
    /// Passes on the rows that count instead. Deleted ones are left out.
    func forEachRow(_ body: (Int64, RowSnapshot) throws(DataSourceError) -> Void) throws(DataSourceError)
}

extension RowQuery {
    /// The first rows of the query, within limit and offset or more, from the first stored rows that match and the newer ones.
    ///
    /// - Parameter isComplete: Whether the stored rows are all that match.
    /// - Returns: Nil if more stored rows must be read.
    /// - Throws: What the predicate throws.
    func firstRows(
        _ stored: [StoredRow], under newer: some NewerRows, isComplete: Bool, _ layout: EntityLayout
    ) throws(DataSourceError) -> [StoredRow]? {
        var more: [StoredRow] = []
        try newer.forEachRow { (key, row) throws(DataSourceError) in
            if try predicate.evaluate(row, key: key, layout, budget) { more.append(StoredRow(key: key, row: row)) }
        }
        var rows = merge(more, into: stored.filter { !newer.replaces($0.key) }, layout)
        if isComplete { return rows }
        if isOrdered, let last = stored.last {
            // Stored rows that were not read may come before newer rows that follow the last one that was read.
            while let row = rows.last, last.precedes(row, by: sort, layout) { rows.removeLast() }
        }
        return rows.count >= offset + (limit ?? .max) ? rows : nil
    }
}

extension RowPredicate {
    /// A column and a few values, one of which every matching row has there; nil if the predicate has no such column.
    func wantedValues(_ layout: EntityLayout) -> (column: Int, values: [RowValue])? {
        switch self {
        case .compare(let column, .equal, let value): return wanted(column, [value], layout)
        case .isIn(let column, let values): return wanted(column, values, layout)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return wanted(column, list.elements, layout)
        case .and(let parts):
            return parts.compactMap { $0.wantedValues(layout) }.min { $0.values.count < $1.values.count }
        default: return nil
        }
    }

    private func wanted(
        _ column: Int, _ values: [RowValue], _ layout: EntityLayout
    ) -> (column: Int, values: [RowValue])? {
        if JoinedColumn.isJoined(column) { return nil }
        let storage = layout.columns[column].storage
        return (
            column,
            values.count == 1 && values[0].fits(storage) ? values : Array(Set(values.filter { $0.fits(storage) }))
        )
    }

    /// Whether every matching row is in a range of a column that an index of the store finds.
    func isInIndexedRange(_ layout: EntityLayout) -> Bool {
        switch self {
        case .compare(let column, let relation, let value):
            relation != .notEqual && value != .null && !JoinedColumn.isJoined(column)
                && layout.indexedColumns.contains(column)
                && !layout.columns[column].isDecimal
        case .and(let parts): parts.contains { $0.isInIndexedRange(layout) }
        default: false
        }
    }
}
