internal import PredicateSQL
internal import RowStore

/// A value that a server can calculate from a row.
struct SQLValue {
    let sql: String
    let storage: ColumnStorage
}

/// Writes expressions as SQL.
///
/// A server refuses the whole statement if an integer overflows or a number is divided by zero, and counts code points instead
/// of characters. So an expression is written only if it cannot fail and has the same result as on the client.
extension PredicateWriter {
    /// - Returns: Nil for a value that only the client can calculate.
    mutating func value(_ expression: RowExpression, level: Int) -> SQLValue? {
        guard level < PostgreSQLPredicateDialect.limits.nesting else { return nil }
        switch expression {
        case .column(let column):
            return self.column(column, level: level).map {
                SQLValue(sql: $0, storage: layout.order(of: column).storage)
            }
        case .key: return SQLValue(sql: key, storage: .integer)
        case .constant(let value): return constant(value)
        case .coalesce(let lhs, let rhs):
            return combined(lhs, with: rhs, level: level) { "COALESCE(\($0), \($1))" }
        case .conditional(let predicate, let lhs, let rhs):
            let written = self.predicate(predicate, level: level + 1)
            guard written.isExact else { return nil }
            // Null counts as false on the server, too.
            return combined(lhs, with: rhs, level: level) { "CASE WHEN \(written.sql) THEN \($0) ELSE \($1) END" }
        case .arithmetic(let lhs, let operation, let rhs, .integer):
            guard let sign = operation.bitSign,
                let value = combined(lhs, with: rhs, level: level, { "(\($0) \(sign) \($1))" }),
                value.storage == .integer
            else { return nil }
            return value
        case .function(.onesComplement, let values, .integer):
            guard values.count == 1, let value = value(values[0], level: level + 1), value.storage == .integer else {
                return nil
            }
            return SQLValue(sql: "(~ \(value.sql))", storage: .integer)
        case .function(.length, let values, _):
            guard values.count == 1, let value = value(values[0], level: level + 1), value.storage == .blob else {
                return nil
            }
            return SQLValue(sql: "octet_length(\(value.sql))::bigint", storage: .integer)
        case .arithmetic, .function, .negated, .cast: return nil
        }
    }

    private mutating func constant(_ value: RowValue) -> SQLValue? {
        if case .text(let text) = value, text.hasNUL { return nil }
        switch value {
        case .null: return nil
        case .integer: return SQLValue(sql: add(value, .integer), storage: .integer)
        case .real(let real):
            return real.isNaN ? nil : SQLValue(sql: add(value, .real), storage: .real)
        // The collation is explicit, because a comparison of two constants has no column that determines their order.
        case .text: return SQLValue(sql: add(value, .text) + " COLLATE \"C\"", storage: .text)
        case .blob: return SQLValue(sql: add(value, .blob), storage: .blob)
        }
    }

    private mutating func combined(
        _ lhs: RowExpression, with rhs: RowExpression, level: Int, _ sql: (String, String) -> String
    ) -> SQLValue? {
        guard let lhs = value(lhs, level: level + 1), let rhs = value(rhs, level: level + 1), lhs.storage == rhs.storage
        else { return nil }
        return SQLValue(sql: sql(lhs.sql, rhs.sql), storage: lhs.storage)
    }
}

extension PredicateWriter {
    /// The comparison of two values with the same storage.
    mutating func relation(
        _ lhs: RowExpression, _ relation: ComparisonOperator, _ rhs: RowExpression, isNegated: Bool, level: Int
    ) -> SQLPredicate {
        // `=` can use an index, but is not true for two nulls. So write `=` only if one side is never null.
        let isNeverNull = lhs.isNeverNull || rhs.isNeverNull
        guard let lhs = value(lhs, level: level), let rhs = value(rhs, level: level), lhs.storage == rhs.storage else {
            return .unknown
        }
        let isEquality = relation == .equal || relation == .notEqual
        switch isNegated && isEquality ? relation.negated : relation {
        case .equal: return SQLPredicate("\(lhs.sql) \(isNeverNull ? "=" : "IS NOT DISTINCT FROM") \(rhs.sql)")
        case .notEqual: return SQLPredicate("\(lhs.sql) IS DISTINCT FROM \(rhs.sql)")
        default:
            let sql = "\(lhs.sql) \(relation.sql) \(rhs.sql)"
            return SQLPredicate(isNegated ? "(\(sql)) IS NOT TRUE" : sql)
        }
    }
}

