package import RowStore

/// Comparisons, lists and cursors.
extension PredicateWriter {
    /// The key of a row of the innermost table.
    package var key: String { qualified(scope.table.key) }

    private func qualified(_ name: String) -> String { isQualified ? scope.alias + "." + name : name }

    /// SQL for a column of the innermost table, or for a joined column; nil if SQL cannot express it.
    package mutating func column(_ column: Int, level: Int = 0) -> String? {
        if JoinedColumn.isJoined(column) { return joined(scope.joined[JoinedColumn.index(column)], level: level) }
        // A column that is not stored is null in every row.
        return scope.table.columns[column].map(qualified) ?? dialect.null(layout.order(of: column).storage)
    }

    private func sql(_ relation: ComparisonOperator) -> String {
        // `=` can use an index, and is not true for NULL. This is correct, because the compared value is never NULL.
        relation == .notEqual ? dialect.isDifferent : relation.sql
    }

    mutating func compareKey(_ relation: ComparisonOperator, _ other: Int64) -> SQLPredicate {
        SQLPredicate("\(key) \(sql(relation)) \(add(.integer(other), .integer))")
    }

    mutating func comparison(
        _ column: Int, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool, level: Int
    ) -> SQLPredicate {
        let isEquality = relation == .equal || relation == .notEqual
        let relation = isNegated && isEquality ? relation.negated : relation
        let isNegated = isNegated && !isEquality
        if value == .null {
            guard isEquality else { return .constant(isNegated) }
            return isNull(self.column(column, level: level), isNegated: relation == .notEqual)
        }
        let order = layout.order(of: column)
        guard value.fits(order.storage), let (operation, bound) = dialect.comparable(relation, value) else {
            return .constant((relation == .notEqual) != isNegated)
        }
        // A test of equality needs no collation, because equal decimals have equal strings. Other comparisons need a
        // collation.
        guard let collation = isEquality || !order.isDecimal ? "" : dialect.decimalCollation,
            let name = self.column(column, level: level)
        else { return .unknown }
        let (lhs, rhs) = (name + collation, add(bound, order.storage))
        return SQLPredicate(
            isNegated ? dialect.negation(of: lhs, operation, rhs) : "\(lhs) \(sql(operation)) \(rhs)")
    }

    private func isNull(_ value: String?, isNegated: Bool) -> SQLPredicate {
        value.map { SQLPredicate($0 + (isNegated ? " IS NOT NULL" : " IS NULL")) } ?? .unknown
    }

    mutating func membership(
        ofColumn column: Int, in list: [RowValue], isNegated: Bool, level: Int
    ) -> SQLPredicate {
        guard let name = self.column(column, level: level) else { return .unknown }
        return membership(of: name, in: list, layout.order(of: column).storage, isNegated: isNegated)
    }

    /// A predicate that is true if a value with this storage is in a list.
    package mutating func membership(
        of value: String, in list: [RowValue], _ storage: ColumnStorage, isNegated: Bool
    ) -> SQLPredicate {
        let dialect = dialect
        let wanted = list.filter { $0 != .null && $0.fits(storage) && dialect.comparable(.equal, $0) != nil }
        let hasNull = wanted.count != list.count && list.contains(.null)
        if wanted.isEmpty { return hasNull ? isNull(value, isNegated: isNegated) : .constant(isNegated) }
        var sql = dialect.membership(of: value, in: wanted, storage, &self)
        if hasNull { sql = "(\(value) IS NULL OR \(sql))" }
        return SQLPredicate(isNegated ? "(\(sql)) IS NOT TRUE" : sql)
    }

    /// A predicate for the rows after a cursor: first a bound for which an index can be used, and then the whole predicate.
    mutating func follows(
        _ predicate: RowPredicate, _ cursor: RowCursor, _ sort: [SortKey], isNegated: Bool, level: Int
    ) -> SQLPredicate {
        let fits = zip(sort, cursor.values).allSatisfy { $1.fits(layout.order(of: $0.column).storage) }
        guard fits, cursor.values.count == sort.count else {
            return fallback(predicate, isNegated: isNegated, level: level)
        }
        let bound = isNegated ? nil : cursor.bound(sort, layout)
        if let afterCursor = cursor.afterCursor(sort, layout) {
            let (dialect, mark) = (dialect, parameters.count)
            if !isNegated, let written = dialect.rowComparison(cursor, sort, level: level, &self) { return written }
            truncate(to: mark)
            let whole = bound.map { RowPredicate.and([$0, afterCursor]) } ?? afterCursor
            return self.predicate(whole, isNegated: isNegated, level: level)
        }
        guard let bound else { return fallback(predicate, isNegated: isNegated, level: level) }
        let limit = self.predicate(bound, level: level + 1)
        return PredicateWriter.joined([limit, fallback(predicate, level: level)], isAnd: true)
    }
}

extension ComparisonOperator {
    package var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
