internal import ManagedModel
internal import PredicateSQL
internal import RowStore

/// A query as SQL, the values of its parameters, and the contents of its rows.
///
/// Queries that differ only in their values have the same SQL, by which a connection finds the prepared statement again.
struct QueryStatement {
    private(set) var sql = ""
    /// The values of the parameters, from the first one on.
    private(set) var values: [SQLParameter] = []
    /// The columns that each row has, in the order of the results after the key.
    private(set) var columns: ContiguousArray<EntityTable.Column> = []
    /// The joined columns that come after them.
    private(set) var joined: [Int] = []
    let sort: [SortKey]
    /// The work that is left for each row, if the predicate uses more columns than a function of SQLite can have.
    private(set) var filter: RowFilter?
    /// Whether SQLite can't calculate the joined columns, so that the related rows are read here.
    private(set) var isJoinedHere = false

    /// The longest predicate of a statement that is kept: a longer one is seldom repeated.
    private static let keptLength = 6_000

    /// Whether the statement is worth keeping.
    private(set) var isKept = true

    /// What is read of the rows that match.
    enum Result: Equatable {
        case rows
        case count
        case aggregates([AggregateTerm])
        /// Nothing: the SQL is the predicate alone, for a statement that changes them.
        case nothing

        /// What is selected, if that does not depend on the columns of the query.
        fileprivate func terms(_ table: EntityTable) -> String? {
            switch self {
            case .rows, .nothing: nil
            case .count: "count(*)"
            case .aggregates(let terms): terms.map { $0.sql(table) }.joined(separator: ", ")
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
            let start = result.terms(table).map {
                "SELECT \($0) FROM \(table.quotedName)" + QueryStatement.alias(writer)
            }
            sql = start.map { $0 + QueryStatement.clause(predicate) } ?? predicate
            values = writer.parameters
            return
        }
        var names = select(wanted, query, table)
        if !query.joined.isEmpty, !isJoinedHere {
            guard let selected = selectJoined(query, &writer) else {
                isJoinedHere = true
                return
            }
            names = (names ?? table.columns.map { table.terms[$0.index] }) + selected
        }
        if isJoinedHere { return }
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
    }

    private static func clause(_ predicate: String) -> String { predicate.isEmpty ? "" : " WHERE " + predicate }

    /// The name of the table, if other queries refer to it.
    private static func alias(_ writer: PredicateWriter) -> String {
        writer.namesOutermost ? " AS \(PredicateWriter.outermost)" : ""
    }

    /// Whether SQLite evaluates the predicate by itself.
    var isEvaluatedBySQLite: Bool { filter == nil && !isJoinedHere && !callsBack }

    /// Whether SQLite calls back to evaluate predicates.
    var callsBack: Bool {
        values.contains { if case .predicate = $0 { true } else { false } }
    }

    /// Why a predicate could not be evaluated, if that ended the statement.
    var failure: DataSourceError? {
        for case .predicate(let function) in values { if let failure = function.failure { return failure } }
        return nil
    }

    /// The predicate as SQL. What is too much for SQL is evaluated row by row, by SQLite if it can pass the columns on.
    private mutating func predicate(
        of query: RowQuery, writer: inout PredicateWriter, columns: inout [Int]?, limits: SQLLimits
    ) -> String {
        let predicate = query.predicate
        if predicate == .constant(true) { return "" }
        let empty = writer
        // The columns take the rest of what SQLite accepts.
        let whole = writer.predicate(predicate)
        if whole.isExact, whole.sql.utf8.count < limits.length / 2 { return whole.sql }
        writer = empty
        let passedBack = writer.fallback(predicate)
        if passedBack.isExact { return passedBack.sql }
        writer = empty
        if predicate.asksJoined {
            isJoinedHere = true
        } else {
            filter = RowFilter(predicate, query.budget)
            columns = nil
        }
        return ""
    }

    /// - Returns: The terms to select; nil for the names of all columns.
    private mutating func select(_ wanted: [Int]?, _ query: RowQuery, _ table: EntityTable) -> [String]? {
        columns = table.columns
        if let wanted {
            let all = Set(wanted + sort.map(\.column))
            columns = table.columns.filter { all.contains($0.index) }
            return columns.count == table.columns.count ? nil : columns.map { table.terms[$0.index] }
        }
        // What is evaluated or sorted outside of SQLite needs whole rows.
        guard query.defersValues, filter == nil, let terms = table.deferredTerms,
            !sort.contains(where: { table.layout.deferredColumns.contains($0.column) })
        else { return nil }
        columns = table.deferredColumns
        return terms
    }

    /// The joined columns that the rows must have; nil if SQL cannot express them.
    private mutating func selectJoined(_ query: RowQuery, _ writer: inout PredicateWriter) -> [String]? {
        var wanted = (query.columns ?? []) + sort.map(\.column)
        if query.returnsJoined { wanted += query.joined.enumerated().map { $1.number(at: $0) } }
        joined = Set(wanted).filter(JoinedColumn.isJoined).sorted()
        var terms: [String] = []
        for column in joined {
            guard let term = writer.column(column) else { return nil }
            terms.append("\(term) AS \(QueryStatement.alias(column))")
        }
        return terms
    }

    /// The name of a joined column, which no attribute can have.
    fileprivate static func alias(_ column: Int) -> String { "joined \(column)".quoted }

    private func order(_ query: RowQuery, _ table: EntityTable, hasWindow: Bool) -> String {
        let key = EntityTable.quotedKey
        // With the sign it is a calculation, so that SQLite does not read all rows in their order instead of a few by an index.
        if sort.isEmpty, !hasWindow, query.predicate.isInRange(table) { return " ORDER BY +\(key)" }
        return " ORDER BY " + (sort.map { table.sortTerm($0) } + [key]).joined(separator: ", ")
    }

    private mutating func window(_ query: RowQuery, _ writer: inout PredicateWriter) -> String {
        if filter != nil {
            // A filtered query counts its rows here.
            filter?.skip = max(0, query.offset)
            filter?.take = query.limit.map { max(0, $0) }
            return ""
        }
        let limit = writer.add(.integer(Int64(max(0, query.limit ?? Int.max))), .integer)
        let offset = writer.add(.integer(Int64(max(0, query.offset))), .integer)
        return " LIMIT \(limit) OFFSET \(offset)"
    }
}

extension Connection {
    /// The statement of a query, with its values bound.
    func statement(_ query: QueryStatement) throws(DataSourceError) -> Statement {
        try statement(query.sql, query.values, sortedBy: query.sort, isKept: query.isKept)
    }
}

extension EntityTable {
    fileprivate func sortTerm(_ key: SortKey) -> String {
        let direction = key.isAscending ? " ASC" : " DESC"
        let order = layout.order(of: key.column)
        let term = JoinedColumn.isJoined(key.column) ? QueryStatement.alias(key.column) : terms[key.column]
        switch key.order {
        case .folded(let options) where order.storage == .text:
            return "text_sort_key(\(term), \(options.rawValue))" + direction
        case .collation(let collation) where order.storage == .text:
            return term + " COLLATE " + collation.name.quoted + direction
        default: return term + (order.isDecimal ? " COLLATE decimal" : "") + direction
        }
    }
}

extension RowPredicate {
    /// Whether all matching rows are in a range of a column that an index can find.
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
