internal import RowStore

extension RowPredicate {
    /// A column and a few values, one of which every matching row has there; nil if the predicate has no such column.
    func wantedValues(_ layout: EntityLayout) -> (column: Int, values: [RowValue])? {
        switch self {
        case .compare(let column, .equal, let value): return wanted(column, [value], layout)
        case .isIn(let column, let values): return wanted(column, values, layout)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return wanted(column, list.elements, layout)
        case .and(let parts):
            return parts.compactMap { $0.wantedValues(layout) }.min { $0.values.count < $1.values.count }
        default: return nil
        }
    }

    private func wanted(
        _ column: Int, _ values: [RowValue], _ layout: EntityLayout
    ) -> (column: Int, values: [RowValue])? {
        if JoinedColumn.isJoined(column) { return nil }
        let storage = layout.columns[column].storage
        return (
            column,
            values.count == 1 && values[0].fits(storage) ? values : Array(Set(values.filter { $0.fits(storage) }))
        )
    }

    /// Whether every matching row is in a range of a column that an index of the store finds.
    func isInIndexedRange(_ layout: EntityLayout) -> Bool {
        switch self {
        case .compare(let column, let relation, let value):
            relation != .notEqual && value != .null && !JoinedColumn.isJoined(column)
                && layout.indexedColumns.contains(column)
                && !layout.columns[column].isDecimal
        case .and(let parts): parts.contains { $0.isInIndexedRange(layout) }
        default: false
        }
    }
}
