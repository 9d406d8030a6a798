internal import ManagedModel
internal import PredicateSQL
internal import RowStore

/// The SQL of a query, the values of its parameters, and the columns of its rows.
///
/// Queries that differ only in their values have the same SQL, so a connection can use the same prepared statement for them.
struct QueryStatement {
    private(set) var sql = ""
    /// The values of the parameters, in the order of the parameters' numbers.
    private(set) var values: [SQLParameter] = []
    /// The tables of related rows in the SQL, for an explanation.
    private(set) var relatedTables: [RelatedTable] = []
    /// The columns of each row, in the order of the statement's results. The key is before these columns.
    private(set) var columns: ContiguousArray<EntityTable.Column> = []
    /// The joined columns, in the order of the statement's results. They follow ``columns``.
    private(set) var joined: [Int] = []
    let sort: [SortKey]
    /// The predicate that this library evaluates for each row; nil if SQLite evaluates the whole predicate. Used if the
    /// predicate has more columns than an SQLite function can have arguments.
    private(set) var filter: RowFilter?
    /// Whether this library reads the related rows itself, because SQLite cannot calculate the joined columns.
    private(set) var joinsInSwift = false

    /// The maximum length of the predicate in a kept statement, in bytes. A longer predicate is seldom repeated.
    private static let keptLength = 6_000

    /// Whether the connection keeps the statement for later queries.
    private(set) var isKept = true

    /// The kind of result that the statement returns for the matching rows.
    enum Result: Equatable {
        case rows
        case count
        case aggregates([AggregateExpression])
        /// No result. The SQL is only the predicate, for use in a statement that changes the matching rows.
        case nothing

        /// Returns the expressions to select; nil if they depend on the columns of the query.
        fileprivate func expressions(_ table: EntityTable) -> String? {
            switch self {
            case .rows, .nothing: nil
            case .count: "count(*)"
            case .aggregates(let expressions): expressions.map { $0.sql(table) }.joined(separator: ", ")
            }
        }
    }

    init(
        _ query: RowQuery, selecting result: Result = .rows, from table: EntityTable, schema: StoreSchema,
        limits: SQLLimits
    ) {
        let isOrdered = result == .rows && query.isOrdered
        sort = isOrdered ? query.sort : []
        var writer = PredicateWriter(
            query, from: table.queryTable, tables: schema.queryTables, SQLitePredicateDialect(limits, table))
        var wanted = query.columns
        let predicate = self.predicate(of: query, writer: &writer, columns: &wanted, limits: limits)
        isKept = writer.parameters.count <= 38 && predicate.utf8.count <= QueryStatement.keptLength
        guard result == .rows else {
            let start = result.expressions(table).map {
                "SELECT \($0) FROM \(table.quotedName)" + QueryStatement.alias(writer)
            }
            sql = start.map { $0 + QueryStatement.clause(predicate) } ?? predicate
            values = writer.parameters
            return
        }
        var names = select(wanted, query, table)
        if !query.joined.isEmpty, !joinsInSwift {
            guard let selected = selectJoined(query, &writer) else {
                joinsInSwift = true
                return
            }
            names = (names ?? table.columns.map { table.expressions[$0.index] }) + selected
        }
        if joinsInSwift { return }
        let start =
            names.map {
                "SELECT \(([EntityTable.quotedKey] + $0).joined(separator: ", ")) FROM \(table.quotedName)"
            }
            ?? table.selectSQL
        sql = start + QueryStatement.alias(writer) + QueryStatement.clause(predicate)
        let hasWindow = query.limit != nil || query.offset > 0
        if isOrdered { sql += order(query, table, hasWindow: hasWindow) }
        if hasWindow { sql += window(query, &writer) }
        values = writer.parameters
        relatedTables = writer.relatedTables
    }

    private static func clause(_ predicate: String) -> String { predicate.isEmpty ? "" : " WHERE " + predicate }

    /// Returns the alias of the table, if subqueries refer to the table.
    private static func alias(_ writer: PredicateWriter) -> String {
        writer.needsOutermostAlias ? " AS \(PredicateWriter.outermost)" : ""
    }

    /// Whether SQLite evaluates the whole predicate without calling this library.
    var isEvaluatedBySQLite: Bool { filter == nil && !joinsInSwift && !callsBack }

    /// Whether SQLite calls this library to evaluate predicates.
    var callsBack: Bool {
        values.contains { if case .predicate = $0 { true } else { false } }
    }

    /// The error that ended the statement because a predicate could not be evaluated; nil without such an error.
    var failure: DataSourceError? {
        for case .predicate(let function) in values { if let failure = function.failure { return failure } }
        return nil
    }

