package import RowStore

/// Where the SQL for predicates of two stores differs.
package protocol PredicateDialect: Sendable {
    var limits: PredicateLimits { get }
    /// Whether columns have the prefix of their table even if the statement has no other table.
    var qualifiesAllColumns: Bool { get }
    /// Whether the owners of related rows are looked up in a list of their keys, instead of related rows for each owner.
    var listsOwners: Bool { get }
    /// The operator that is true for different values, and for a value and null.
    var isDifferent: String { get }
    /// What orders a column of decimals by value; nil if the store cannot.
    var decimalCollation: String? { get }

    /// The SQL for a parameter.
    ///
    /// - Parameters:
    ///   - number: Its number, the first being 1.
    ///   - storage: The type of its value.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String
    /// Null as a value of that type.
    func null(_ storage: ColumnStorage) -> String
    /// The same comparison with a value that a column of the store can have; nil if the value equals none.
    func comparable(_ relation: ComparisonOperator, _ value: RowValue) -> (ComparisonOperator, RowValue)?
    /// Whether the column has not that order to a value: null has none.
    func negation(of column: String, _ relation: ComparisonOperator, _ value: String) -> String
    /// Whether a value is in a list of values of its type.
    func membership(
        of value: String, in list: [RowValue], _ storage: ColumnStorage, _ writer: inout PredicateWriter
    ) -> String
    /// Whether the row comes after a cursor, as one comparison of all sorted columns; nil if the store does without.
    func rowComparison(
        _ cursor: RowCursor, _ sort: [SortKey], level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate?
    /// A predicate that standard SQL cannot express.
    func fallback(
        _ predicate: RowPredicate, isNegated: Bool, level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate

    /// The value of the only row of a query.
    func value(of query: String) -> String
    /// Whether a query has a row: 1 or 0.
    func existence(of query: String) -> String
    /// The result of a function of all values `v` of a query.
    func aggregate(_ function: String, of query: String) -> String
    /// The name of a function of many values; nil if it has another result in the store.
    func aggregateName(_ function: FetchFunction, _ kind: ValueKind) -> String?
}

/// How much a statement may contain. What is beyond them is left to ``PredicateDialect/fallback(_:isNegated:level:_:)``.
package struct PredicateLimits: Sendable {
    /// The deepest nesting of predicates.
    package let nesting: Int
    /// The most values.
    let values: Int
    /// The most tables of related rows, and the most predicates in a statement with related rows: with many sub-entities they
    /// multiply with each relationship.
    let tables: Int
    let predicates: Int

    package init(nesting: Int, values: Int, tables: Int, predicates: Int) {
        self.nesting = nesting
        self.values = values
        self.tables = tables
        self.predicates = predicates
    }
}

/// The names that queries need of the table of one concrete entity, or of links, all of them quoted.
package final class QueryTable: Sendable {
    package let layout: EntityLayout
    package let name: String
    /// The column with the rows' keys.
    package let key: String
    /// The names of the layout's columns; nil for one that is not stored.
    package let columns: [String?]

    /// - Parameter columns: The stored columns, by their numbers.
    package init(_ layout: EntityLayout, name: String, key: String, columns: [Int: String]) {
        self.layout = layout
        self.name = name
        self.key = key
        self.columns = layout.columns.indices.map { columns[$0] }
    }
}

/// The SQL for a predicate, as far as a store can evaluate it.
package struct SQLPredicate {
    /// True for every row for which the predicate is true.
    package let sql: String
    /// Whether it is true for no other row.
    package var isExact = true

    private static let (always, never) = ("TRUE", "FALSE")

    /// The store can decide nothing.
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

/// What a parameter of a statement stands for. Values are never part of the SQL.
package enum SQLParameter: Equatable {
    case value(RowValue)
    /// Values of one type, at least one.
    case list([RowValue], ColumnStorage)
    /// A predicate that the store passes back.
    case predicate(PredicateFunction)
}

/// A predicate that a store passes back row by row, and the columns that the store must pass on.
///
/// It belongs to one statement, and only one thread at a time runs that.
package final class PredicateFunction: Equatable {
    package let predicate: RowPredicate
    package let layout: EntityLayout
    /// In the order of the arguments.
    package let columns: [Int]
    /// Whether the row's own key is the first of them.
    package let asksKey: Bool
    /// How many joined columns its rows need.
    private let joinedCount: Int
    private let budget: QueryBudget
    /// Why a row could not be evaluated; the statement then ends with an error.
    package private(set) var failure: DataSourceError?

    package init(_ predicate: RowPredicate, _ layout: EntityLayout, _ budget: QueryBudget) {
        self.predicate = predicate
        self.layout = layout
        self.budget = budget
        var columns: Set<Int> = []
        asksKey = predicate.collectColumns(&columns)
        self.columns = columns.sorted()
        joinedCount = 1 + (columns.lazy.filter(JoinedColumn.isJoined).map(JoinedColumn.index).max() ?? -1)
    }

    /// A row without values.
    package func emptyRow(key: Int64) -> StoredRow {
        var row = StoredRow(key: key, row: RowSnapshot(columnCount: layout.columns.count))
        if joinedCount > 0 { row.joined = RowSnapshot(columnCount: joinedCount) }
        return row
    }

    /// The result for a row with the values that it needs, as for rows in memory. Nil if there is none.
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
