internal import QueryLanguage
internal import RowStore

/// Queries that follow relationships.
extension ManagedObjectContext {
    /// The objects that match, in order and within limit and offset.
    func joinedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        try joined(plan, columns: nil).map(\.object)
    }

    /// The rows that match, in order and within limit and offset.
    func joinedRows(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(entity: Int, stored: StoredRow)] {
        if plan.tests != nil { return try joined(plan, columns: columns).map { ($0.object.layout.index, $0.stored) } }
        var query = plan.query
        query.columns = columns
        return try joinedRows(query, plan.family).rows
    }

    /// How many objects match; limit and offset are ignored.
    func countJoined(_ plan: FetchPlan) throws(DataSourceError) -> Int {
        let query = plan.query.unlimited
        if !hasEdits(query, plan.family), let count = try source.countJoined(query, plan.family) { return count }
        return try joinedRows(query.keysOnly, plan.family).rows.count
    }

    private func joined(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(object: ManagedObject, stored: StoredRow)] {
        var query = plan.query
        if plan.tests != nil {
            query = query.unlimited
            query.returnsJoined = true
        }
        let (rows, asOf) = try joinedRows(query, plan.family)
        var found: [(object: ManagedObject, stored: StoredRow)] = []
        found.reserveCapacity(rows.count)
        for (entity, stored) in rows {
            let object = object(stored, bindings[entity], asOf: asOf)
            if let tests = plan.tests {
                try query.budget.countRow()
                guard try tests.accepts(object, stored, query.budget) else { continue }
            }
            found.append((object, stored))
        }
        return plan.tests == nil ? found : plan.query.window(found)
    }

    /// The rows of several entities that match, including edits, and the newest save that they take into account.
    private func joinedRows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: Int64) {
        guard hasEdits(query, family) else { return try source.joinedRows(query, family, stack.layout) }
        // At least of this moment.
        let asOf = source.newestSave
        return (try Join(ContextView(context: self), query.budget).rows(query, family), asOf)
    }

    /// The entities whose deleted objects links of this context still lead to.
    var withGoneObjects: Set<Int> {
        guard editing != .not else { return [] }
        return Set(bindings.indices.filter(mayHaveGoneObjects))
    }

    /// Whether anything that the query reads was edited.
    private func hasEdits(_ query: RowQuery, _ family: [Int]) -> Bool {
        query.entities(family).contains { editor(ofEntity: $0).bindings[$0].hasEdits }
    }

    /// Prepares a query to continue after a place in its order. The place gets from related rows what it would get now.
    func follow(_ cursor: FetchCursor, _ query: inout RowQuery) throws(DataSourceError) {
        let place = try filled([cursor.stored], query.joined)[0]
        query = query.following(RowCursor(place, query.sort, cursor.layout))
    }

    /// Rows with joined columns, as this context sees them.
    func filled(_ rows: [StoredRow], _ columns: [JoinedColumn]) throws(DataSourceError) -> [StoredRow] {
        try Join(ContextView(context: self), QueryBudget(isCancellable: isCancellable)).filled(rows, columns)
    }
}

/// Rows as a context sees them, including edits.
private struct ContextView: RowView {
    let context: ManagedObjectContext
    var layout: ModelLayout { context.stack.layout }
    var mayHaveDoubleLinks: Bool { context.editing == .inDraft }

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try context.editor(ofEntity: query.entity).rows(FetchPlan(query), columns: query.columns)
    }
}
