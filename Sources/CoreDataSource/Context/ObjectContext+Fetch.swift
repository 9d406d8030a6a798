internal import RowStore

/// Fetching many objects.
extension ObjectContext {
    /// The objects that match, edits that are not saved yet included.
    func objects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let family = bindings[query.entity].layout.concreteFamily
        guard family.count == 1 else { return try objects(query, ofEntities: family) }
        return try objects(query, ofEntity: family[0])
    }

    private func objects(_ query: RowQuery, ofEntity entity: Int) throws(DataSourceError) -> [ManagedObject] {
        if bindings[entity].holdsAllRows { return sorted(registered(query.of(entity: entity)), query) }
        let edits = editedRows(entity)
        if edits.isEmpty, let objects = try readObjects(query.of(entity: entity)) { return objects }
        let base = edits.isEmpty ? query : query.widened(by: edits.count)
        var (rows, asOf) = try stack.root.rows(base.of(entity: entity), bindings[entity].layout)
        if !edits.isEmpty { rows = query.window(query.lay(edits, over: rows, bindings[entity].layout)) }
        let objects = objects(rows, entity, asOf: asOf)
        if query.isWhole && bindings[entity].isOwned { bindings[entity].holdsAllRows = true }
        return objects
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
    func unsortedObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let family = bindings[query.entity].layout.concreteFamily
        guard family.count == 1, bindings[family[0]].holdsAllRows else { return try objects(query.unlimited) }
        return registered(query.of(entity: family[0]))
    }

    private func objects(_ query: RowQuery, ofEntities family: [Int]) throws(DataSourceError) -> [ManagedObject] {
        let (found, asOf) = try stack.root.rows(query, ofEntities: family, stack.layout)
        var objects: [ManagedObject] = []
        for (entity, rows) in found {
            let rows = query.unlimited.lay(editedRows(entity), over: rows, bindings[entity].layout)
            objects += self.objects(rows, entity, asOf: asOf)
        }
        return sorted(objects, query)
    }

    /// How many objects match, edits that are not saved yet included.
    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        var total = 0
        for entity in bindings[query.entity].layout.concreteFamily {
            let query = query.unlimited.of(entity: entity)
            if bindings[entity].holdsAllRows || !editedRows(entity).isEmpty {
                total += try objects(query, ofEntity: entity).count
            } else {
                total += try stack.root.count(query, bindings[entity].layout)
            }
        }
        return total
    }

    /// The registered objects that match, in any order.
    private func registered(_ query: RowQuery) -> [ManagedObject] {
        let binding = bindings[query.entity]
        return binding.objects.objects.filter {
            !$0.isDeleted && query.predicate.evaluate($0.row, binding.layout)
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
        if query.limit == nil && query.offset == 0 { return sorted }
        return Array(sorted.dropFirst(query.offset).prefix(query.limit ?? Int.max))
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
