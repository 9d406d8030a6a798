internal import ManagedModel

/// A query for the rows of one entity.
///
/// The predicate is not public. A store can answer a query with ``InMemoryRows``, or list all rows of the query's
/// entities and call ``rows(in:listing:)``.
public struct RowQuery: Sendable, Hashable {
    /// The entity's index in ``ModelLayout/entities``. An abstract entity has no rows.
    public package(set) var entity: Int
    package var predicate: RowPredicate
    /// The sort keys. Rows with equal sort keys have the order of their row keys, which is the order of their creation.
    package var sort: [SortKey]
    /// Whether the order of the rows matters. If false, the rows come in the order in which the store finds them.
    package var isOrdered = true
    /// The maximum number of rows; nil for all rows.
    package var limit: Int?
    package var offset: Int
    /// The requested columns; nil for all columns. In rows from a store, all other columns are null, except sort columns.
    package var columns: [Int]?
    /// Whether the store may defer large values of attributes that allow external storage: the rows then have only the sizes of
    /// these values. A store may still return complete rows.
    package var defersValues = false
    /// The joined columns of the rows. The predicate, the order and the requested columns can also use joined columns.
    package var joined: [JoinedColumn] = []
    /// Whether the rows have all joined columns. If false, they have only the requested joined columns and the sort columns.
    package var returnsJoined = false
    /// The work that all statements and predicates of the query may do together.
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

/// A column to sort by. Null comes first in ascending order.
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
    /// Compares two rows by one column. Null comes first. Numbers and decimals are compared by value, strings and blobs by
    /// their bytes.
    package func order(_ other: RowSnapshot, column: Int, _ kind: ColumnOrder) -> Int {
        guard kind.isDecimal, !isNull(column), !other.isNull(column) else {
            return order(other, column: column, storage: kind.storage)
        }
        return withBytes(column) { one in other.withBytes(column) { orderDecimals(one, $0) } }
    }
}

extension StoredRow {
    /// Compares two rows by a sort key, as if the key were ascending.
    private func order(_ other: StoredRow, by key: SortKey, _ layout: EntityLayout) -> Int {
        let kind = layout.order(of: key.column)
        let ((one, column), (other, _)) = (cell(key.column), other.cell(key.column))
        guard !key.order.isBytes, kind.storage == .text, !one.isNull(column), !other.isNull(column) else {
            return one.order(other, column: column, kind)
        }
        return one.withBytes(column) { one in other.withBytes(column) { key.order.compare(one, $0) } }
    }

    /// Compares two rows by the sort keys. Returns a negative number, 0 or a positive number.
    package func order(_ other: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Int {
        for key in sort {
            let order = order(other, by: key, layout)
            if order != 0 { return key.isAscending ? order : -order }
        }
        return 0
    }

    /// Returns whether this row comes before the other row, by the sort keys and then by the row key.
    package func precedes(_ other: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Bool {
        let order = order(other, by: sort, layout)
        return order == 0 ? key < other.key : order < 0
    }
}

/// The position of a row in the order of a query. The row may have been deleted.
package struct RowCursor: Sendable, Hashable {
    package let key: Int64
    /// The row's values in the sort columns, in the order of the sort keys.
    package let values: [RowValue]

    package init(key: Int64, values: [RowValue]) {
        self.key = key
        self.values = values
    }

    package init(_ stored: StoredRow, _ sort: [SortKey], _ layout: EntityLayout) {
        key = stored.key
        values = sort.map { stored.value($0.column, layout.order(of: $0.column).storage) }
    }

    /// Returns whether the cursor comes before a row.
    package func precedes(_ stored: StoredRow, by sort: [SortKey], _ layout: EntityLayout) -> Bool {
        var boundary = StoredRow(key: key, row: RowSnapshot(columnCount: stored.row.columnCount))
        boundary.joined = stored.joined.map { RowSnapshot(columnCount: $0.columnCount) }
        for (value, key) in zip(values, sort) {
            if JoinedColumn.isJoined(key.column) {
                boundary.joined?.setValue(value, JoinedColumn.index(key.column))
            } else {
                boundary.row.setValue(value, key.column)
            }
        }
        return boundary.precedes(stored, by: sort, layout)
    }
}

/// Evaluates a predicate that cannot be expressed in the query language of the store. Also applies limit and offset.
package struct RowFilter {
    let predicate: RowPredicate
    let budget: QueryBudget
    package var remainingOffset = 0
    package var remainingLimit: Int?

    package init(_ predicate: RowPredicate, _ budget: QueryBudget) {
        self.predicate = predicate
        self.budget = budget
    }

    /// Whether no more rows are needed.
    package var isDone: Bool { remainingLimit.map { $0 <= 0 } ?? false }

    package mutating func accepts(_ stored: StoredRow, _ layout: EntityLayout) throws(DataSourceError) -> Bool {
        guard !isDone, try predicate.evaluate(stored, layout, budget) else { return false }
        if remainingOffset > 0 {
            remainingOffset -= 1
            return false
        }
        if let left = remainingLimit { remainingLimit = left - 1 }
        return true
    }
}

/// Variants of a query, and the merging of its result with newer rows.
extension RowQuery {
    /// Returns this query for another entity of the family.
    package func of(entity: Int) -> RowQuery {
        var query = self
        query.entity = entity
        return query
    }

    /// Returns this query for the rows after a cursor.
    package func following(_ cursor: RowCursor) -> RowQuery {
        var query = self
        let following = RowPredicate.follows(cursor, sort)
        query.predicate = predicate == .constant(true) ? following : .and([predicate, following])
        return query
    }

    /// This query for all matching rows, in any order. The rows have all their own columns, but no joined columns.
    package var baseQuery: RowQuery {
        var query = self
        query.joined = []
        query.returnsJoined = false
        query.sort = []
        query.isOrdered = false
        query.defersValues = false
        query.columns = nil
        return query.unlimited
    }

    /// This query without limit and offset.
    package var unlimited: RowQuery {
        var query = self
        query.limit = nil
        query.offset = 0
        return query
    }

    /// Returns the query for all rows from the first matching row to the last row within offset and limit, plus `spare` more
    /// rows.
    package func widened(by spare: Int) -> RowQuery {
        var query = self
        query.limit = limit.map { $0 + offset + spare }
        query.offset = 0
        return query
    }

    /// Returns those of all matching rows that are within limit and offset.
    package func window<Element>(_ rows: [Element]) -> [Element] {
        if limit == nil && offset == 0 { return rows }
        return Array(rows.dropFirst(offset).prefix(limit ?? Int.max))
    }

    /// Merges other matching rows into the rows of the store. The other rows may have any order.
    package func merge(_ more: [StoredRow], into rows: [StoredRow], _ layout: EntityLayout) -> [StoredRow] {
        if more.isEmpty { return rows }
        guard isOrdered else { return rows + more }
        let more = more.sorted { $0.precedes($1, by: sort, layout) }
        var merged: [StoredRow] = []
        merged.reserveCapacity(rows.count + more.count)
        var next = more.startIndex
        for row in rows {
            while next < more.endIndex, more[next].precedes(row, by: sort, layout) {
                merged.append(more[next])
                next += 1
            }
            merged.append(row)
        }
        merged += more[next...]
        return merged
    }
}
