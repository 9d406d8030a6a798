internal import RowStore

/// A value that a server can calculate from a row.
struct SQLValue {
    let sql: String
    let storage: ColumnStorage
}

/// Values calculated from rows.
///
/// A server refuses a whole statement if an integer overflows or a number is divided by zero, and it counts code points instead
/// of characters. So only expressions are written that cannot fail and mean the same.
extension PredicateWriter {
    /// - Returns: Nil for a value that only this side can calculate.
    mutating func value(_ expression: RowExpression, depth: Int) -> SQLValue? {
        guard depth < PredicateWriter.depthLimit else { return nil }
        switch expression {
        case .column(let column):
            return self.column(column, depth: depth).map {
                SQLValue(sql: $0, storage: layout.order(of: column).storage)
            }
        case .key: return SQLValue(sql: key, storage: .integer)
        case .constant(let value): return constant(value)
        case .coalesce(let one, let other):
            return combined(one, with: other, depth: depth) { "COALESCE(\($0), \($1))" }
        case .conditional(let test, let one, let other):
            let test = term(test, depth: depth + 1)
            guard test.isExact else { return nil }
            // Null counts as false on the server too.
            return combined(one, with: other, depth: depth) { "CASE WHEN \(test.sql) THEN \($0) ELSE \($1) END" }
        case .arithmetic(let one, let operation, let other, .integer):
            guard let sign = operation.bitSign,
                let value = combined(one, with: other, depth: depth, { "(\($0) \(sign) \($1))" }),
                value.storage == .integer
            else { return nil }
            return value
        case .function(.onesComplement, let values, .integer):
            guard values.count == 1, let value = value(values[0], depth: depth + 1), value.storage == .integer else {
                return nil
            }
            return SQLValue(sql: "(~ \(value.sql))", storage: .integer)
        case .function(.length, let values, _):
            guard values.count == 1, let value = value(values[0], depth: depth + 1), value.storage == .blob else {
                return nil
            }
            return SQLValue(sql: "octet_length(\(value.sql))::bigint", storage: .integer)
        case .arithmetic, .function, .negated, .cast: return nil
        }
    }

    private mutating func constant(_ value: RowValue) -> SQLValue? {
        guard value.isOnServers else { return nil }
        switch value {
        case .null: return nil
        case .integer: return SQLValue(sql: add(value, .integer), storage: .integer)
        case .real(let real):
            return real.isNaN ? nil : SQLValue(sql: add(value, .real), storage: .real)
        // Two constants have no column that determines their order.
        case .text: return SQLValue(sql: add(value, .text) + " COLLATE \"C\"", storage: .text)
        case .blob: return SQLValue(sql: add(value, .blob), storage: .blob)
        }
    }

    private mutating func combined(
        _ one: RowExpression, with other: RowExpression, depth: Int, _ sql: (String, String) -> String
    ) -> SQLValue? {
        guard let left = value(one, depth: depth + 1), let right = value(other, depth: depth + 1),
            left.storage == right.storage
        else { return nil }
        return SQLValue(sql: sql(left.sql, right.sql), storage: left.storage)
    }
}

extension ArithmeticOperator {
    /// Only bit operators that have a result for all integers.
    fileprivate var bitSign: String? {
        switch self {
        case .bitwiseAnd: "&"
        case .bitwiseOr: "|"
        case .bitwiseXor: "#"
        case .add, .subtract, .multiply, .divide, .remainder, .power, .shiftLeft, .shiftRight: nil
        }
    }
}

/// String operators that compare bytes. Folded strings, characters and regular expressions are tested on this side.
extension PredicateWriter {
    mutating func text(
        _ value: RowExpression, _ matcher: StringMatcher, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard !matcher.options.folds, matcher.comparison != .matches, let value = self.value(value, depth: depth),
            value.storage == .text
        else { return .unknown }
        if matcher.comparison == .like {
            return like(value, WildcardLiterals(matcher.pattern), isNegated: isNegated)
        }
        // No string on a server contains NUL, so this string matches nothing.
        if matcher.pattern.hasNUL { return .constant(isNegated) }
        let pattern = add(.text(matcher.pattern), .text)
        return find(pattern, in: value.sql, matcher.comparison, isNegated: isNegated)
    }

    /// A right side that is calculated for each row.
    mutating func text(
        _ value: RowExpression, _ comparison: StringOperator, _ pattern: RowExpression, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard comparison != .like, comparison != .matches, let value = self.value(value, depth: depth),
            let pattern = self.value(pattern, depth: depth), value.storage == .text, pattern.storage == .text
        else { return .unknown }
        return find(pattern.sql, in: value.sql, comparison, isNegated: isNegated)
    }

    private func find(
        _ pattern: String, in value: String, _ comparison: StringOperator, isNegated: Bool
    ) -> SQLTerm {
        let test =
            switch comparison {
            case .beginsWith: "starts_with(\(value), \(pattern))"
            // UTF-8 strings have the same ending if their last characters are the same.
            case .endsWith: "right(\(value), char_length(\(pattern))) = \(pattern)"
            default: "strpos(\(value), \(pattern)) > 0"
            }
        return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
    }

    /// Wildcards match characters as a person sees them, which a server does not know. It can search for the literal parts.
    private mutating func like(_ value: SQLValue, _ literals: WildcardLiterals, isNegated: Bool) -> SQLTerm {
        guard literals.hasWildcards else {
            if literals.longest.hasNUL { return .constant(isNegated) }
            let pattern = add(.text(literals.longest), .text)
            return SQLTerm(sql: "\(value.sql) \(isNegated ? "IS DISTINCT FROM" : "=") \(pattern)")
        }
        if isNegated { return .unknown }
        if literals.longest.hasNUL || literals.prefix.hasNUL { return .constant(false) }
        if !literals.prefix.isEmpty {
            let pattern = add(.text(literals.prefix), .text)
            return SQLTerm(sql: find(pattern, in: value.sql, .beginsWith, isNegated: false).sql, isExact: false)
        }
        if literals.longest.isEmpty { return .unknown }
        let pattern = add(.text(literals.longest), .text)
        return SQLTerm(sql: find(pattern, in: value.sql, .contains, isNegated: false).sql, isExact: false)
    }
}

/// The literal parts of a LIKE pattern. Every string that matches contains them, byte by byte.
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
