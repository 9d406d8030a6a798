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
            return combined(one, other, depth) { "COALESCE(\($0), \($1))" }
        case .conditional(let test, let one, let other):
            let test = term(test, depth: depth + 1)
            guard test.isExact else { return nil }
            // Null counts as false on the server too.
            return combined(one, other, depth) { "CASE WHEN \(test.sql) THEN \($0) ELSE \($1) END" }
        case .arithmetic(let one, let operation, let other, .integer):
            guard let sign = operation.bitSign, let value = combined(one, other, depth, { "(\($0) \(sign) \($1))" }),
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
        _ one: RowExpression, _ other: RowExpression, _ depth: Int, _ sql: (String, String) -> String
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
