internal import RowStore

/// Looking for one object.
extension ObjectContext {
    /// The object of that key, or nil.
    func find(entity: Int, key: Int64) throws(DataSourceError) -> ManagedObject? {
        if bindings[entity].isOwned {
            if let object = bindings[entity].objects[key] { return object.isDeleted ? nil : object }
            if bindings[entity].holdsAllRows { return nil }
        }
        let (row, asOf) = try stack.root.row(entity: entity, key: key)
        return row.map { object(StoredRow(key: key, row: $0), bindings[entity], asOf: asOf) }
    }

    /// The first object, in the order of creation, whose column holds the value.
    func find(entity: Int, column: Int, value: RowValue) throws(DataSourceError) -> ManagedObject? {
        for concrete in bindings[entity].layout.concreteFamily {
            let binding = bindings[concrete]
            guard let constraint = binding.layout.constraint(onColumn: column), value != .null else {
                var plan = FetchPlan(
                    RowQuery(entity: entity, predicate: .compare(column: column, .equal, value), limit: 1))
                plan.family = bindings[entity].layout.concreteFamily
                return try objects(plan).first
            }
            if binding.isOwned {
                if let object = binding.find(constraint, column, value) { return object }
                if binding.holdsAllRows { continue }
                if try registerAllIfFew(binding) {
                    if let object = binding.find(constraint, column, value) { return object }
                    continue
                }
            }
            if let object = try findStored(binding, constraint, [value]) { return object }
        }
        return nil
    }

    /// The object of the row that the store has under those values of a uniqueness constraint.
    private func findStored(
        _ binding: EntityBinding, _ constraint: Int, _ values: [RowValue]
    ) throws(DataSourceError) -> ManagedObject? {
        let (stored, asOf) = try stack.root.row(
            entity: binding.layout.index, constraint: constraint, values: values, binding.layout)
        guard let stored else { return nil }
        if let registered = binding.objects[stored.key], registered.state != .saved {
            // It was edited or deleted here: were it still to match, the index would have found it.
            return nil
        }
        return object(stored, binding, asOf: asOf)
    }

    /// Registers all rows of an entity, if look-ups keep missing and the rows are few enough to stay; an empty entity has
    /// all its rows registered from the start.
    ///
    /// - Returns: Whether all rows are registered now.
    private func registerAllIfFew(_ binding: EntityBinding) throws(DataSourceError) -> Bool {
        let all = RowQuery(entity: binding.layout.index)
        misses += 1
        if !binding.isEmptinessKnown {
            binding.isEmptinessKnown = true
            var first = all
            first.limit = 1
            binding.holdsAllRows = try stack.root.rows(first, binding.layout).rows.isEmpty
        } else if misses == 64, try stack.root.count(all, binding.layout) < stack.registeredObjectLimit {
            _ = try objects(FetchPlan(all))
        }
        return binding.holdsAllRows
    }
}
