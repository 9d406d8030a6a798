/// A test of one row. Every store answers it alike, in memory or in its own language.
///
/// It has two truth values: a comparison with null is false, but for `equal` and `notEqual`, for which null is a value.
/// A value of another kind than the column's equals nothing and has no order.
package indirect enum RowPredicate: Sendable, Hashable {
    case constant(Bool)
    /// Whether the column stands in that relation to the value.
    case compare(column: Int, ComparisonOperator, RowValue)
    /// Whether the column holds one of the values; null is one if it is among them.
    case isIn(column: Int, [RowValue])
    case not(RowPredicate)
    case and([RowPredicate])
    case or([RowPredicate])
}

extension RowPredicate {
    /// The answer for one row.
    package func evaluate(_ row: RowSnapshot, _ layout: EntityLayout) -> Bool {
        switch self {
        case .constant(let answer): answer
        case .compare(let column, .equal, let value): row.holds(value, column: column, layout)
        case .compare(let column, .notEqual, let value): !row.holds(value, column: column, layout)
        case .compare(let column, let relation, let value):
            row.stands(relation, to: value, column: column, layout.columns[column])
        case .isIn(let column, let values): values.contains { row.holds($0, column: column, layout) }
        case .not(let predicate): !predicate.evaluate(row, layout)
        case .and(let predicates): predicates.allSatisfy { $0.evaluate(row, layout) }
        case .or(let predicates): predicates.contains { $0.evaluate(row, layout) }
        }
    }
}

extension RowSnapshot {
    fileprivate func holds(_ value: RowValue, column: Int, _ layout: EntityLayout) -> Bool {
        value.fits(layout.columns[column].storage) && holds(value, column: column)
    }

    fileprivate func stands(
        _ relation: ComparisonOperator, to value: RowValue, column: Int, _ layout: ColumnLayout
    ) -> Bool {
        guard value != .null, !isNull(column), value.fits(layout.storage) else { return false }
        var other = RowSnapshot(columnCount: columnCount)
        other.setValue(value, column)
        let order = self.order(other, column: column, layout)
        return switch relation {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
