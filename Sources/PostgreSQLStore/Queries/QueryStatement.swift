package import PredicateSQL
package import RowStore

/// The SQL of a query, and the work that remains for the client.
///
/// A server lacks some functions and sort orders of this library. For each row, the client evaluates the parts of the
/// predicate that the server cannot evaluate. If the client has to evaluate or sort, the client also applies the limit
/// and the offset.
package struct QueryStatement {
    /// Selects the key, ``columns`` and ``joined``, or one number if ``isCount``. The parameters are `$1`, `$2`...
    package let sql: String
    package let parameters: [SQLParameter]
    /// The tables of related rows in the SQL, for an explanation.
    let relatedTables: [RelatedTable]
    /// The columns of each row, in the order of the results after the key.
    package let columns: [Int]
    /// The numbers of the joined columns, which come after ``columns``. Other joined columns of the query are null.
    package let joined: [Int]
    /// The predicate that the client evaluates for each row; nil if there is none.
    package let filter: RowPredicate?
    /// Whether the server returns the rows in the order of the query, or the query has no order.
    package let isSorted: Bool
    /// Whether the server applies the limit and the offset, or the query has neither.
    package let appliesWindow: Bool
    /// Whether the server returns the number of rows, as the only column of one row.
    package let isCount: Bool
    /// Whether no row can match, so that the statement need not be sent.
    package let isEmpty: Bool

    package let query: RowQuery
    let layout: EntityLayout

    /// The largest number of rows that the server returns; nil if there is no limit.
    package var rowLimit: Int? { isCount ? 1 : appliesWindow ? query.limit : nil }

    /// - Parameters:
    ///   - isCount: Whether to return the number of rows, without limit and offset, instead of the rows.
    ///   - table: The table of the query's entity.
    /// - Returns: Nil for a query with joined columns that a server cannot calculate.
    package init?(_ query: RowQuery, isCount: Bool = false, _ table: QueryTable, _ tables: [Int: QueryTable]) {
        self.query = query
        layout = table.layout
        var writer = PredicateWriter(query, from: table, tables: tables, PostgreSQLPredicateDialect())
        let (predicate, filter) = writer.split(query.predicate)
        self.filter = filter
        self.isCount = isCount && filter == nil
        isEmpty = predicate.isNever || !isCount && query.limit.map { $0 <= 0 } ?? false
        let results = ResultColumns(query, filter, isCount: isCount, table)
        columns = results.columns
        joined = results.joined
        var names = self.isCount ? ["count(*)"] : [writer.key]
        for column in columns + joined {
            guard let name = writer.column(column) else { return nil }
            names.append(name)
        }
        var sql = "SELECT \(names.joined(separator: ", ")) FROM \(table.name) AS \(PredicateWriter.outermost)"
        if !predicate.isAlways { sql += " WHERE " + predicate.sql }
        let isOrdered = !isCount && query.isOrdered
        isSorted = !isOrdered || query.sort.allSatisfy { $0.isPortable(table.layout) }
        if isOrdered && isSorted { sql += " ORDER BY " + writer.order(query.sort, results) }
        let isWhole = isCount || query.limit == nil && query.offset <= 0
        appliesWindow = isWhole || filter == nil && isSorted
        if appliesWindow && !isWhole {
            if let limit = query.limit { sql += " LIMIT \(writer.add(.integer(Int64(max(0, limit))), .integer))" }
            if query.offset > 0 { sql += " OFFSET \(writer.add(.integer(Int64(query.offset)), .integer))" }
        }
        self.sql = sql
        parameters = writer.parameters
        relatedTables = writer.relatedTables
    }
}

/// The columns that a statement returns after the key: requested columns, sort columns, and columns that the client needs for
/// its predicate.
private struct ResultColumns {
    let columns: [Int]
    let joined: [Int]

    init(_ query: RowQuery, _ filter: RowPredicate?, isCount: Bool, _ table: QueryTable) {
        var needed: Set<Int> = []
        _ = filter?.collectColumns(&needed)
        if !isCount {
            needed.formUnion(query.sort.map(\.column))
            needed.formUnion(query.columns ?? table.layout.storedColumns)
            if query.returnsJoined { needed.formUnion(query.joined.enumerated().map { $1.number(at: $0) }) }
        }
        columns = needed.filter { !JoinedColumn.isJoined($0) && table.columns[$0] != nil }.sorted()
        joined = needed.filter(JoinedColumn.isJoined).sorted()
    }

    /// The position of a joined column among the results, counted from 1.
    func position(_ column: Int) -> Int? {
        joined.firstIndex(of: column).map { 1 + columns.count + $0 + 1 }
    }
}

extension SortKey {
    /// Whether the sort key gives the same order on a server and on the client.
    fileprivate func isPortable(_ layout: EntityLayout) -> Bool {
        let column = layout.order(of: column)
        return !column.isDecimal && (column.storage != .text || order == .bytes)
    }
}

extension PredicateWriter {
    /// Returns the columns of ORDER BY. The row key comes last, so that rows with equal sort keys have a fixed order.
    fileprivate mutating func order(_ sort: [SortKey], _ results: ResultColumns) -> String {
        var columns: [String] = []
        for key in sort {
            let name =
                results.columns.contains(key.column)
                ? column(key.column) : results.position(key.column).map(String.init)
            guard let name else { continue }
            columns.append(name + (key.isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST"))
        }
        // The key needs no NULLS FIRST, because it is never null. PostgreSQL can use the index of the key only without
        // NULLS FIRST.
        return (columns + [key]).joined(separator: ", ")
    }
}

extension QueryStatement {
    /// Describes the client's work on the rows that the server returns.
    package var clientSteps: [String] {
        var steps: [String] = []
        if let filter {
            let names = filter.names(layout)
            let list = names.isEmpty ? "" : " BY " + names.joined(separator: ", ")
            steps.append("TEST EACH ROW OUTSIDE OF POSTGRESQL" + list)
        }
        if !isSorted { steps.append("SORT OUTSIDE OF POSTGRESQL") }
        if !appliesWindow { steps.append("APPLY LIMIT AND OFFSET OUTSIDE OF POSTGRESQL") }
        return steps
    }
}

/// Reads the rows of a statement, and does the client's work.
extension QueryStatement {
    /// Passes the rows of the query to the body, in order and within limit and offset.
    func forEachRow(
        from reader: some StatementReader, _ body: (StoredRow) -> Void
    ) throws(DataSourceError) {
        if isEmpty { return }
        if !isSorted { return try sortedRows(from: reader).forEach(body) }
        var window = RowFilter(filter ?? .constant(true), query.budget)
        if !appliesWindow {
            window.remainingOffset = max(0, query.offset)
            window.remainingLimit = query.limit
        }
        try reader.read(self) { row throws(DataSourceError) in
            try query.budget.countRow()
            if try window.accepts(row, layout) { body(row) }
            return !window.isDone
        }
    }

    /// The number of matching rows.
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

    /// Rows after the end of the window are dropped only when at least this number of rows is kept.
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

    /// Sorts the rows and drops rows after the end of the window.
    private func keep(_ end: Int, of rows: inout [StoredRow]) {
        rows.sort { $0.precedes($1, by: query.sort, layout) }
        if rows.count > end { rows.removeSubrange(end...) }
    }
}
