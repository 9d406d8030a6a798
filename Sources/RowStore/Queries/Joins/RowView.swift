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
