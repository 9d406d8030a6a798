internal import ManagedModel

/// A predicate for rows. Every store gives the same result, whether the predicate is evaluated in memory or by a database.
///
/// There are only two results, true and false. A comparison with null is false, except that `equal` and `notEqual` treat null
/// as a value. A value of another kind than the column is unequal to every value of the column, and neither less nor greater.
package indirect enum RowPredicate: Sendable, Hashable {
    case constant(Bool)
    /// Compares the column with the value.
    case compare(column: Int, ComparisonOperator, RowValue)
    /// Whether the column has one of the values. Null matches only if the list contains null.
    case isIn(column: Int, [RowValue])
    /// Compares the row's own key with the number.
    case compareKey(ComparisonOperator, Int64)
    /// Compares two values.
    case compareExpressions(RowExpression, ComparisonOperator, RowExpression, ValueOrder)
    /// Whether a value is in the list. Null matches only if the list contains null.
    case isMember(RowExpression, ValueList)
    /// Whether a string matches. Null never matches.
    case text(RowExpression, StringMatcher)
    /// Like `text`, but the right side is calculated for each row.
    case dynamicText(RowExpression, StringOperator, RowExpression, StringOptions)
    /// Whether the row comes after the cursor's row in the given order.
    case follows(RowCursor, [SortKey])
    case not(RowPredicate)
    case and([RowPredicate])
    case or([RowPredicate])
}

/// A list of many values with fast look-ups. The property `order` determines which values are equal.
package final class ValueList: Sendable, Hashable {
    /// The original values.
    package let elements: [RowValue]
    package let order: ValueOrder
    private let values: Set<RowValue>

    package init(_ elements: [RowValue], _ order: ValueOrder) {
        self.elements = elements
        self.order = order
        values = Set(elements.lazy.map(order.equalityKey))
    }

    package func contains(_ value: RowValue) -> Bool { values.contains(order.equalityKey(value)) }

    package static func == (lhs: ValueList, rhs: ValueList) -> Bool {
        lhs.order == rhs.order && lhs.values == rhs.values
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
    }
}

extension RowPredicate {
    /// The parts that are true of each matching row: the parts of an AND, or the predicate itself.
    package var requiredParts: [RowPredicate] {
        if case .and(let parts) = self { parts.flatMap(\.requiredParts) } else { [self] }
    }

    /// Evaluates the predicate for one row. The predicate must not use the row's key.
    package func evaluate(
        _ row: RowSnapshot, _ layout: EntityLayout, _ budget: QueryBudget
    ) throws(DataSourceError) -> Bool {
        try evaluate(StoredRow(key: 0, row: row), layout, budget)
    }

    /// Evaluates the predicate for a row with a key.
    package func evaluate(
        _ row: RowSnapshot, key: Int64, _ layout: EntityLayout, _ budget: QueryBudget
    ) throws(DataSourceError) -> Bool {
        try evaluate(StoredRow(key: key, row: row), layout, budget)
    }

    /// Evaluates the predicate for a stored row.
    ///
    /// - Throws: `invalidPredicate` if a pattern needs more work than the query's budget allows.
    package func evaluate(
        _ row: StoredRow, _ layout: EntityLayout, _ budget: QueryBudget
    ) throws(DataSourceError) -> Bool {
        switch self {
        case .constant(let answer): return answer
        case .compare(let column, .equal, let value): return row.holds(value, column: column, layout)
        case .compare(let column, .notEqual, let value): return !row.holds(value, column: column, layout)
        case .compare(let column, let relation, let value):
            return row.satisfies(relation, to: value, column: column, layout.order(of: column))
        case .isIn(let column, let values): return values.contains { row.holds($0, column: column, layout) }
        case .compareKey(let relation, let other): return relation.holds(row.key < other ? -1 : row.key > other ? 1 : 0)
        case .compareExpressions(let lhs, let relation, let rhs, let order):
            return order.holds(
                try lhs.evaluate(row, layout, budget), relation, try rhs.evaluate(row, layout, budget))
        case .isMember(let value, let list): return list.contains(try value.evaluate(row, layout, budget))
        case .text(let value, let matcher):
            return try matcher.verdict(
                value.withText(of: row, layout: layout, budget: budget) { matcher.matchResult($0, budget) })
        case .dynamicText(let value, let comparison, let pattern, let options):
            guard case .text(let pattern) = try pattern.evaluate(row, layout, budget) else { return false }
            let matcher = try StringMatcher(comparison, pattern, options)
            return try matcher.verdict(
                value.withText(of: row, layout: layout, budget: budget) { matcher.matchResult($0, budget) })
        case .follows(let cursor, let sort): return cursor.precedes(row, by: sort, layout)
        case .not(let predicate): return try !predicate.evaluate(row, layout, budget)
        case .and(let predicates):
            for predicate in predicates where try !predicate.evaluate(row, layout, budget) { return false }
            return true
        case .or(let predicates):
            for predicate in predicates where try predicate.evaluate(row, layout, budget) { return true }
            return false
        }
    }
}

