internal import RowStore

/// Reading the rows of a statement, and doing the rest of the work on this side.
extension QueryStatement {
    /// Passes on the rows of the query, in order and within limit and offset.
    func forEachRow(
        from reader: some StatementReader, _ body: (StoredRow) -> Void
    ) throws(DataSourceError) {
        if isEmpty { return }
        if !isSorted { return try sortedRows(from: reader).forEach(body) }
        var window = RowFilter(filter ?? .constant(true), query.budget)
        if !hasWindow {
            window.skip = max(0, query.offset)
            window.take = query.limit
        }
        try reader.read(self) { row throws(DataSourceError) in
            try query.budget.countRow()
            if try window.accepts(row, layout) { body(row) }
            return !window.isDone
        }
    }

    /// How many rows match.
    func count(from reader: some StatementReader) throws(DataSourceError) -> Int {
        if isEmpty { return 0 }
        var count = 0
        if isCount {
            try reader.read(self) { row throws(DataSourceError) in
                count = Int(row.key)
                return false
            }
        } else {
            try forEachRow(from: reader) { _ in count += 1 }
        }
        return count
    }

    /// The least number of rows that are read before rows outside of the window are dropped.
    private static let leastKept = 1024

    private func sortedRows(from reader: some StatementReader) throws(DataSourceError) -> ArraySlice<StoredRow> {
        let filter = filter ?? .constant(true)
        let offset = max(0, query.offset)
        let (sum, isEndless) = offset.addingReportingOverflow(query.limit ?? .max)
        let end = isEndless ? .max : sum
        let most = max(QueryStatement.leastKept, end > .max / 2 ? .max : 2 * end)
        var kept: [StoredRow] = []
        try reader.read(self) { row throws(DataSourceError) in
            try query.budget.countRow()
            guard try filter.evaluate(row, layout, query.budget) else { return true }
            kept.append(row)
            if kept.count >= most { keep(end, of: &kept) }
            return true
        }
        keep(end, of: &kept)
        return kept.dropFirst(offset)
    }

    /// Sorts rows and drops those after the end of the window.
    private func keep(_ end: Int, of rows: inout [StoredRow]) {
        rows.sort { $0.precedes($1, by: query.sort, layout) }
        if rows.count > end { rows.removeSubrange(end...) }
    }
}
