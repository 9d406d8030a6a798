package import RowStore

/// A query as a server answers it: what it can say in SQL, and what is left to do here with the rows that it returns.
///
/// The server has none of this library's functions and orders. What it cannot test is tested here, row by row; if anything is
/// left to test or to sort, the rows are counted for limit and offset here too.
package struct QueryStatement: Sendable {
    /// Returns the key and then ``columns``, or one number if ``isCount``. Its values are `$1`, `$2`...
    package let sql: String
    package let parameters: [QueryParameter]
    /// The columns that each row has, in the order of the results after the key.
    package let columns: [Int]
    /// What each row has to be tested for here; nil for nothing.
    package let filter: RowPredicate?
    /// Whether the rows come in the order of the query, or it has none.
    package let isSorted: Bool
    /// Whether the server applies limit and offset, or the query has none.
    package let hasWindow: Bool
    /// Whether the server returns the number of rows, as the only column of one row.
    package let isCount: Bool
    /// Whether there is no such row, so that nobody has to be asked.
    package let isEmpty: Bool

    let query: RowQuery
    let layout: EntityLayout

    /// - Parameters:
    ///   - query: One without joined columns.
    ///   - isCount: Whether the number of rows is asked for, without limit and offset, and not the rows.
    package init(_ query: RowQuery, isCount: Bool = false, _ table: QueryTable, _ tables: [Int: QueryTable]) {
        self.query = query
        layout = table.layout
        var writer = PredicateWriter(table, joined: query.joined, tables)
        let (test, filter) = writer.split(query.predicate)
        self.filter = filter
        self.isCount = isCount && filter == nil
        isEmpty = test.isNever || !isCount && query.limit.map { $0 <= 0 } ?? false
        let rest = test.isAlways ? "" : " WHERE " + test.sql
        let from = " FROM \(table.name) AS \(writer.scope.alias)"
        guard !isCount || filter != nil else {
            sql = "SELECT count(*)" + from + rest
            (columns, parameters, isSorted, hasWindow) = ([], writer.parameters, true, true)
            return
        }
        columns = QueryStatement.columns(query, filter, isCount: isCount, table)
        let names = [writer.key] + columns.map { "\(writer.scope.alias).\(table.columns[$0] ?? "")" }
        var sql = "SELECT \(names.joined(separator: ", "))" + from + rest
        let isOrdered = !isCount && query.isOrdered
        isSorted = !isOrdered || query.sort.allSatisfy { $0.isPortable(table.layout) }
        if isOrdered && isSorted { sql += " ORDER BY " + writer.order(query.sort) }
        let isWhole = isCount || query.limit == nil && query.offset <= 0
        hasWindow = isWhole || filter == nil && isSorted
        if hasWindow && !isWhole {
            if let limit = query.limit { sql += " LIMIT \(writer.add(.integer(Int64(max(0, limit))), .integer))" }
            if query.offset > 0 { sql += " OFFSET \(writer.add(.integer(Int64(query.offset)), .integer))" }
        }
        self.sql = sql
        parameters = writer.parameters
    }

    /// Those that are wanted, and those by which the rows are sorted and tested here.
    private static func columns(
        _ query: RowQuery, _ filter: RowPredicate?, isCount: Bool, _ table: QueryTable
    ) -> [Int] {
        let stored = table.columns.keys.sorted()
        guard let wanted = isCount ? [] : query.columns else { return stored }
        var needed = Set(wanted)
        if !isCount { needed.formUnion(query.sort.map(\.column)) }
        _ = filter?.collectColumns(&needed)
        return stored.filter(needed.contains)
    }
}

extension SortKey {
    /// Whether a server can order by it as it is done here.
    fileprivate func isPortable(_ layout: EntityLayout) -> Bool {
        let column = layout.order(of: column)
        if JoinedColumn.isJoined(self.column) || column.isDecimal { return false }
        return column.storage != .text || order == .bytes
    }
}

extension PredicateWriter {
    /// Rows that are equal by all keys come in the order of their row keys.
    fileprivate func order(_ sort: [SortKey]) -> String {
        let terms = sort.compactMap { key in
            scope.table.columns[key.column].map { name in
                "\(scope.alias).\(name) \(key.isAscending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
            }
        }
        // Of keys none is null; their index has the default order.
        return (terms + [key]).joined(separator: ", ")
    }
}
