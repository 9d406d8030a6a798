internal import RowStore

/// Changing many rows in a batch that does nothing else.
extension PrivateContext {
    /// Gives every object that matches the same values.
    ///
    /// - Parameter source: The data source of the context.
    /// - Returns: What the store has changed by itself; nil if the batch has the changes.
    func updateAll<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?, _ assignments: [FetchAssignment<Object>],
        from source: SaveSource
    ) throws -> SaveReport? {
        let plan = try changePlan(type, predicate)
        let layout = bindings[plan.query.entity].layout
        var values: [Int: RowValue] = [:]
        for assignment in assignments {
            guard let column = storedColumn(assignment.keyPath, of: type, layout) else {
                try update(type, where: predicate, set: assignments)
                return nil
            }
            values[column] = assignment.value
        }
        if values.isEmpty { return nil }
        let assign = { (object: Object) in
            for assignment in assignments { assignment.apply(object) }
        }
        switch try updateRows(plan, values, assign, checkCancellation) {
        case .rows: return nil
        case .tooManyRows: return SaveReport(updated: try makeInStore(plan, values, from: source))
        case .objects:
            try update(type, where: predicate, set: assignments)
            return nil
        }
    }

    /// Deletes every object that matches.
    ///
    /// - Parameter source: The data source of the context.
    /// - Returns: What the store has changed by itself; nil if the batch has the changes.
    func deleteAll<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?, from source: SaveSource
    ) throws -> SaveReport? {
        let plan = try changePlan(type, predicate)
        switch try deleteRows(plan, checkCancellation) {
        case .rows: return nil
        case .tooManyRows: return SaveReport(deleted: try makeInStore(plan, nil, from: source))
        case .objects:
            try delete(type, where: predicate)
            return nil
        }
    }

    /// The request for all objects that match; the context must own them.
    func changePlan<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws(DataSourceError) -> FetchPlan {
        let family = bindings[try entity(of: type)].layout.concreteFamily
        for concrete in family { try checkOwned(concrete) }
        try checkClass(type, family)
        return try plan(FetchRequest(type, where: predicate))
    }
}

/// A batch of a cancelled task ends early, and nothing is saved.
func checkCancellation(_ index: Int) throws {
    if index & 0xFF == 0 { try Task.checkCancellation() }
}
