package import RowStore

/// The differences between the SQL of SQLite and of PostgreSQL for predicates.
package protocol PredicateDialect: Sendable {
    var limits: PredicateLimits { get }
    /// Whether every column has the prefix of its table, even if the statement has only one table.
    var qualifiesAllColumns: Bool { get }
    /// Whether a predicate about related rows becomes `owner IN (keys of owners)`. Otherwise, it becomes an `EXISTS` for each
    /// owner.
    var listsOwners: Bool { get }
    /// The operator that is true for two different values, and for a value and NULL.
    var isDifferent: String { get }
    /// The collation that orders a column of decimals by value; nil if the store has none.
    var decimalCollation: String? { get }

    /// The SQL for a parameter.
    ///
    /// - Parameters:
    ///   - number: The number of the parameter, from 1.
    ///   - storage: The storage of the parameter's value.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String
    /// The SQL for NULL with the type of a storage.
    func null(_ storage: ColumnStorage) -> String
    /// Returns an equivalent comparison whose value can be stored in a column. Returns nil for `equal` and `notEqual` if no
    /// column can have the value.
    func comparable(_ relation: ComparisonOperator, _ value: RowValue) -> (ComparisonOperator, RowValue)?
    /// The negation of a comparison. The negation is also true for NULL.
    func negation(of column: String, _ relation: ComparisonOperator, _ value: String) -> String
    /// A predicate that is true if a value is in a list of values of the same storage.
    func membership(
        of value: String, in list: [RowValue], _ storage: ColumnStorage, _ writer: inout PredicateWriter
    ) -> String
    /// A predicate for the rows after a cursor, as one comparison of all sorted columns; nil if the dialect uses separate
    /// comparisons.
    func rowComparison(
        _ cursor: RowCursor, _ sort: [SortKey], level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate?
    /// The SQL for a predicate that standard SQL cannot express.
    func fallback(
        _ predicate: RowPredicate, isNegated: Bool, level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate

    /// An expression for the value that a query with only one row returns.
    func value(of query: String) -> String
    /// An expression that is 1 if a query has a row, and otherwise 0.
    func existence(of query: String) -> String
    /// An expression that applies an aggregate function to all values `v` of a query.
    func aggregate(_ function: String, of query: String) -> String
    /// The SQL name of an aggregate function; nil if the results of the store's function and of the function in memory can
    /// differ.
    func aggregateName(_ function: FetchFunction, _ kind: ValueKind) -> String?
}

/// The limits of a statement. A predicate that exceeds a limit is not written as standard SQL.
package struct PredicateLimits: Sendable {
    /// The deepest nesting of predicates.
    package let nesting: Int
    /// The largest number of parameters.
    let values: Int
    /// The largest number of tables of related rows. With many sub-entities, each relationship multiplies the number of tables
    /// and of predicates.
    let tables: Int
    /// The largest number of predicates in a statement with related rows.
    let predicates: Int

    package init(nesting: Int, values: Int, tables: Int, predicates: Int) {
        self.nesting = nesting
        self.values = values
        self.tables = tables
        self.predicates = predicates
    }
}

/// The quoted names of a table and its columns, for queries. The table has the rows of one concrete entity, or links.
package final class QueryTable: Sendable {
    package let layout: EntityLayout
    package let name: String
    /// The column with the rows' keys.
    package let key: String
    /// The names of the layout's columns; nil for a column that is not stored.
    package let columns: [String?]

    /// - Parameter columns: The names of the stored columns, by their indexes.
    package init(_ layout: EntityLayout, name: String, key: String, columns: [Int: String]) {
        self.layout = layout
        self.name = name
        self.key = key
        self.columns = layout.columns.indices.map { columns[$0] }
    }
}

/// The part of a predicate that a store can evaluate, as SQL.
package struct SQLPredicate {
    /// SQL that is true for every row for which the predicate is true.
    package let sql: String
    /// Whether the SQL is true only for these rows.
    package var isExact = true

    private static let (always, never) = ("TRUE", "FALSE")

    /// SQL that is true for every row, because the store can evaluate no part of the predicate.
    package static let unknown = SQLPredicate(always, isExact: false)

    package init(_ sql: String, isExact: Bool = true) {
        self.sql = sql
        self.isExact = isExact
    }

    package static func constant(_ answer: Bool) -> SQLPredicate { SQLPredicate(answer ? always : never) }

    package var isAlways: Bool { sql == SQLPredicate.always }
    package var isNever: Bool { sql == SQLPredicate.never }

    func isConstant(_ answer: Bool) -> Bool { answer ? isAlways : isNever }
}

/// The value of a parameter. Values are never part of the SQL.
package enum SQLParameter: Equatable {
    case value(RowValue)
    /// One or more values of the same storage.
    case list([RowValue], ColumnStorage)
    /// A predicate that the store evaluates with a callback.
    case predicate(PredicateFunction)
}

/// A predicate that a store evaluates with a callback for each row, and the columns that the callback needs.
///
/// Guarded by: the thread that runs its statement.
package final class PredicateFunction: Equatable {
    package let predicate: RowPredicate
    package let layout: EntityLayout
    /// The columns, in the order of the arguments.
    package let columns: [Int]
    /// Whether the first argument is the row's key. The columns follow.
    package let usesKey: Bool
    private let joinedCount: Int
    private let budget: QueryBudget
    /// The error that ended the statement, if a row could not be evaluated.
    package private(set) var failure: DataSourceError?

    package init(_ predicate: RowPredicate, _ layout: EntityLayout, _ budget: QueryBudget) {
        self.predicate = predicate
        self.layout = layout
        self.budget = budget
        var columns: Set<Int> = []
        usesKey = predicate.collectColumns(&columns)
        self.columns = columns.sorted()
        joinedCount = 1 + (columns.lazy.filter(JoinedColumn.isJoined).map(JoinedColumn.index).max() ?? -1)
    }

    /// A row whose values are all null, to fill with the arguments.
    package func emptyRow(key: Int64) -> StoredRow {
        var row = StoredRow(key: key, row: RowSnapshot(columnCount: layout.columns.count))
        if joinedCount > 0 { row.joined = RowSnapshot(columnCount: joinedCount) }
        return row
    }

    /// Evaluates the predicate with the same result as in memory. Returns nil after an error, which ``failure`` keeps.
    package func evaluate(_ row: StoredRow) -> Bool? {
        do throws(DataSourceError) {
            return try predicate.evaluate(row, layout, budget)
        } catch {
            failure = error
            return nil
        }
    }

    package static func == (lhs: PredicateFunction, rhs: PredicateFunction) -> Bool { lhs === rhs }
}