extension RowExpression {
    /// Whether the expression has a value in every row.
    fileprivate var isNeverNull: Bool {
        switch self {
        case .key: true
        case .constant(let value): value != .null
        default: false
        }
    }
}

extension ArithmeticOperator {
    /// The SQL operator for a bitwise operator; nil for other operators, and for shifts, which do not have a result for all
    /// integers.
    fileprivate var bitSign: String? {
        switch self {
        case .bitwiseAnd: "&"
        case .bitwiseOr: "|"
        case .bitwiseXor: "#"
        case .add, .subtract, .multiply, .divide, .remainder, .power, .shiftLeft, .shiftRight: nil
        }
    }
}

/// Writes string operators that compare bytes. The client evaluates regular expressions, comparisons by character, and
/// comparisons that ignore case or diacritics.
extension PredicateWriter {
    mutating func text(
        _ value: RowExpression, _ matcher: StringMatcher, isNegated: Bool, level: Int
    ) -> SQLPredicate {
        guard !matcher.options.folds, matcher.comparison != .matches, let value = self.value(value, level: level),
            value.storage == .text
        else { return .unknown }
        if matcher.comparison == .like {
            return like(value, WildcardLiterals(matcher.pattern), isNegated: isNegated)
        }
        // No string on a server contains NUL, so a pattern with NUL matches nothing.
        if matcher.pattern.hasNUL { return .constant(isNegated) }
        let pattern = add(.text(matcher.pattern), .text)
        return find(pattern, in: value.sql, matcher.comparison, isNegated: isNegated)
    }

    /// Writes a comparison whose right side is calculated for each row.
    mutating func text(
        _ value: RowExpression, _ comparison: StringOperator, _ pattern: RowExpression, isNegated: Bool, level: Int
    ) -> SQLPredicate {
        guard comparison != .like, comparison != .matches, let value = self.value(value, level: level),
            let pattern = self.value(pattern, level: level), value.storage == .text, pattern.storage == .text
        else { return .unknown }
        return find(pattern.sql, in: value.sql, comparison, isNegated: isNegated)
    }

    private func find(
        _ pattern: String, in value: String, _ comparison: StringOperator, isNegated: Bool
    ) -> SQLPredicate {
        let sql =
            switch comparison {
            case .beginsWith: "starts_with(\(value), \(pattern))"
            // In UTF-8, comparing the last characters is the same as comparing the last bytes.
            case .endsWith: "right(\(value), char_length(\(pattern))) = \(pattern)"
            default: "strpos(\(value), \(pattern)) > 0"
            }
        return SQLPredicate(isNegated ? "(\(sql)) IS NOT TRUE" : sql)
    }

    /// A wildcard matches a grapheme cluster, but the server compares code points. So the server searches only for the literal
    /// parts.
    private mutating func like(_ value: SQLValue, _ literals: WildcardLiterals, isNegated: Bool) -> SQLPredicate {
        guard literals.hasWildcards else {
            if literals.longest.hasNUL { return .constant(isNegated) }
            let pattern = add(.text(literals.longest), .text)
            return SQLPredicate("\(value.sql) \(isNegated ? "IS DISTINCT FROM" : "=") \(pattern)")
        }
        if isNegated { return .unknown }
        if literals.longest.hasNUL || literals.prefix.hasNUL { return .constant(false) }
        if !literals.prefix.isEmpty {
            let pattern = add(.text(literals.prefix), .text)
            return SQLPredicate(find(pattern, in: value.sql, .beginsWith, isNegated: false).sql, isExact: false)
        }
        if literals.longest.isEmpty { return .unknown }
        let pattern = add(.text(literals.longest), .text)
        return SQLPredicate(find(pattern, in: value.sql, .contains, isNegated: false).sql, isExact: false)
    }
}

/// The literal parts of a LIKE pattern. Every matching string contains their bytes.
struct WildcardLiterals {
    private(set) var hasWildcards = false
    /// The part before the first wildcard.
    let prefix: String
    /// The longest part without wildcards.
    let longest: String

    init(_ pattern: String) {
        var parts = [String.UnicodeScalarView()]
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped, "*" where !isEscaped:
                hasWildcards = true
                parts.append(String.UnicodeScalarView())
            default: parts[parts.count - 1].append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { parts[parts.count - 1].append("\\") }
        prefix = String(parts[0])
        longest = parts.max { $0.count < $1.count }.map { String($0) } ?? ""
    }
}

extension String {
    /// Whether the string contains NUL, which a string on a server cannot contain.
    fileprivate var hasNUL: Bool { utf8.contains(0) }
}
