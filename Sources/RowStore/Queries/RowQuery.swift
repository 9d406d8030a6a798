internal import ManagedModel

/// Which rows, in what order.
package struct RowQuery: Sendable {
    /// The entity's number. An abstract one has no rows of its own.
    package var entity: Int
    package var predicate: RowPredicate
    /// Rows that are equal by all keys come in the order of their row keys, that is, of their creation.
    package var sort: [SortKey]
    /// The most rows; nil for all.
    package var limit: Int?
    package var offset: Int

    package init(
        entity: Int, predicate: RowPredicate = .constant(true), sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
    }
}

/// One column to sort by. Null comes first when ascending.
package struct SortKey: Sendable, Hashable {
    package let column: Int
    package let isAscending: Bool

    package init(column: Int, isAscending: Bool = true) {
        self.column = column
        self.isAscending = isAscending
    }
}

extension RowSnapshot {
    /// The order of two rows by one column: null first, numbers and decimals by value, text and blobs byte by byte.
    package func order(_ other: RowSnapshot, column: Int, _ layout: ColumnLayout) -> Int {
        guard layout.attribute?.type == .decimal, !isNull(column), !other.isNull(column) else {
            return order(other, column: column, storage: layout.storage)
        }
        return withBytes(column) { one in other.withBytes(column) { orderDecimals(one, $0) } }
    }
}

extension StoredRow {
    /// Whether this row comes before the other by the sort keys, then by key.
    package func precedes(_ other: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Bool {
        for key in sort {
            let order = row.order(other.row, column: key.column, layout.columns[key.column])
            if order != 0 { return (order < 0) == key.isAscending }
        }
        return self.key < other.key
    }
}
