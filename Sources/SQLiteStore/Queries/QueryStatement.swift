internal import ManagedModel
internal import RowStore

/// A query as SQL, the values of its parameters, and the contents of its rows.
///
/// Queries that differ only in their values have the same SQL, by which a connection finds the prepared statement again.
struct QueryStatement {
    private(set) var sql = ""
    /// The values of the parameters, from the first one on.
    private(set) var values: [BoundValue] = []
    /// The columns that each row has, in the order of the results after the key.
    private(set) var columns: ContiguousArray<EntityTable.Column> = []
    /// The joined columns that come after them.
    private(set) var joined: [Int] = []
    let sort: [SortKey]
    /// The work that is left for each row, if the predicate uses more columns than a function of SQLite can have.
    private(set) var filter: RowFilter?
    /// Whether SQLite can't calculate the joined columns, so that the related rows are read here.
    private(set) var isJoinedHere = false

    /// The longest condition of a statement that is kept: a longer one is seldom repeated.
    private static let keptLength = 6_000

    /// Whether the statement is worth keeping.
    private(set) var isKept = true

    /// What is read of the rows that match.
    enum Result: Equatable {
        case rows
        case count
        case aggregates([AggregateTerm])
        /// Nothing: the SQL is the condition alone, for a statement that changes them.
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
        var writer = TermWriter(query, from: table, schema: schema, limits: limits)
        var wanted = query.columns
        let test = self.test(of: query, writer: &writer, columns: &wanted, limits: limits)
        isKept = writer.values.count <= 38 && test.utf8.count <= QueryStatement.keptLength
        guard result == .rows else {
            let start = result.terms(table).map {
                "SELECT \($0) FROM \(table.quotedName)" + QueryStatement.alias(writer)
            }
            sql = start.map { $0 + QueryStatement.clause(test) } ?? test
            values = writer.values
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
        sql = start + QueryStatement.alias(writer) + QueryStatement.clause(test)
        let hasWindow = query.limit != nil || query.offset > 0
        if isOrdered { sql += order(query, table, hasWindow: hasWindow) }
        if hasWindow { sql += window(query, &writer) }
        values = writer.values
    }

    private static func clause(_ test: String) -> String { test.isEmpty ? "" : " WHERE " + test }

    /// The name of the table, if other queries refer to it.
    private static func alias(_ writer: TermWriter) -> String {
        writer.queries > 0 ? " AS \(TermWriter.outermost)" : ""
    }

    /// Whether SQLite tests the rows by itself.
    var isTestedBySQLite: Bool { filter == nil && !isJoinedHere && !testsRows }

    /// Whether SQLite calls back to test rows.
    var testsRows: Bool {
        values.contains { if case .test = $0 { true } else { false } }
    }

    /// Why SQLite could not test a row, if that ended the statement.
    var failure: DataSourceError? {
        for case .test(let test) in values { if let failure = test.failure { return failure } }
        return nil
    }

    /// The condition. What is too much for SQL is tested row by row, by SQLite if it can pass the columns on.
    private mutating func test(
        of query: RowQuery, writer: inout TermWriter, columns: inout [Int]?, limits: SQLLimits
    ) -> String {
        let predicate = query.predicate
        if predicate == .constant(true) { return "" }
        let empty = writer
        // The columns take the rest of what SQLite accepts.
        if let term = writer.term(predicate), term.utf8.count < limits.length / 2 { return term }
        writer = empty
        if let term = writer.test(predicate, isNegated: false, level: 0) { return term }
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
        // What is tested or sorted outside of SQLite needs whole rows.
        guard query.defersValues, filter == nil, let terms = table.deferredTerms,
            !sort.contains(where: { table.layout.deferredColumns.contains($0.column) })
        else { return nil }
        columns = table.deferredColumns
        return terms
    }

    /// The joined columns that the rows must have; nil if SQL cannot express them.
    private mutating func selectJoined(_ query: RowQuery, _ writer: inout TermWriter) -> [String]? {
        var wanted = (query.columns ?? []) + sort.map(\.column)
        if query.returnsJoined { wanted += query.joined.enumerated().map { $1.number(at: $0) } }
        joined = Set(wanted).filter(JoinedColumn.isJoined).sorted()
        var terms: [String] = []
        for column in joined {
            guard let term = writer.column(column, 0) else { return nil }
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

    private mutating func window(_ query: RowQuery, _ writer: inout TermWriter) -> String {
        if filter != nil {
            // A filtered query counts its rows here.
            filter?.skip = max(0, query.offset)
            filter?.take = query.limit.map { max(0, $0) }
            return ""
        }
        let limit = writer.parameter(.one(.integer(Int64(max(0, query.limit ?? Int.max)))))
        let offset = writer.parameter(.one(.integer(Int64(max(0, query.offset)))))
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