extension ComparisonOperator {
    /// Returns whether the operator holds. The order of the two values is given as a negative number, 0 or a positive number.
    package func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    /// Returns whether the operator holds for two strings. Uses Swift's own operators instead of an order, because two strings
    /// can be unequal even if neither is less than the other.
    fileprivate func holds(_ lhs: String, _ rhs: String) -> Bool {
        switch self {
        case .equal: lhs == rhs
        case .notEqual: lhs != rhs
        case .less: lhs < rhs
        case .lessOrEqual: lhs <= rhs
        case .greater: lhs > rhs
        case .greaterOrEqual: lhs >= rhs
        }
    }
}

extension ValueOrder {
    /// Returns whether the operator holds for two values. Null equals null. Values without an order are unequal.
    package func holds(_ lhs: RowValue, _ relation: ComparisonOperator, _ rhs: RowValue) -> Bool {
        if lhs == .null || rhs == .null {
            return relation == .equal ? lhs == rhs : relation == .notEqual ? lhs != rhs : false
        }
        if case .folded(let options) = self, options.isSwift, case .text(let lhs) = lhs, case .text(let rhs) = rhs {
            return relation.holds(lhs, rhs)
        }
        guard let order = compare(lhs, rhs) else { return relation == .notEqual }
        return relation.holds(order)
    }
}

extension StoredRow {
    fileprivate func holds(_ value: RowValue, column: Int, _ layout: EntityLayout) -> Bool {
        guard value.fits(layout.order(of: column).storage) else { return false }
        let (row, column) = cell(column)
        return row.holds(value, column: column)
    }

    fileprivate func satisfies(
        _ relation: ComparisonOperator, to value: RowValue, column: Int, _ kind: ColumnOrder
    ) -> Bool {
        let (row, column) = cell(column)
        guard value != .null, !row.isNull(column), value.fits(kind.storage) else { return false }
        return relation.holds(row.order(to: value, column: column, kind))
    }
}

extension RowSnapshot {
    /// Compares a column's value with a value of the same storage. Neither value may be null.
    fileprivate func order(to value: RowValue, column: Int, _ kind: ColumnOrder) -> Int {
        switch value {
        case .null: return 1
        case .integer(let value): return integer(column) < value ? -1 : integer(column) > value ? 1 : 0
        case .real(let value): return real(column) < value ? -1 : real(column) > value ? 1 : 0
        case .text(var text):
            return withBytes(column) { bytes in
                text.withUTF8 {
                    let other = UnsafeRawBufferPointer($0)
                    return kind.isDecimal ? orderDecimals(bytes, other) : compareBytes(bytes, other)
                }
            }
        case .blob(let blob): return withBytes(column) { bytes in blob.withUnsafeBytes { compareBytes(bytes, $0) } }
        }
    }
}

