internal import RowStore

/// Comparisons and lists.
extension PredicateWriter {
    /// The SQL for a column of the innermost table; nil if a server cannot calculate it.
    mutating func column(_ column: Int, depth: Int) -> String? {
        guard !JoinedColumn.isJoined(column) else { return joinedColumn(column, depth: depth) }
        // Columns that are not stored are null in every row.
        return scope.table.columns[column].map { "\(scope.alias).\($0)" }
            ?? "NULL::\(layout.order(of: column).storage.castName)"
    }

    /// A column, or an expression for it, and a value.
    mutating func comparison(
        _ name: String, _ order: ColumnOrder, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool
    ) -> SQLTerm {
        if relation == .equal || relation == .notEqual {
            return equality(name, order.storage, value, isEqual: (relation == .equal) != isNegated)
        }
        guard value != .null, value.fits(order.storage) else { return .constant(isNegated) }
        // Decimals are stored as strings: equal ones are equal on the server too, but only this side can order them by value.
        if order.isDecimal { return .unknown }
        let (bound, isExclusive) = value.withoutNUL
        let relation = isExclusive ? relation.beforeNUL : relation
        // In a negation, null passes.
        guard isNegated else { return SQLTerm(sql: "\(name) \(relation.sql) \(add(bound, order.storage))") }
        let sql = "\(name) \(relation.negated.sql) \(add(bound, order.storage))"
        return SQLTerm(sql: "(\(sql) OR \(name) IS NULL)")
    }

    private mutating func equality(
        _ name: String, _ storage: ColumnStorage, _ value: RowValue, isEqual: Bool
    ) -> SQLTerm {
        if value == .null { return SQLTerm(sql: "\(name) IS \(isEqual ? "" : "NOT ")NULL") }
        guard value.fits(storage), value.isOnServers else { return .constant(!isEqual) }
        return SQLTerm(sql: "\(name) \(isEqual ? "=" : "IS DISTINCT FROM") \(add(value, storage))")
    }

    mutating func compareKey(_ relation: ComparisonOperator, _ other: Int64) -> SQLTerm {
        SQLTerm(sql: "\(key) \(relation.sql) \(add(.integer(other), .integer))")
    }

    mutating func membership(
        _ value: RowExpression, _ list: [RowValue], isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard let value = self.value(value, depth: depth) else { return .unknown }
        let hasNull = list.contains(.null)
        guard let wanted = QueryParameter(list, value.storage) else {
            return hasNull ? SQLTerm(sql: "\(value.sql) IS \(isNegated ? "NOT " : "")NULL") : .constant(isNegated)
        }
        var test = "\(value.sql) = ANY(\(add(wanted))::\(value.storage.castName)[])"
        if hasNull { test = "(\(value.sql) IS NULL OR \(test))" }
        return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
    }

    /// Two values with the same storage.
    mutating func relation(
        _ one: RowExpression, _ relation: ComparisonOperator, _ other: RowExpression, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard let left = value(one, depth: depth), let right = value(other, depth: depth),
            left.storage == right.storage
        else { return .unknown }
        let isEquality = relation == .equal || relation == .notEqual
        let relation = isNegated && isEquality ? relation.negated : relation
        switch relation {
        // Only this form can use an index.
        case .equal where one.isNeverNull || other.isNeverNull: return SQLTerm(sql: "\(left.sql) = \(right.sql)")
        case .equal: return SQLTerm(sql: "\(left.sql) IS NOT DISTINCT FROM \(right.sql)")
        case .notEqual: return SQLTerm(sql: "\(left.sql) IS DISTINCT FROM \(right.sql)")
        default:
            let test = "\(left.sql) \(relation.sql) \(right.sql)"
            return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
        }
    }
}

extension RowExpression {
    /// Whether it has a value in every row.
    fileprivate var isNeverNull: Bool {
        switch self {
        case .key: true
        case .constant(let value): value != .null
        default: false
        }
    }
}

extension RowValue {
    /// Whether a column on a server can hold it.
    var isOnServers: Bool {
        if case .text(let text) = self { !text.hasNUL } else { true }
    }

    /// A value at the same place among those that a server can hold, and whether it comes before this one.
    ///
    /// Of strings without NUL, those that are less than `a\0b` are `a` and everything less than `a`.
    fileprivate var withoutNUL: (value: RowValue, isBefore: Bool) {
        guard case .text(let text) = self, let end = text.utf8.firstIndex(of: 0) else { return (self, false) }
        return (.text(String(text[..<end])), true)
    }
}

extension ComparisonOperator {
    var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// How to compare with the value before another one instead of that one, if no row can have the other.
    fileprivate var beforeNUL: ComparisonOperator {
        switch self {
        case .less, .lessOrEqual: .lessOrEqual
        case .greater, .greaterOrEqual: .greater
        case .equal, .notEqual: self
        }
    }
}
