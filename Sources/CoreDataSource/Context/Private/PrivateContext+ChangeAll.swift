internal import RowStore

/// Changes of many rows in a batch that makes no other change.
extension PrivateContext {
    /// Sets the same values in all matching objects.
    ///
    /// - Parameter source: The data source of the context.
    /// - Returns: The report of the change if the store made it; nil if the changes are part of the batch.
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
        if try mayChangeRows(plan) {
            switch try updateRows(plan, to: values, assign: assign, checkCancellation: checkCancellation) {
            case .rows where completer == nil: return nil
            case .rows: bulkChanges.removeAll()
            case .tooManyRows:
                let bulk = {
                    let sample = try self.sample(of: self.bindings[layout.index], assign)
                    return [PendingChanges.Bulk(layout, predicate, Array(values.keys), sample: sample)]
                }
                if try completerAllows(bulk(), of: plan.family, isDeletion: false) {
                    return SaveReport(updated: try changeInStore(plan, values, from: source))
                }
            case .objects: break
            }
        }
        try update(type, where: predicate, set: assignments)
        return nil
    }

    /// Deletes all matching objects.
    ///
    /// - Parameter source: The data source of the context.
    /// - Returns: The report of the change if the store made it; nil if the changes are part of the batch.
    func deleteAll<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?, from source: SaveSource
    ) throws -> SaveReport? {
        let plan = try changePlan(type, predicate)
        if try mayChangeRows(plan) {
            switch try deleteRows(plan, checkCancellation) {
            case .rows where completer == nil: return nil
            case .rows: bulkChanges.removeAll()
            case .tooManyRows:
                let layout = bindings[plan.query.entity].layout
                let isAllowed = try completerAllows(
                    [PendingChanges.Bulk(layout, predicate)], of: plan.family, isDeletion: true)
                if isAllowed {
                    return SaveReport(deleted: try changeInStore(plan, nil, from: source))
                }
            case .objects: break
            }
        }
        try delete(type, where: predicate)
        return nil
    }

    /// Returns the plan of a request for matching objects.
    ///
    /// - Throws: `entityNotOwned` if the context does not own all these objects.
    func changePlan<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws(DataSourceError) -> FetchPlan {
        let family = bindings[try entity(of: type)].layout.concreteFamily
        for concrete in family { try checkOwned(concrete) }
        try checkClass(type, family)
        return try plan(ObjectRequest(type, where: predicate))
    }
}

/// Deleting everything.
extension PrivateContext {
    /// Deletes all objects that this context owns.
    ///
    /// - Parameter source: The data source of the context.
    func deleteAllOwned(from source: SaveSource) throws {
        let owned = bindings.filter { $0.isOwned && !$0.layout.isAbstract && $0.layout.links == nil }.map(\.layout)
        guard let first = owned.first else { return }
        var all = FetchPlan(RowQuery(entity: first.index))
        all.family = owned.map(\.index)
        // Only entities without relationships are deleted as rows. Objects of other entities are deleted one by one.
        if owned.allSatisfy(\.relationships.isEmpty), try mayChangeRows(all) {
            switch try deleteRows(all, checkCancellation) {
            case .rows where completer == nil: return
            case .rows: bulkChanges.removeAll()
            case .tooManyRows:
                let isAllowed = try completerAllows(
                    owned.map { PendingChanges.Bulk(deletionOf: $0) }, of: all.family, isDeletion: true)
                if isAllowed {
                    _ = try changeInStore(all, nil, from: source)
                    return
                }
            case .objects: break
            }
        }
        for layout in owned {
            let plan = FetchPlan(RowQuery(entity: layout.index))
            if !isCompleted, layout.relationships.isEmpty, try deleteRows(plan, checkCancellation) == .rows { continue }
            try deleteEach(reading { () throws(DataSourceError) in try unsortedObjects(plan) })
        }
    }
}

/// How a data source that completes saves takes part in a change of many rows.
extension PrivateContext {
    /// Whether rows may be changed without becoming objects. If the data source completes saves, this is true only if there are
    /// so many rows that the store makes the change.
    private func mayChangeRows(_ plan: FetchPlan) throws -> Bool {
        if completer == nil { return true }
        guard plan.objectPredicate == nil, canChangeInStore(plan) else { return false }
        return try reading(registersObjects: false) { () throws(DataSourceError) in
            try count(plan) > stack.changedRowLimit
        }
    }

    /// Calls the hook of the data source for a change that the store is about to make.
    ///
    /// - Parameters:
    ///   - bulk: The descriptions of the change.
    ///   - family: The entities of the rows.
    /// - Returns: Whether the store may make the change. False if the hook has used the changed objects, has edited objects or
    ///   has discarded the batch. In this case, the edits of the hook are discarded, and the rows must become objects.
    private func completerAllows(
        _ bulk: @autoclosure () throws -> [PendingChanges.Bulk], of family: [Int], isDeletion: Bool
    ) throws -> Bool {
        if completer == nil { return true }
        let trial = BulkTrial(Set(family), isDeletion: isDeletion)
        let bulk = try bulk()
        bulkTrial = trial
        defer { bulkTrial = nil }
        let contexts = batchContexts
        try SaveCompletion.whileReadingAll(contexts) {
            do {
                try complete(PendingChanges(self, [], bulk: bulk, trial))
            } catch {
                // If the hook needs objects, the error may be only a consequence of the missing objects, so ignore it.
                if !trial.needsObjects { throw error }
            }
        }
        let isUnchanged = contexts.allSatisfy { $0.changed.isEmpty && $0.sweeps.isEmpty && $0.refusal == nil }
        if isUnchanged, !trial.needsObjects, !trial.hasRolledBack { return true }
        rollback()
        return false
    }

    /// Returns an object outside any context, with the values that an assignment sets.
    private func sample<Object: ManagedObject>(
        of binding: EntityBinding, _ assign: (Object) -> Void
    ) throws(DataSourceError) -> Object {
        let sample: Object = try typed(binding.detachedObject(StoredRow(key: 0, row: binding.template)))
        assign(sample)
        return sample
    }
}
