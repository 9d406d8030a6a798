/// Rows as they are seen at one moment: those of a store, with pending saves, or with the edits of a batch.
package protocol RowView {
    var layout: ModelLayout { get }

    /// Whether a link can be there twice, or two rows lead to one end of a one-to-one relationship: in a draft, if another save has
    /// made the same link. False by default.
    var mayHaveDoubleLinks: Bool { get }

    /// The rows of one concrete entity that match, in the order of the query.
    ///
    /// - Parameter query: A query without joined columns.
    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow]
}

extension RowView {
    package var mayHaveDoubleLinks: Bool { false }

    /// The rows of several entities whose column has one of the keys, in any order.
    package func rows(
        _ entities: [Int], _ column: RowExpression, in keys: [Int64], columns: [Int]? = nil, _ budget: QueryBudget
    ) throws(DataSourceError) -> [StoredRow] {
        if keys.isEmpty { return [] }
        let list = ValueList(keys.map { .integer($0) }, .natural)
        var rows: [StoredRow] = []
        for entity in entities {
            var query = RowQuery(entity: entity, predicate: .isMember(column, list), columns: columns, budget: budget)
            query.isOrdered = false
            rows += try self.rows(query)
        }
        return rows
    }
}

/// Answering queries from rows in memory.
extension RowQuery {
    /// Finds the row whose columns of one uniqueness constraint have the values. A null value matches nothing.
    ///
    /// - Parameters:
    ///   - layout: The entity.
    ///   - constraint: The constraint's place in ``EntityLayout/constraints``.
    ///   - values: One for each of its columns.
    public init(_ layout: EntityLayout, constraint: Int, values: [RowValue]) {
        let tests = zip(layout.constraints[constraint], values).map { RowPredicate.compare(column: $0, .equal, $1) }
        self.init(entity: layout.index, predicate: values.contains(.null) ? .constant(false) : .and(tests))
    }

    /// The rows that answer the query, in its order and within its limit, from a list of all rows.
    ///
    /// Predicate, order, limit, offset and related rows are handled; a predicate means the same as in every other store.
    ///
    /// **Isolation**: none. **Complexity**: O(n) in the listed rows, O(n log n) with an order.
    ///
    /// - Parameters:
    ///   - layout: The model.
    ///   - list: Returns all rows of an entity, given by its position in ``ModelLayout/entities``, in any order. It is called
    ///     for the query's own entity, and for entities of related rows, possibly more than once.
    /// - Throws: `invalidPredicate` if a pattern needs too much work, `cancelled`, and what the closure throws.
    public func rows(
        in layout: ModelLayout, listing list: @escaping (_ entity: Int) throws(DataSourceError) -> [StoredRow]
    ) throws(DataSourceError) -> [StoredRow] {
        try ListedRows(layout: layout, list: list).answer(self)
    }

    /// The rows of one entity that match, in order if the query is ordered.
    ///
    /// - Parameter rows: All rows of the entity. The query has no joined columns.
    func matches(_ rows: some Sequence<StoredRow>, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow] {
        var found: [StoredRow] = []
        for row in rows {
            try budget.countRow()
            if try predicate.evaluate(row, layout, budget) { found.append(row) }
        }
        if isOrdered { found.sort { $0.precedes($1, by: sort, layout) } }
        let rest = found.dropFirst(max(0, offset))
        return Array(rest.prefix(max(0, limit ?? rest.count)))
    }
}

extension RowView {
    /// The rows that answer a query, with or without joined columns.
    func answer(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        if query.joined.isEmpty { return try rows(query) }
        return try Join(self, query.budget).rows(query, [query.entity]).map(\.stored)
    }
}

/// Rows from a list.
private struct ListedRows: RowView {
    let layout: ModelLayout
    let list: (Int) throws(DataSourceError) -> [StoredRow]

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try query.matches(list(query.entity), layout.entities[query.entity])
    }
}
