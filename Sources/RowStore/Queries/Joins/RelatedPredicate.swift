extension RowPredicate {
    /// Rewrites a predicate of one joined column as a predicate of the related rows, so that the store can use the
    /// indexes of the related rows.
    ///
    /// - Returns: The related rows, and whether the test is negated. A row matches if it has at least one of the
    ///   related rows or, if the test is negated, none of them. Nil if the predicate cannot be rewritten.
    package func ofRelatedRows(
        _ joined: [JoinedColumn], _ layout: EntityLayout
    ) -> (related: RelatedRows, isNegated: Bool)? {
        var columns: Set<Int> = []
        guard !collectColumns(&columns), columns.count == 1, let number = columns.first,
            JoinedColumn.isJoined(number), !isCombination
        else { return nil }
        switch joined[JoinedColumn.index(number)].source {
        case .exists(let related) where !related.isCorrelated:
            guard case .compare(_, .equal, .integer(let wanted)) = self else { return nil }
            return (related, wanted == 0)
        case .value(var related, let column) where !related.isCorrelated:
            // If null matches, rows without a destination match as well. In this case, use the negated test: a row fails only
            // if it has a destination that fails.
            guard let resultForNull = resultForNull(layout) else { return nil }
            let predicate = mappingColumns { $0 == number ? column : $0 }
            let wanted = resultForNull ? RowPredicate.not(predicate) : predicate
            related.predicate = related.predicate == .constant(true) ? wanted : .and([related.predicate, wanted])
            return (related, resultForNull)
        case .key(var related) where !related.isCorrelated:
            guard let resultForNull = resultForNull(layout), let predicate = keyPredicate else { return nil }
            related.predicate = resultForNull ? .not(predicate) : predicate
            return (related, resultForNull)
        default: return nil
        }
    }

    /// The same test on the key of the related row. Nil unless this predicate tests for equality, inequality or
    /// membership.
    private var keyPredicate: RowPredicate? {
        switch self {
        case .compare(_, .equal, .null): .constant(false)
        case .compare(_, .notEqual, .null): .constant(true)
        case .compare(_, .equal, .integer(let key)): .compareKey(.equal, key)
        case .compare(_, .notEqual, .integer(let key)): .compareKey(.notEqual, key)
        case .isIn(_, let keys): .isMember(.key, ValueList(keys, .natural))
        case .isMember(.column, let list): .isMember(.key, list)
        default: nil
        }
    }

    /// Whether the predicate is a constant, a cursor, or a combination of predicates.
    private var isCombination: Bool {
        switch self {
        case .not, .and, .or, .constant, .follows: true
        default: false
        }
    }

    /// Returns the result for a row in which the only column, a joined column, is null. Returns nil if the evaluation
    /// throws an error.
    private func resultForNull(_ layout: EntityLayout) -> Bool? {
        try? evaluate(StoredRow(key: 0, row: RowSnapshot(columnCount: 1)), layout, QueryBudget())
    }

    /// The part of the predicate that uses no joined columns. The part matches every row that the whole predicate
    /// matches, and possibly more rows.
    package var withoutJoined: RowPredicate {
        switch self {
        case .and(let parts): .and(parts.map(\.withoutJoined).filter { $0 != .constant(true) })
        default: usesJoinedColumns ? .constant(true) : self
        }
    }

    /// Whether the predicate uses a joined column.
    package var usesJoinedColumns: Bool {
        var columns: Set<Int> = []
        _ = collectColumns(&columns)
        return columns.contains(where: JoinedColumn.isJoined)
    }

    /// Returns this predicate with each column replaced by the result of the closure.
    package func mappingColumns(_ map: (Int) -> Int) -> RowPredicate {
        switch self {
        case .constant, .compareKey: self
        case .compare(let column, let relation, let value): .compare(column: map(column), relation, value)
        case .isIn(let column, let values): .isIn(column: map(column), values)
        case .compareExpressions(let lhs, let relation, let rhs, let order):
            .compareExpressions(lhs.mappingColumns(map), relation, rhs.mappingColumns(map), order)
        case .isMember(let value, let list): .isMember(value.mappingColumns(map), list)
        case .text(let value, let matcher): .text(value.mappingColumns(map), matcher)
        case .dynamicText(let value, let comparison, let pattern, let options):
            .dynamicText(value.mappingColumns(map), comparison, pattern.mappingColumns(map), options)
        case .follows(let cursor, let sort):
            .follows(
                cursor, sort.map { SortKey(column: map($0.column), isAscending: $0.isAscending, order: $0.order) })
        case .not(let inner): .not(inner.mappingColumns(map))
        case .and(let parts): .and(parts.map { $0.mappingColumns(map) })
        case .or(let parts): .or(parts.map { $0.mappingColumns(map) })
        }
    }
}

extension RowExpression {
    fileprivate func mappingColumns(_ map: (Int) -> Int) -> RowExpression {
        switch self {
        case .column(let column): .column(map(column))
        case .key, .constant: self
        case .arithmetic(let lhs, let operation, let rhs, let kind):
            .arithmetic(lhs.mappingColumns(map), operation, rhs.mappingColumns(map), kind)
        case .negated(let inner, let kind): .negated(inner.mappingColumns(map), kind)
        case .function(let function, let arguments, let kind):
            .function(function, arguments.map { $0.mappingColumns(map) }, kind)
        case .conditional(let condition, let whenTrue, let whenFalse):
            .conditional(condition.mappingColumns(map), whenTrue.mappingColumns(map), whenFalse.mappingColumns(map))
        case .coalesce(let lhs, let rhs): .coalesce(lhs.mappingColumns(map), rhs.mappingColumns(map))
        case .cast(let inner, let source, let target): .cast(inner.mappingColumns(map), from: source, to: target)
        }
    }
}
