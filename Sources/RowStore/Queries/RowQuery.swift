internal import ManagedModel

/// Which rows of an entity, and in what order.
///
/// Its conditions are not public. A store answers it with ``InMemoryRows``, or with ``rows(in:listing:)`` from lists of all
/// rows of the entities involved.
public struct RowQuery: Sendable, Hashable {
    /// The entity's place in ``ModelLayout/entities``. An abstract one has no rows of its own.
    public package(set) var entity: Int
    package var predicate: RowPredicate
    /// Rows that compare equal come in the order of their row keys, that is, of their creation.
    package var sort: [SortKey]
    /// Whether the order matters. If not, the rows come in the order in which they are found.
    package var isOrdered = true
    /// The most rows; nil for all.
    package var limit: Int?
    package var offset: Int
    /// The requested columns; nil for all. In rows from a store all others are null, except those sorted by.
    package var columns: [Int]?
    /// Whether large values of attributes with the model's flag may lie apart, so that the rows have only their sizes. A store may
    /// return whole rows all the same.
    package var leavesValuesApart = false
    /// The joined columns of the rows. Predicate, order and columns can use these, too.
    package var joined: [JoinedColumn] = []
    /// Whether the rows have all joined columns; otherwise only those that are requested or sorted by.
    package var returnsJoined = false
    /// How much work the query may do, in all statements and tests that it consists of.
    package var budget: QueryBudget

    package init(
        entity: Int, predicate: RowPredicate = .constant(true), sort: [SortKey] = [], limit: Int? = nil,
        offset: Int = 0,
        columns: [Int]? = nil, budget: QueryBudget = QueryBudget()
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.columns = columns
        self.budget = budget
    }
}

/// One column to sort by. Null comes first when ascending.
package struct SortKey: Sendable, Hashable {
    package let column: Int
    package let isAscending: Bool
    package let order: StringOrder

    package init(column: Int, isAscending: Bool = true, order: StringOrder = .bytes) {
        self.column = column
        self.isAscending = isAscending
        self.order = order
    }
}

extension RowSnapshot {
    /// The order of two rows by one column: null first, numbers and decimals by value, strings and blobs byte by byte.
    package func order(_ other: RowSnapshot, column: Int, _ kind: ColumnOrder) -> Int {
        guard kind.isDecimal, !isNull(column), !other.isNull(column) else {
            return order(other, column: column, storage: kind.storage)
        }
        return withBytes(column) { one in other.withBytes(column) { orderDecimals(one, $0) } }
    }
}

extension StoredRow {
    /// The order of two rows by a sort key, as if it were ascending.
    private func order(_ other: StoredRow, by key: SortKey, _ layout: EntityLayout) -> Int {
        let kind = layout.order(of: key.column)
        let ((one, column), (other, _)) = (cell(key.column), other.cell(key.column))
        guard !key.order.isBytes, kind.storage == .text, !one.isNull(column), !other.isNull(column) else {
            return one.order(other, column: column, kind)
        }
        return one.withBytes(column) { one in other.withBytes(column) { key.order.compare(one, $0) } }
    }

    /// The order of two rows by the sort keys: negative, 0 or positive.
    private func order(_ other: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Int {
        for key in sort {
            let order = order(other, by: key, layout)
            if order != 0 { return key.isAscending ? order : -order }
        }
        return 0
    }

    /// Whether this row comes before the other by the sort keys, then by key.
    package func precedes(_ other: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Bool {
        let order = order(other, by: sort, layout)
        return order == 0 ? key < other.key : order < 0
    }
}

/// A place in the order of a query: that of a row, which may no longer exist.
package struct RowCursor: Sendable, Hashable {
    package let key: Int64
    /// The row's values in the columns sorted by, in their order.
    package let values: [RowValue]

    package init(key: Int64, values: [RowValue]) {
        self.key = key
        self.values = values
    }

    package init(_ stored: StoredRow, _ sort: [SortKey], _ layout: EntityLayout) {
        key = stored.key
        values = sort.map { stored.value($0.column, layout.order(of: $0.column).storage) }
    }

    /// Whether the place comes before a row.
    package func precedes(_ stored: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Bool {
        var place = StoredRow(key: key, row: RowSnapshot(columnCount: stored.row.columnCount))
        place.joined = stored.joined.map { RowSnapshot(columnCount: $0.columnCount) }
        for (value, key) in zip(values, sort) {
            if JoinedColumn.isJoined(key.column) {
                place.joined?.setValue(value, JoinedColumn.index(key.column))
            } else {
                place.row.setValue(value, key.column)
            }
        }
        return place.precedes(stored, by: sort, layout)
    }
}