package enum ComparisonOperator: String, Sendable, Hashable, Codable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The opposite operator. For values that are not null, it is true exactly when this operator is false.
    package var negated: ComparisonOperator {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// The operator to use if the two sides are exchanged.
    package var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension RowPredicate {
    /// Adds the columns that the predicate uses.
    ///
    /// - Returns: Whether the predicate also uses the row's own key.
    package func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .constant: return false
        case .compare(let column, _, _), .isIn(let column, _):
            columns.insert(column)
            return false
        case .compareKey: return true
        case .compareExpressions(let lhs, _, let rhs, _), .dynamicText(let lhs, _, let rhs, _):
            let lhsUsesKey = lhs.collectColumns(&columns)
            return rhs.collectColumns(&columns) || lhsUsesKey
        case .isMember(let value, _), .text(let value, _): return value.collectColumns(&columns)
        case .follows(_, let sort):
            for key in sort { columns.insert(key.column) }
            return true
        case .not(let inner): return inner.collectColumns(&columns)
        case .and(let parts), .or(let parts):
            return parts.reduce(false) { $1.collectColumns(&columns) || $0 }
        }
    }
}

extension RowExpression {
    fileprivate func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .column(let column):
            columns.insert(column)
            return false
        case .key: return true
        case .constant: return false
        case .arithmetic(let lhs, _, let rhs, _), .coalesce(let lhs, let rhs):
            let lhsUsesKey = lhs.collectColumns(&columns)
            return rhs.collectColumns(&columns) || lhsUsesKey
        case .negated(let inner, _), .cast(let inner, _, _): return inner.collectColumns(&columns)
        case .function(_, let arguments, _): return arguments.reduce(false) { $1.collectColumns(&columns) || $0 }
        case .conditional(let condition, let whenTrue, let whenFalse):
            let conditionUsesKey = condition.collectColumns(&columns)
            let lhsUsesKey = whenTrue.collectColumns(&columns)
            return whenFalse.collectColumns(&columns) || lhsUsesKey || conditionUsesKey
        }
    }
}

extension RowPredicate {
    /// The keys that matching rows can have; nil if every key is possible.
    package var wantedKeys: Set<Int64>? {
        switch self {
        case .compareKey(.equal, let key): [key]
        case .isMember(.key, let list) where list.order == .natural:
            Set(list.elements.compactMap { if case .integer(let key) = $0 { key } else { nil } })
        case .and(let parts): parts.lazy.compactMap(\.wantedKeys).min { $0.count < $1.count }
        default: nil
        }
    }
}

/// The rows after a cursor, as a predicate of column comparisons.
extension RowCursor {
    /// Returns a comparison that can use an index, and is true for all rows after the cursor. It can also be true for some
    /// other rows. Returns nil if there is no such comparison.
    package func bound(_ sort: [SortKey], _ layout: EntityLayout) -> RowPredicate? {
        guard let key = sort.first, let value = values.first, value != .null, key.order == .bytes else { return nil }
        if key.isAscending { return .compare(column: key.column, .greaterOrEqual, value) }
        let bound = RowPredicate.compare(column: key.column, .lessOrEqual, value)
        // In descending order, null comes last.
        return layout.isNeverNull(key.column) ? bound : .or([bound, .compare(column: key.column, .equal, .null)])
    }

    /// Returns the complete predicate as comparisons of columns. A row matches if its first sort key comes after the cursor's
    /// first sort key. If both are equal, the next sort key decides, and so on. Returns nil if a database would compare one
    /// of the sort keys in another order.
    package func afterCursor(_ sort: [SortKey], _ layout: EntityLayout) -> RowPredicate? {
        var afterCursor = RowPredicate.compareKey(.greater, key)
        for (key, value) in zip(sort, values).reversed() {
            guard key.order == .bytes, !layout.order(of: key.column).isDecimal else { return nil }
            let isNull = RowPredicate.compare(column: key.column, .equal, .null)
            let isTied = RowPredicate.and([.compare(column: key.column, .equal, value), afterCursor])
            switch (value == .null, key.isAscending) {
            case (true, true): afterCursor = .or([.compare(column: key.column, .notEqual, .null), isTied])
            case (true, false): afterCursor = isTied
            case (false, true): afterCursor = .or([.compare(column: key.column, .greater, value), isTied])
            case (false, false): afterCursor = .or([.compare(column: key.column, .less, value), isNull, isTied])
            }
        }
        return afterCursor
    }
}

extension EntityLayout {
    /// Returns whether every stored row has a value in the column.
    package func isNeverNull(_ column: Int) -> Bool {
        !JoinedColumn.isJoined(column)
            && columns[column].attribute.map { !$0.isOptional && $0.derivationExpression == nil } ?? false
    }
}
