internal import RowStore

/// Rows that match, without objects.
extension ManagedObjectContext {
    /// The rows that match, in order and with edits, for requests that return values and no objects.
    ///
    /// - Parameter columns: The columns that are wanted, nil for all; others may be null.
    func rows(_ plan: FetchPlan, columns: [Int]?) throws(DataSourceError) -> [StoredRow] {
        var query = plan.query
        query.columns = columns
        if !query.joined.isEmpty { return try joinedRows(plan, columns: columns).map(\.stored) }
        if plan.tests != nil { return try objects(plan).map { StoredRow(key: $0.key, row: $0.wholeRow) } }
        return try plan.family.count == 1
            ? rows(query.of(entity: plan.family[0])) : rows(query, ofEntities: plan.family).rows.map(\.stored)
    }

    private func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        guard isRegistered(query) else { return try readRows(query).rows }
        return sorted(try registeredObjects(query), query).map { StoredRow(key: $0.key, row: $0.row) }
    }

    /// The rows of one entity that match, including edits, and the newest save that they take into account.
    func readRows(_ query: RowQuery) throws(DataSourceError) -> (rows: [StoredRow], asOf: Int64) {
        let binding = bindings[query.entity]
        guard binding.hasEdits else { return try source.rows(query, binding.layout) }
        let edited = try editedRows(query)
        // Each row that the batch has changed can hide a row of the store.
        var spare = query.limit == nil ? 0 : try countOfTouched(query)
        while true {
            let base = query.widened(by: spare)
            let (found, asOf) = try source.rows(base, binding.layout)
            let rows = found.filter { !binding.isTouched($0.key) }
            if isShort(found.count, rows.count, base, spare) {
                spare = max(spare * 2, found.count - rows.count)
                continue
            }
            return (query.window(query.merge(edited, into: rows, binding.layout)), asOf)
        }
    }

    /// The rows of several entities that match, including edits, each with its entity, and the newest save that they take into
    /// account.
    func rows(
        _ query: RowQuery, ofEntities family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: Int64) {
        if family.isEmpty { return ([], 0) }
        var spare = 0
        if query.limit != nil {
            for entity in family { spare = max(spare, try countOfTouched(query.of(entity: entity))) }
        }
        while true {
            let base = query.widened(by: spare)
            let (found, asOf) = try source.firstRows(base, ofEntities: family, stack.layout)
            var all: [(entity: Int, stored: StoredRow)] = []
            var hidden = 0
            for (entity, stored) in found {
                let binding = bindings[entity]
                let rows = stored.filter { !binding.isTouched($0.key) }
                if isShort(stored.count, rows.count, base, spare) { hidden = max(hidden, stored.count - rows.count) }
                all += (rows + (try editedRows(query.of(entity: entity)))).map { (entity, $0) }
            }
            if hidden > 0 {
                spare = max(spare * 2, hidden)
                continue
            }
            let layout = bindings[query.entity].layout
            if query.isOrdered { all.sort { $0.stored.precedes($1.stored, by: query.sort, layout) } }
            return (query.window(all), asOf)
        }
    }

    /// The query, if the store alone can answer it; nil if objects of this context affect the result, or if there are several
    /// entities.
    func committedQuery(_ plan: FetchPlan, columns: [Int]?) -> RowQuery? {
        guard plan.tests == nil, plan.family.count == 1, plan.query.joined.isEmpty else { return nil }
        var query = plan.query.of(entity: plan.family[0])
        if bindings[query.entity].hasEdits || isRegistered(query) { return nil }
        query.columns = columns
        return query
    }

    /// Objects that all match, in order and within limit and offset. Keys are unique in the whole store, so the order is total
    /// across entities.
    func sorted(_ objects: [ManagedObject], _ query: RowQuery) -> [ManagedObject] {
        let layout = bindings[query.entity].layout
        func precedes(_ one: ManagedObject, _ other: ManagedObject) -> Bool {
            if query.sort.isEmpty { return one.key < other.key }
            return StoredRow(key: one.key, row: one.row)
                .precedes(StoredRow(key: other.key, row: other.row), by: query.sort, layout)
        }
        guard let limit = query.limit, query.offset + limit <= 256, objects.count > 512 else {
            return query.window(objects.sorted(by: precedes))
        }
        // The first few of many objects.
        var first: [ManagedObject] = []
        let wanted = query.offset + limit
        for object in objects {
            if first.count == wanted {
                guard let last = first.last, precedes(object, last) else { continue }
                first.removeLast()
            }
            first.insert(object, at: partitioningIndex(first.count) { precedes(first[$0], object) })
        }
        return query.window(first)
    }

    private func editedRows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        if !bindings[query.entity].hasEdits { return [] }
        return try editedObjects(query).map { StoredRow(key: $0.key, row: $0.row) }
    }

    /// Whether more rows than expected were hidden, so that the window may need rows beyond those that were read.
    private func isShort(_ found: Int, _ kept: Int, _ base: RowQuery, _ spare: Int) -> Bool {
        guard let limit = base.limit, found == limit else { return false }
        return kept < limit - spare
    }
}
