internal import PredicateSQL
internal import RowStore

/// The SQL of predicates for a server. Predicates that SQL cannot express are evaluated by the client.
struct PostgreSQLPredicateDialect: PredicateDialect {
    /// The server's stack is limited, the protocol has 16 bits for the number of values, and planning takes a long time
    /// with many tables.
    static let limits = PredicateLimits(nesting: 50, values: 10_000, tables: 100, predicates: .max)

    var limits: PredicateLimits { PostgreSQLPredicateDialect.limits }
    var qualifiesAllColumns: Bool { true }
    var listsOwners: Bool { false }
    var isDifferent: String { "IS DISTINCT FROM" }
    var decimalCollation: String? { nil }

    /// Casts the parameter to its type, so that the server need not infer the type.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "$\(number)::\(storage.castName)" }

    func null(_ storage: ColumnStorage) -> String { "NULL::\(storage.castName)" }

    func comparable(_ relation: ComparisonOperator, _ value: RowValue) -> (ComparisonOperator, RowValue)? {
        guard case .text(let text) = value, let end = text.utf8.firstIndex(of: 0) else { return (relation, value) }
        // A string without NUL is less than `a\0b` exactly if it is equal to `a` or less than `a`.
        let start = RowValue.text(String(text[..<end]))
        switch relation {
        case .less, .lessOrEqual: return (.lessOrEqual, start)
        case .greater, .greaterOrEqual: return (.greater, start)
        case .equal, .notEqual: return nil
        }
    }

    /// An index can find the rows for both sides of OR.
    func negation(of column: String, _ relation: ComparisonOperator, _ value: String) -> String {
        "(\(column) \(relation.negated.sql) \(value) OR \(column) IS NULL)"
    }

    func membership(
        of value: String, in list: [RowValue], _ storage: ColumnStorage, _ writer: inout PredicateWriter
    ) -> String {
        "\(value) = ANY(\(writer.add(.list(list, storage), storage))[])"
    }

    /// Compares all columns in one comparison, so that an index can find the rows. Nulls come first, so no null comes after a
    /// value.
    func rowComparison(
        _ cursor: RowCursor, _ sort: [SortKey], level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate? {
        guard !sort.isEmpty, sort.allSatisfy(\.isAscending),
            cursor.values.allSatisfy({ $0 != .null && comparable(.equal, $0) != nil })
        else { return nil }
        var (names, values): ([String], [String]) = ([], [])
        for (key, value) in zip(sort, cursor.values) {
            guard let name = writer.column(key.column, level: level) else { return nil }
            names.append(name)
            values.append(writer.add(value, writer.layout.order(of: key.column).storage))
        }
        names.append(writer.key)
        values.append(writer.add(.integer(cursor.key), .integer))
        return SQLPredicate("(\(names.joined(separator: ", "))) > (\(values.joined(separator: ", ")))")
    }

    func fallback(
        _ predicate: RowPredicate, isNegated: Bool, level: Int, _ writer: inout PredicateWriter
    ) -> SQLPredicate {
        switch predicate {
        case .compareExpressions(let lhs, let relation, let rhs, .natural):
            return writer.relation(lhs, relation, rhs, isNegated: isNegated, level: level)
        case .isMember(let value, let list) where list.order == .natural:
            guard let value = writer.value(value, level: level) else { return .unknown }
            return writer.membership(of: value.sql, in: list.elements, value.storage, isNegated: isNegated)
        case .text(let value, let matcher):
            return writer.text(value, matcher, isNegated: isNegated, level: level)
        case .dynamicText(let value, let comparison, let pattern, let options) where !options.folds:
            return writer.text(value, comparison, pattern, isNegated: isNegated, level: level)
        default: return .unknown
        }
    }

    /// Limits the query to one row. Without the limit, the server would refuse the statement if another program had
    /// written several rows.
    func value(of query: String) -> String { "(\(query) LIMIT 1)" }

    func existence(of query: String) -> String { "(CASE WHEN EXISTS (\(query)) THEN 1 ELSE 0 END)::bigint" }

    func aggregate(_ function: String, of query: String) -> String { "(SELECT \(function) FROM (\(query)) AS related)" }

    /// Returns nil for an aggregate that only the client can calculate: sums could overflow on the server, and only the client
    /// adds reals exactly and orders decimals.
    func aggregateName(_ function: FetchFunction, _ kind: ValueKind) -> String? {
        (function == .min || function == .max) && kind != .decimal && kind.storage != .blob ? function.rawValue : nil
    }
}

extension ColumnStorage {
    /// The type of a cast in SQL.
    var castName: String {
        switch self {
        case .integer: "bigint"
        case .real: "float8"
        case .text: "text"
        case .blob: "bytea"
        }
    }
}