    /// Returns the predicate as SQL, if possible. There are three other cases:
    ///
    /// - If SQL cannot express the predicate, SQLite calls this library for each row.
    /// - If the predicate has too many columns for a function of SQLite, ``filter`` evaluates the predicate.
    /// - If such a predicate uses joined columns, this library reads the related rows first (``joinsInSwift``).
    private mutating func predicate(
        of query: RowQuery, writer: inout PredicateWriter, columns: inout [Int]?, limits: SQLLimits
    ) -> String {
        let predicate = query.predicate
        if predicate == .constant(true) { return "" }
        let empty = writer
        // Use half of SQLite's limit for the predicate, because the columns need space, too.
        let whole = writer.predicate(predicate)
        if whole.isExact, whole.sql.utf8.count < limits.length / 2 { return whole.sql }
        writer = empty
        let passedBack = writer.fallback(predicate)
        if passedBack.isExact { return passedBack.sql }
        writer = empty
        if predicate.usesJoinedColumns {
            joinsInSwift = true
        } else {
            filter = RowFilter(predicate, query.budget)
            columns = nil
        }
        return ""
    }

    /// - Returns: The expressions to select; nil to select all columns by name.
    private mutating func select(_ wanted: [Int]?, _ query: RowQuery, _ table: EntityTable) -> [String]? {
        columns = table.columns
        if let wanted {
            let all = Set(wanted + sort.map(\.column))
            columns = table.columns.filter { all.contains($0.index) }
            return columns.count == table.columns.count ? nil : columns.map { table.expressions[$0.index] }
        }
        // A filter needs whole rows, and so does a sort by deferred values.
        guard query.defersValues, filter == nil, let expressions = table.deferredExpressions,
            !sort.contains(where: { table.layout.deferredColumns.contains($0.column) })
        else { return nil }
        columns = table.deferredColumns
        return expressions
    }

    /// Returns the expressions for the joined columns that the rows need; nil if SQL cannot express a column.
    private mutating func selectJoined(_ query: RowQuery, _ writer: inout PredicateWriter) -> [String]? {
        var wanted = (query.columns ?? []) + sort.map(\.column)
        if query.returnsJoined { wanted += query.joined.enumerated().map { $1.number(at: $0) } }
        joined = Set(wanted).filter(JoinedColumn.isJoined).sorted()
        var expressions: [String] = []
        for column in joined {
            guard let expression = writer.column(column) else { return nil }
            expressions.append("\(expression) AS \(QueryStatement.alias(column))")
        }
        return expressions
    }

    /// Returns the name of a joined column in SQL. No attribute can have this name.
    fileprivate static func alias(_ column: Int) -> String { "joined \(column)".quoted }

    private func order(_ query: RowQuery, _ table: EntityTable, hasWindow: Bool) -> String {
        let key = EntityTable.quotedKey
        // With the sign `+`, SQLite treats the key as an expression, not as a column. It then uses an index to find the few
        // matching rows, and sorts them. Without the sign, it would read all rows in the order of the keys.
        if sort.isEmpty, !hasWindow, query.predicate.isInRange(table) { return " ORDER BY +\(key)" }
        return " ORDER BY " + (sort.map { table.sortExpression($0) } + [key]).joined(separator: ", ")
    }

    private mutating func window(_ query: RowQuery, _ writer: inout PredicateWriter) -> String {
        if filter != nil {
            // The filter must apply the limit, because SQLite does not know which rows the filter accepts.
            filter?.remainingOffset = max(0, query.offset)
            filter?.remainingLimit = query.limit.map { max(0, $0) }
            return ""
        }
        let limit = writer.add(.integer(Int64(max(0, query.limit ?? Int.max))), .integer)
        let offset = writer.add(.integer(Int64(max(0, query.offset))), .integer)
        return " LIMIT \(limit) OFFSET \(offset)"
    }

    /// Returns the statement in a connection, with the values bound.
    func prepared(in connection: Connection) throws(DataSourceError) -> Statement {
        try connection.statement(sql, values, sortedBy: sort, isKept: isKept)
    }
}

extension EntityTable {
    fileprivate func sortExpression(_ key: SortKey) -> String {
        let direction = key.isAscending ? " ASC" : " DESC"
        let order = layout.order(of: key.column)
        let expression = JoinedColumn.isJoined(key.column) ? QueryStatement.alias(key.column) : expressions[key.column]
        switch key.order {
        case .folded(let options) where order.storage == .text:
            return "text_sort_key(\(expression), \(options.rawValue))" + direction
        case .collation(let collation) where order.storage == .text:
            return expression + " COLLATE " + collation.name.quoted + direction
        default: return expression + (order.isDecimal ? " COLLATE decimal" : "") + direction
        }
    }
}

extension RowPredicate {
    /// Returns whether all matching rows are in one range of an indexed column.
    fileprivate func isInRange(_ table: EntityTable) -> Bool {
        switch self {
        case .compare(let column, let relation, let value):
            return relation != .equal && relation != .notEqual && value != .null
                && table.indexedColumns.contains(column)
        case .and(let parts): return parts.contains { $0.isInRange(table) }
        case .or(let parts):
            let rest = parts.filter { $0.truth(table.layout) != false }
            return rest.count == 1 && rest[0].isInRange(table)
        default: return false
        }
    }
}
