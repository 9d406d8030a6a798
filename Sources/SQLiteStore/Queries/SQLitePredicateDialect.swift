internal import PredicateSQL
internal import RowStore

/// The SQL for predicates in SQLite. If SQL cannot express a predicate, SQLite calls a function of
/// ``Connection/addFunctions()``.
struct SQLitePredicateDialect: PredicateDialect {
    private let mostValues: Int
    /// The maximum number of arguments of a function.
    private let maxArguments: Int

    /// The maximum number of values in a list that become separate parameters. The last value is repeated until the number of
    /// parameters is a power of two, so that there are few different statements.
    private static let listLength = 32

    init(_ limits: SQLLimits, _ table: EntityTable) {
        // More values would make the SQL too long.
        mostValues = min(10_000, limits.variables - 2, limits.length / (table.longestExpression + 64))
        maxArguments = limits.arguments
    }

    /// The limits for predicates. The nesting is limited because the stack of SQLite's parser has only 100 entries.
    var limits: PredicateLimits { PredicateLimits(nesting: 20, values: mostValues, tables: .max, predicates: 1000) }
    var qualifiesAllColumns: Bool { false }
    var listsOwners: Bool { true }
    var isDifferent: String { "IS NOT" }
    var decimalCollation: String? { " COLLATE decimal" }

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "?\(number)" }

    func null(_ storage: ColumnStorage) -> String { EntityTable.missing }

    func comparable(_ relation: ComparisonOperator, _ value: RowValue) -> (ComparisonOperator, RowValue)? {
        (relation, value)
    }

    func negation(of column: String, _ relation: ComparisonOperator, _ value: String) -> String {
        "(\(column) \(relation.sql) \(value)) IS NOT TRUE"
    }

    func membership(
        of value: String, in list: [RowValue], _ storage: ColumnStorage, _ writer: inout PredicateWriter
    ) -> String {
        var count = 1
        while count < list.count { count *= 2 }
        guard let last = list.last, list.count <= SQLitePredicateDialect.listLength, writer.hasRoom(for: count) else {
            return "\(value) IN \(ListedValues.sql(writer.add(.list(list, storage), storage)))"
        }
        let filled = list + repeatElement(last, count: count - list.count)
        return "\(value) IN (\(filled.map { writer.add($0, storage) }.joined(separator: ", ")))"
    }

    func rowComparison(
        _ cursor: RowCursor, _ sort: [SortKey], level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate? { nil }

    /// Returns SQL that calls this library with the predicate and the values of its columns.
    func fallback(
        _ predicate: RowPredicate, isNegated: Bool, level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate {
        let function = PredicateFunction(predicate, writer.layout, writer.budget)
        // The first argument is the predicate, and the second argument may be the key.
        guard function.columns.count + 2 <= maxArguments else { return .unknown }
        var arguments = [writer.add(.predicate(function), .integer)]
        if function.usesKey { arguments.append(writer.key) }
        for column in function.columns {
            guard let name = writer.column(column, level: level) else { return .unknown }
            arguments.append(name)
        }
        return SQLPredicate("\(isNegated ? "NOT " : "")row_test(\(arguments.joined(separator: ", ")))")
    }

    func value(of query: String) -> String { "(\(query))" }

    func existence(of query: String) -> String { "EXISTS (\(query))" }

    func aggregate(_ function: String, of query: String) -> String { "(SELECT \(function) FROM (\(query)))" }

    func aggregateName(_ function: FetchFunction, _ kind: ValueKind) -> String? { RowAggregate(function, kind)?.name }
}
