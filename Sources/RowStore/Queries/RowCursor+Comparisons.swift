internal import ManagedModel

/// The rows after a cursor, as comparisons of columns.
extension RowCursor {
    /// A comparison that holds for all rows after the cursor and can use an index; nil if there is none.
    package func bound(_ sort: [SortKey], _ layout: EntityLayout) -> RowPredicate? {
        guard let key = sort.first, let value = values.first, value != .null, key.order == .bytes else { return nil }
        if key.isAscending { return .compare(column: key.column, .greaterOrEqual, value) }
        let bound = RowPredicate.compare(column: key.column, .lessOrEqual, value)
        // When descending, null comes last.
        return layout.isNeverNull(key.column) ? bound : .or([bound, .compare(column: key.column, .equal, .null)])
    }

    /// The whole test as comparisons of columns: greater by the first key, or equal by it and greater by the next. Nil if the
    /// keys are not ordered as a database compares them.
    package func later(_ sort: [SortKey], _ layout: EntityLayout) -> RowPredicate? {
        var later = RowPredicate.compareKey(.greater, key)
        for (key, value) in zip(sort, values).reversed() {
            guard key.order == .bytes, !layout.order(of: key.column).isDecimal else { return nil }
            let isNull = RowPredicate.compare(column: key.column, .equal, .null)
            let isTied = RowPredicate.and([.compare(column: key.column, .equal, value), later])
            switch (value == .null, key.isAscending) {
            case (true, true): later = .or([.compare(column: key.column, .notEqual, .null), isTied])
            case (true, false): later = isTied
            case (false, true): later = .or([.compare(column: key.column, .greater, value), isTied])
            case (false, false): later = .or([.compare(column: key.column, .less, value), isNull, isTied])
            }
        }
        return later
    }
}

extension EntityLayout {
    /// Whether every stored row has a value there.
    package func isNeverNull(_ column: Int) -> Bool {
        !JoinedColumn.isJoined(column)
            && columns[column].attribute.map { !$0.isOptional && $0.derivationExpression == nil } ?? false
    }
}
