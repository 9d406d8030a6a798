internal import CSQLite
internal import ManagedModel
internal import RowStore

/// A query as SQL and the values to bind. No value is ever part of the text.
struct QueryText {
    enum Value {
        case one(RowValue)
        /// A list that is too long for parameters.
        case set(ValueSet)
    }

    private(set) var sql: String
    private(set) var values: [Value]
    /// What is left to do with each row, if the predicate is too deep for SQLite.
    private(set) var filter: RowFilter?

    /// Whether the text is worth keeping: long ones seldom come back.
    var isShort: Bool { values.count <= 32 }

    /// The rows of a query, in order.
    init(_ query: RowQuery, _ table: EntityTable, _ limits: SQLLimits) {
        self.init(table.selectSQL, query.predicate, table, limits)
        let keys = query.sort.map { key in
            let collation = table.layout.columns[key.column].isDecimal ? " COLLATE decimal" : ""
            return table.terms[key.column] + collation + (key.isAscending ? " ASC" : " DESC")
        }
        sql += " ORDER BY " + (keys + [EntityTable.keyName.quoted]).joined(separator: ", ")
        guard query.limit != nil || query.offset > 0 else { return }
        if filter != nil {
            filter?.skip = max(0, query.offset)
            filter?.take = query.limit.map { max(0, $0) }
            return
        }
        values.append(.one(.integer(Int64(max(0, query.limit ?? Int.max)))))
        values.append(.one(.integer(Int64(max(0, query.offset)))))
        sql += " LIMIT ?\(values.count - 1) OFFSET ?\(values.count)"
    }

    /// How many rows match; order, limit and offset do not count.
    init(countOf query: RowQuery, _ table: EntityTable, _ limits: SQLLimits) {
        self.init("SELECT count(*) FROM \(table.name.quoted)", query.predicate, table, limits)
    }

    private init(_ select: String, _ predicate: RowPredicate, _ table: EntityTable, _ limits: SQLLimits) {
        sql = select
        values = []
        if case .constant(true) = predicate { return }
        var compiler = PredicateCompiler(table, limits)
        if let test = compiler.compile(predicate) {
            sql += " WHERE " + test
            values = compiler.values
        } else {
            filter = RowFilter(predicate: predicate)
        }
    }
}

/// Tests rows here that SQLite cannot test, and counts them for limit and offset.
struct RowFilter {
    let predicate: RowPredicate
    var skip = 0
    var take: Int?

    /// Whether no further row is wanted.
    var isDone: Bool { take.map { $0 <= 0 } ?? false }

    mutating func accepts(_ row: RowSnapshot, _ layout: EntityLayout) -> Bool {
        guard !isDone, predicate.evaluate(row, layout) else { return false }
        if skip > 0 {
            skip -= 1
            return false
        }
        if let left = take { take = left - 1 }
        return true
    }
}

/// How much SQL this build of SQLite takes.
struct SQLLimits: Sendable {
    var variables: Int
    var depth: Int
    var length: Int
}

extension Connection {
    func readLimits() -> SQLLimits {
        SQLLimits(
            variables: Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)),
            depth: Int(sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, -1)),
            length: Int(sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, -1)))
    }
}

extension ColumnLayout {
    /// Whether the column holds decimal numbers, as texts that are ordered by value.
    var isDecimal: Bool { attribute?.type == .decimal }
}
