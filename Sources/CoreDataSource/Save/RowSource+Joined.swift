internal import RowStore

/// A row with its entity.
package typealias EntityRow = (entity: Int, stored: StoredRow)

/// Queries that follow relationships. Pending rows replace rows of the store.
extension RowSource {
    /// Returns the matching rows of several entities, each row with its entity. Applies the query's order, limit and offset.
    /// Also returns the number of the newest save that the rows include.
    ///
    /// The store runs the query if none of the entities has pending rows. Otherwise the query runs here, on a snapshot of the
    /// store and of the pending rows.
    package func joinedRows(
        _ query: RowQuery, _ family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: SaveNumber) {
        if let (rows, asOf) = try committedRows(query, family, layout) { return (rows, asOf) }
        switch self {
        case .root(let root):
            return try root.withSnapshot { snapshot throws(DataSourceError) in
                try RowSource.snapshot(snapshot).joinedRows(query, family, layout)
            }
        case .pinned(let pinned):
            let asOf = pinned.newestSave
            let rows = try Join(SourceView(source: self, layout: layout), query.budget).rows(query, family)
            // If the snapshot has ended, the rows may belong to different states, so read them again.
            return pinned.hasEnded ? try pinned.root.rows.joinedRows(query, family, layout) : (rows, asOf)
        case .snapshot:
            return (try Join(SourceView(source: self, layout: layout), query.budget).rows(query, family), newestSave)
        }
    }

    /// Returns the matching rows of several entities, each row with its entity. Applies the query's order, limit and offset. The
    /// query may have joined columns.
    func windowedRows(
        _ query: RowQuery, _ family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> [EntityRow] {
        guard query.joined.isEmpty, let entity = family.first, family.count == 1 else {
            return try joinedRows(query, family, layout).rows
        }
        return try rows(query.of(entity: entity), layout.entities[entity]).rows.map { (entity, $0) }
    }

    /// Calls the body with a source whose rows do not change during the call. The body may be called twice.
    func withOneState<R>(
        _ body: (RowSource) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        switch self {
        case .root(let root):
            return try root.withSnapshot { snapshot throws(DataSourceError) in try body(.snapshot(snapshot)) }
        case .pinned(let pinned):
            let result = try body(self)
            // If the snapshot has ended, the rows may belong to different states, so read them again.
            return pinned.hasEnded ? try pinned.root.rows.withOneState(body) : result
        case .snapshot: return try body(self)
        }
    }

    /// Returns the number of matching rows; nil if pending rows may affect the number.
    func countJoined(_ query: RowQuery, _ family: [Int]) throws(DataSourceError) -> Int? {
        let entities = query.entities(family)
        if entities.contains(where: hasPendingRows) { return nil }
        let (count, isCommitted, _) = try read(.snapshot) { reader throws(DataSourceError) in
            var count = 0
            for entity in family { count += try reader.count(query.of(entity: entity)) }
            return count
        } pending: { rows, start in
            entities.allSatisfy { rows.view($0, after: start).isEmpty }
        }
        return isCommitted ? count : nil
    }

    /// Returns the matching rows in the store; nil if pending rows may affect the result.
    private func committedRows(
        _ query: RowQuery, _ family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: SaveNumber)? {
        let entities = query.entities(family)
        if entities.contains(where: hasPendingRows) { return nil }
        let widenedQuery = family.count == 1 ? query : query.widened(by: 0)
        let (found, isCommitted, asOf) = try read(.snapshot) { reader throws(DataSourceError) in
            var found: [(entity: Int, stored: StoredRow)] = []
            for entity in family {
                try reader.forEachRow(widenedQuery.of(entity: entity)) { found.append((entity, $0)) }
            }
            return found
        } pending: { rows, start in
            entities.allSatisfy { rows.view($0, after: start).isEmpty }
        }
        guard isCommitted else { return nil }
        if family.count == 1 { return (found, asOf) }
        guard query.isOrdered else { return (query.window(found), asOf) }
        let entity = layout.entities[query.entity]
        return (query.window(found.sorted { $0.stored.precedes($1.stored, by: query.sort, entity) }), asOf)
    }
}

/// The rows of a source, including pending rows.
struct SourceView: RowView {
    let source: RowSource
    let layout: ModelLayout

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try source.rows(query, layout.entities[query.entity]).rows
    }
}

extension RowQuery {
    /// Returns all entities whose rows affect the query: the family, and the entities along joined relationships.
    func entities(_ family: [Int]) -> Set<Int> {
        var entities = Set(family)
        for column in joined { column.related?.collectEntities(&entities) }
        return entities
    }
}
