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
    package var defersValues = false
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

/// Evaluates a predicate for which a store's own language is not enough, and counts the rows for limit and offset.
package struct RowFilter {
    let predicate: RowPredicate
    let budget: QueryBudget
    package var skip = 0
    package var take: Int?

    package init(_ predicate: RowPredicate, _ budget: QueryBudget) {
        self.predicate = predicate
        self.budget = budget
    }

    /// Whether no further row is needed.
    package var isDone: Bool { take.map { $0 <= 0 } ?? false }

    package mutating func accepts(_ stored: StoredRow, _ layout: EntityLayout) throws(DataSourceError) -> Bool {
        guard !isDone, try predicate.evaluate(stored, layout, budget) else { return false }
        if skip > 0 {
            skip -= 1
            return false
        }
        if let left = take { take = left - 1 }
        return true
    }
}

/// How a store finds the rows of a query.
public struct QueryExplanation: Sendable, Hashable {
    /// The query in the store's own language, without its values; empty if it has none.
    public var statement: String
    /// What the store does, in its own words.
    public var steps: [String]

    /// The step of a store in memory, which has no indexes.
    package static let inMemory = "SCAN rows in memory"

    /// Makes an explanation.
    public init(statement: String, steps: [String]) {
        self.statement = statement
        self.steps = steps
    }
}

/// Laying newer rows over the result of a query, as if they were stored.
extension RowQuery {
    /// The same query of another entity of the family.
    package func of(entity: Int) -> RowQuery {
        var query = self
        query.entity = entity
        return query
    }

    /// The same query for the rows after a place in its order.
    package func following(_ cursor: RowCursor) -> RowQuery {
        var query = self
        let place = RowPredicate.follows(cursor, sort)
        query.predicate = predicate == .constant(true) ? place : .and([predicate, place])
        return query
    }

    /// The same query for all whole rows that match, in any order and without joined columns.
    package var flat: RowQuery {
        var query = self
        query.joined = []
        query.returnsJoined = false
        query.sort = []
        query.isOrdered = false
        query.defersValues = false
        query.columns = nil
        return query.unlimited
    }

    /// The same query without limit and offset.
    package var unlimited: RowQuery {
        var query = self
        query.limit = nil
        query.offset = 0
        return query
    }

    /// The query for everything up to the end of the window, and that many more rows.
    package func widened(by spare: Int) -> RowQuery {
        var query = self
        query.limit = limit.map { $0 + offset + spare }
        query.offset = 0
        return query
    }

    /// The part of all matching rows within limit and offset.
    package func window<Element>(_ rows: [Element]) -> [Element] {
        if limit == nil && offset == 0 { return rows }
        return Array(rows.dropFirst(offset).prefix(limit ?? Int.max))
    }

    /// Rows of the store merged with other rows that match, which come in any order.
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
