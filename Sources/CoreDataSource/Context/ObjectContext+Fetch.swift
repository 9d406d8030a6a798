internal import RowStore

/// Fetching many objects.
extension ObjectContext {
    /// The objects that match, edits that are not saved yet included.
    func objects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        if let tests = plan.tests {
            if let limit = plan.query.limit, let found = try first(plan.query.offset + limit, plan, tests) {
                return plan.query.window(found)
            }
            return plan.query.window(try accepted(objects(plan.query.unlimited, plan.family), tests))
        }
        if let found = try known(plan) { return plan.query.window(found) }
        return try objects(plan.query, plan.family)
    }

    private func accepted(
        _ objects: [ManagedObject], _ tests: ObjectPredicate
    ) throws(DataSourceError) -> [ManagedObject] {
        var accepted: [ManagedObject] = []
        for object in objects where try tests.accepts(object) { accepted.append(object) }
        try tests.checkTexts()
        return accepted
    }

    /// The first objects that the tests accept, asked in batches until there are so many; nil if other saves came in
    /// meanwhile, so that the batches do not fit together.
    private func first(
        _ count: Int, _ plan: FetchPlan, _ tests: ObjectPredicate
    ) throws(DataSourceError) -> [ManagedObject]? {
        let (newest, generation) = (stack.root.newestSave, stack.root.generation)
        var query = plan.query.unlimited
        query.isOrdered = true
        var batch = query
        batch.limit = max(count, 64)
        var found: [ManagedObject] = []
        while found.count < count, let size = batch.limit {
            let objects = try objects(batch, plan.family)
            guard stack.root.newestSave == newest, stack.root.generation == generation else { return nil }
            found += try accepted(objects, tests)
            guard objects.count == size, let last = objects.last else { break }
            let layout = bindings[query.entity].layout
            batch = query.following(RowCursor(StoredRow(key: last.key, row: last.row), query.sort, layout))
            batch.limit = size * 4
        }
        return Array(found.prefix(count))
    }

    /// What a look-up by a unique value or a key finds, for a request that asks for no more; nil for others.
    private func known(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject]? {
        guard plan.family.count == 1 else { return nil }
        let entity = plan.family[0]
        let layout = bindings[entity].layout
        switch plan.query.predicate {
        case .compare(let column, .equal, let value) where value != .null:
            guard layout.concreteFamily.count == 1, layout.constraint(onColumn: column) != nil,
                value.fits(layout.columns[column].storage)
            else { return nil }
            return try find(entity: entity, column: column, value: value).map { [$0] } ?? []
        case .compareKey(.equal, let key): return try find(entity: entity, key: key).map { [$0] } ?? []
        default: return nil
        }
    }

    private func objects(_ query: RowQuery, _ family: [Int]) throws(DataSourceError) -> [ManagedObject] {
        let objects = try family.count == 1 ? objects(query, ofEntity: family[0]) : objects(query, ofEntities: family)
        try query.predicate.checkTexts()
        return objects
    }

    private func objects(_ query: RowQuery, ofEntity entity: Int) throws(DataSourceError) -> [ManagedObject] {
        if bindings[entity].holdsAllRows { return sorted(registered(query.of(entity: entity)), query) }
        let edits = editedRows(entity)
        if edits.isEmpty, let objects = try readObjects(query.of(entity: entity)) { return objects }
        let (rows, asOf) = try rows(query, ofEntity: entity, edits)
        let objects = objects(rows, entity, asOf: asOf)
        if query.isWhole && bindings[entity].isOwned { bindings[entity].holdsAllRows = true }
        return objects
    }

    /// The rows of one entity that match, edits included, and the newest save that they take into account.
    private func rows(
        _ query: RowQuery, ofEntity entity: Int, _ edits: [Int64: RowSnapshot?]
    ) throws(DataSourceError) -> (rows: [StoredRow], asOf: Int64) {
        let base = edits.isEmpty ? query : query.widened(by: edits.count)
        let (rows, asOf) = try stack.root.rows(base.of(entity: entity), bindings[entity].layout)
        if edits.isEmpty { return (rows, asOf) }
        return (query.window(query.lay(edits, over: rows, bindings[entity].layout)), asOf)
    }

    /// The objects of committed rows, made while they are read: a row is in the processor's cache then. Nil if newer saves
    /// have to be laid over the rows.
    private func readObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject]? {
        let binding = bindings[query.entity]
        // Of this time at least; should the rows be newer, they are read again below.
        let start = stack.root.newestSave
        var objects: [ManagedObject] = []
        let asOf = try stack.root.forEachCommittedRow(query) {
            objects.append(object($0, binding, asOf: start))
        }
        guard asOf != nil else { return nil }
        if query.isWhole && binding.isOwned { binding.holdsAllRows = true }
        return objects
    }

    /// The objects that match, in any order; limit and offset do not count.
    func unsortedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        guard plan.tests == nil, plan.family.count == 1, bindings[plan.family[0]].holdsAllRows else {
            var plan = plan
            plan.query = plan.query.unlimited
            plan.query.isOrdered = false
            return try objects(plan)
        }
        let objects = registered(plan.query.of(entity: plan.family[0]))
        try plan.query.predicate.checkTexts()
        return objects
    }

    private func objects(_ query: RowQuery, ofEntities family: [Int]) throws(DataSourceError) -> [ManagedObject] {
        if family.isEmpty { return [] }
        let (found, asOf) = try stack.root.rows(query, ofEntities: family, stack.layout)
        var objects: [ManagedObject] = []
        for (entity, rows) in found {
            let rows = query.unlimited.lay(editedRows(entity), over: rows, bindings[entity].layout)
            objects += self.objects(rows, entity, asOf: asOf)
        }
        return sorted(objects, query)
    }

    /// How many objects match, edits that are not saved yet included; limit and offset do not count.
    func count(_ plan: FetchPlan) throws(DataSourceError) -> Int {
        if plan.tests != nil || plan.family.count == 1 && bindings[plan.family[0]].holdsAllRows {
            return try unsortedObjects(plan).count
        }
        var total = 0
        for entity in plan.family {
            let query = plan.query.unlimited.of(entity: entity)
            if bindings[entity].holdsAllRows || !editedRows(entity).isEmpty {
                total += try objects(query, ofEntity: entity).count
            } else {
                total += try stack.root.count(query, bindings[entity].layout)
            }
        }
        try plan.query.predicate.checkTexts()
        return total
    }

    // MARK: Rows without objects

    /// The rows that match, in order and with edits, for requests that want values and no objects.
    ///
    /// - Parameter columns: The columns that are wanted, nil for all; others may be null.
    func rows(_ plan: FetchPlan, columns: [Int]?) throws(DataSourceError) -> [StoredRow] {
        if plan.tests != nil { return try objects(plan).map { StoredRow(key: $0.key, row: $0.row) } }
        var query = plan.query
        query.columns = columns
        let rows =
            try plan.family.count == 1 ? rows(query, ofEntity: plan.family[0]) : rows(query, ofEntities: plan.family)
        try query.predicate.checkTexts()
        return rows
    }

    private func rows(_ query: RowQuery, ofEntity entity: Int) throws(DataSourceError) -> [StoredRow] {
        if bindings[entity].holdsAllRows {
            return sorted(registered(query.of(entity: entity)), query).map { StoredRow(key: $0.key, row: $0.row) }
        }
        return try rows(query, ofEntity: entity, editedRows(entity)).rows
    }

    private func rows(_ query: RowQuery, ofEntities family: [Int]) throws(DataSourceError) -> [StoredRow] {
        if family.isEmpty { return [] }
        let layout = bindings[query.entity].layout
        var all: [StoredRow] = []
        for (entity, rows) in try stack.root.rows(query, ofEntities: family, stack.layout).rows {
            all += query.unlimited.lay(editedRows(entity), over: rows, bindings[entity].layout)
        }
        all.sort { $0.precedes($1, by: query.sort, layout) }
        return query.window(all)
    }

    /// The query that the store alone answers; nil if objects of this context have a say, or several entities.
    func committedQuery(_ plan: FetchPlan, columns: [Int]?) -> RowQuery? {
        guard plan.tests == nil, plan.family.count == 1, !bindings[plan.family[0]].holdsAllRows,
            editedRows(plan.family[0]).isEmpty
        else { return nil }
        var query = plan.query.of(entity: plan.family[0])
        query.columns = columns
        return query
    }

    // MARK: Parts

    /// The registered objects that match, in any order.
    private func registered(_ query: RowQuery) -> [ManagedObject] {
        let binding = bindings[query.entity]
        return binding.objects.objects.filter {
            !$0.isDeleted && query.predicate.evaluate($0.row, key: $0.key, binding.layout)
        }
    }

    /// Objects that all match, in order and within limit and offset. Keys are unique in the whole store, so the order is
    /// total across entities.
    private func sorted(_ objects: [ManagedObject], _ query: RowQuery) -> [ManagedObject] {
        let layout = bindings[query.entity].layout
        let sorted =
            query.sort.isEmpty
            ? objects.sorted { $0.key < $1.key }
            : objects.sorted {
                StoredRow(key: $0.key, row: $0.row)
                    .precedes(StoredRow(key: $1.key, row: $1.row), by: query.sort, layout)
            }
        return query.window(sorted)
    }

    private func editedRows(_ entity: Int) -> [Int64: RowSnapshot?] {
        var edits: [Int64: RowSnapshot?] = [:]
        if changed.isEmpty { return edits }
        for object in changed where object.layout.index == entity {
            edits[object.key] = object.isDeleted ? .some(nil) : .some(object.row)
        }
        return edits
    }
}

extension RowQuery {
    /// Whether the query is for every row of its entity.
    fileprivate var isWhole: Bool { predicate == .constant(true) && limit == nil && offset == 0 }
}
