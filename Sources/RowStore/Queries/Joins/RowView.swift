/// The rows in a single state. They are the rows of a store, possibly together with pending saves or with the edits of a batch.
package protocol RowView {
    var layout: ModelLayout { get }

    /// Whether a link can have a duplicate, or two rows can lead to the same end of a one-to-one relationship. Both can
    /// happen in a draft, if another save has made the same link. False by default.
    var mayHaveDoubleLinks: Bool { get }

    /// Returns the matching rows of one concrete entity, in the order of the query.
    ///
    /// - Parameter query: A query without joined columns.
    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow]
}

extension RowView {
    package var mayHaveDoubleLinks: Bool { false }

    /// Returns those rows of several entities that have one of the keys in a column. The rows may have any order.
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

/// Queries that are answered from rows in memory.
extension RowQuery {
    /// Makes a query for the row with the given values in the columns of a uniqueness constraint. A null value matches nothing.
    ///
    /// ```swift
    /// let query = RowQuery(layout, constraint: 0, values: [.text("guan-yu")])
    /// ```
    ///
    /// - Parameters:
    ///   - layout: The layout of the entity.
    ///   - constraint: The constraint's index in ``EntityLayout/constraints``.
    ///   - values: One value for each column of the constraint.
    public init(_ layout: EntityLayout, constraint: Int, values: [RowValue]) {
        let predicates = zip(layout.constraints[constraint], values).map {
            RowPredicate.compare(column: $0, .equal, $1)
        }
        self.init(entity: layout.index, predicate: values.contains(.null) ? .constant(false) : .and(predicates))
    }

    /// Returns the rows that answer the query. Finds these rows in lists of all rows.
    ///
    /// ```swift
    /// func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void)
    ///     throws(DataSourceError)
    /// {
    ///     for row in try query.rows(in: layout, listing: listRows) { body(row) }
    /// }
    /// ```
    ///
    /// The method applies the predicate, order, limit, offset and related rows. A predicate has the same result as in every
    /// other store.
    ///
    /// **Isolation**: none. **Complexity**: O(n) in the listed rows, O(n log n) with an order.
    ///
    /// - Parameters:
    ///   - layout: The model.
    ///   - list: Returns all rows of an entity, in any order. The argument is the entity's index in ``ModelLayout/entities``.
    ///     Called for the query's own entity and for the entities of related rows, possibly more than once.
    /// - Throws: `invalidPredicate` if a pattern needs too much work, `cancelled`, and the errors of `list`.
    public func rows(
        in layout: ModelLayout, listing list: @escaping (_ entity: Int) throws(DataSourceError) -> [StoredRow]
    ) throws(DataSourceError) -> [StoredRow] {
        try ListedRows(layout: layout, list: list).answer(self)
    }

    /// Returns the matching rows of one entity, sorted if the query is ordered. The query must have no joined columns.
    ///
    /// - Parameter rows: All rows of the entity.
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
    /// Returns the rows that answer a query. The query may have joined columns.
    func answer(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        if query.joined.isEmpty { return try rows(query) }
        return try Join(self, query.budget).rows(query, [query.entity]).map(\.stored)
    }
}

private struct ListedRows: RowView {
    let layout: ModelLayout
    let list: (Int) throws(DataSourceError) -> [StoredRow]

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try query.matches(list(query.entity), layout.entities[query.entity])
    }
}
