/// Queries that are answered from rows in memory.
extension RowQuery {
    /// Asks for the row whose columns of one uniqueness constraint hold the values. A null value matches nothing.
    ///
    /// - Parameters:
    ///   - layout: The entity.
    ///   - constraint: The constraint's place in ``EntityLayout/constraints``.
    ///   - values: One for each of its columns.
    public init(_ layout: EntityLayout, constraint: Int, values: [RowValue]) {
        let tests = zip(layout.constraints[constraint], values).map { RowPredicate.compare(column: $0, .equal, $1) }
        self.init(entity: layout.index, predicate: values.contains(.null) ? .constant(false) : .and(tests))
    }

    /// The rows that answer the query, in its order and within its limit, out of all rows that are listed.
    ///
    /// Predicate, order, limit, offset and what the query asks of related rows are seen to; what a predicate means is the same
    /// as in every other store.
    ///
    /// **Isolation**: none. **Complexity**: O(n) in the rows that are listed, O(n log n) with an order.
    ///
    /// - Parameters:
    ///   - layout: The model.
    ///   - list: Returns all rows of an entity, which is given by its place in ``ModelLayout/entities``, in any order. It is
    ///     called for the query's own entity, and for those that it asks about along relationships, those more than once.
    /// - Throws: `invalidPredicate` if a pattern takes too much work, `cancelled`, and what the function throws.
    public func rows(
        in layout: ModelLayout, listing list: @escaping (_ entity: Int) throws(DataSourceError) -> [StoredRow]
    ) throws(DataSourceError) -> [StoredRow] {
        try ListedRows(layout: layout, list: list).answer(self)
    }

    /// The rows of one entity that match, in order if it counts.
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
    /// The rows that answer a query, with joined columns or without.
    func answer(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        if query.joined.isEmpty { return try rows(query) }
        return try Join(self, query.budget).rows(query, [query.entity]).map(\.stored)
    }
}

/// Rows that somebody else lists.
private struct ListedRows: RowView {
    let layout: ModelLayout
    let list: (Int) throws(DataSourceError) -> [StoredRow]

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try query.matches(list(query.entity), layout.entities[query.entity])
    }
}
