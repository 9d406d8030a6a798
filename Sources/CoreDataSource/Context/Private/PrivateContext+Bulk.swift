internal import RowStore

/// The way to change many rows.
enum RowChangeWay {
    /// The rows are in the change set of the batch.
    case rows
    /// There are too many rows for a change set, so the store must change the rows.
    case tooManyRows
    /// The rows must become objects, because a part of the predicate can be evaluated only on objects, values must be unique,
    /// delete rules apply, or a setter does more than set its attribute.
    case objects
}

/// Changes and deletions of many rows without making objects.
///
/// The changes are part of the batch's change set, and are checked like all saves. If there are too many rows for a change set,
/// the store changes the rows.
extension PrivateContext {
    /// If the store makes the change, the rules of the model are checked on at most this number of rows.
    private static let maxCheckedRows = 256

    /// Makes the next save delete all matching rows.
    func deleteRows(_ plan: FetchPlan, _ checkCancellation: (Int) throws -> Void) throws -> RowChangeWay {
        // Delete rules that affect other rows are applied to objects.
        guard plan.objectPredicate == nil, !plan.family.contains(where: { stack.graph.needsObjects(toDelete: $0) })
        else {
            return .objects
        }
        let (start, isLimited) = (bulkChanges.count, canChangeInStore(plan))
        for entity in plan.family {
            var changes = EntityChanges(entity: entity)
            let (rows, areAll) = try rows(plan, ofEntity: entity, isLimited)
            if !areAll { return discardBulkChanges(start, .tooManyRows) }
            changes.deleted = rows
            try checkCancellation(0)
            record(changes)
        }
        return .rows
    }

    /// Makes the next save delete the matching rows of an entity. The save must not already delete any of these rows.
    func deleteRows(ofEntity entity: Int, _ predicate: RowPredicate) throws {
        var query = RowQuery(entity: entity, predicate: predicate)
        query.isOrdered = false
        let rows = try rows(FetchPlan(query), ofEntity: entity, false).rows
        if let index = bulkChanges.firstIndex(where: { $0.entity == entity }) {
            bulkChanges[index].deleted += rows
        } else {
            var changes = EntityChanges(entity: entity)
            changes.deleted = rows
            record(changes)
        }
    }

    /// Makes the next save set the same values in all matching rows. Rows that already have the values are left out.
    ///
    /// - Parameter assign: The closure that sets the values. The function calls the closure with sample objects, to check that
    ///   it sets only these values.
    func updateRows<Object: ManagedObject>(
        _ plan: FetchPlan, to values: [Int: RowValue], assign: (Object) -> Void, checkCancellation: (Int) throws -> Void
    ) throws -> RowChangeWay {
        guard plan.objectPredicate == nil, plan.family.allSatisfy({ canUpdateRows(ofEntity: $0, values) }) else {
            return .objects
        }
        let start = bulkChanges.count
        // Derived values are calculated here, not by the store.
        let isLimited = canChangeInStore(plan) && plan.family.allSatisfy { bindings[$0].derivations.isEmpty }
        var way = RowChangeWay.rows
        for entity in plan.family {
            let (rows, areAll) = try rows(plan, ofEntity: entity, isLimited)
            if !areAll { way = .tooManyRows }
            // Some effects of a setter may occur only if the value of its attribute changes. So use sample rows that do not
            // have the new values yet.
            var probes = values.compactMap { column, value in rows.first { !$0.row.holds(value, column: column) } }
            if probes.isEmpty { probes = Array(rows.prefix(1)) }
            guard try probes.allSatisfy({ try setsOnly(values, by: assign, on: $0, of: entity) }) else {
                return discardBulkChanges(start, .objects)
            }
            // If there are too many rows, check the rules only on the first rows.
            let checked = areAll ? rows[...] : rows.prefix(PrivateContext.maxCheckedRows)
            record(
                try changes(to: checked, of: bindings[entity], values: values, checkCancellation: checkCancellation))
        }
        return way == .rows ? .rows : discardBulkChanges(start, way)
    }

    /// Makes the store change all matching rows.
    ///
    /// - Parameters:
    ///   - values: The new values by column; nil to delete the rows.
    ///   - source: The data source that makes the change.
    /// - Returns: The number of changed rows.
    func changeInStore(
        _ plan: FetchPlan, _ values: [Int: RowValue]?, from source: SaveSource
    ) throws -> Int {
        try reading(registersObjects: false) { () throws(DataSourceError) in
            var query = plan.query
            // The search for rows ends if the task is canceled.
            query.budget = QueryBudget(isCancellable: isCancellable)
            let change = BulkChange(plan.family.map { query.of(entity: $0) }, values: values)
            return try stack.root.make(change, from: source, basis: position)
        }
    }

    private func discardBulkChanges(_ start: Int, _ way: RowChangeWay) -> RowChangeWay {
        bulkChanges.removeSubrange(start...)
        return way
    }

    /// Whether the assignment sets only these values when it is applied to an object with the stored row.
    private func setsOnly<Object: ManagedObject>(
        _ values: [Int: RowValue], by assign: (Object) -> Void, on stored: StoredRow, of entity: Int
    ) throws(DataSourceError) -> Bool {
        let probe: Object = try typed(bindings[entity].detachedObject(stored))
        assign(probe)
        let expected = stored.row.setting(values.map { (column: $0, value: $1) })
        return !probe.hasUsedRelationshipWithoutContext
            && probe.row.columnsChanged(since: expected, bindings[entity].layout).isEmpty
    }

    private func canUpdateRows(ofEntity entity: Int, _ values: [Int: RowValue]) -> Bool {
        let layout = bindings[entity].layout
        // Only registered objects have the values of transient attributes, so the rows must become objects.
        if layout.storedColumns.count < layout.columns.count { return false }
        return values.allSatisfy { column, value in
            value.fits(layout.columns[column].storage) && !layout.uniqueColumns.contains(column)
                && layout.columns[column].attribute?.derivationExpression == nil
        } && bindings[entity].derivations.allSatisfy { !layout.uniqueColumns.contains($0.column) }
    }

    private func changes(
        to rows: ArraySlice<StoredRow>, of binding: EntityBinding, values: [Int: RowValue],
        checkCancellation: (Int) throws -> Void
    ) throws -> EntityChanges {
        let layout = binding.layout
        var changes = EntityChanges(entity: layout.index)
        var failures: [DataSourceError] = []
        let values = values.map { (column: $0, value: $1) }
        for (index, stored) in rows.enumerated() {
            try checkCancellation(index)
            guard values.contains(where: { !stored.row.holds($0.value, column: $0.column) }) else { continue }
            var row = stored.row.setting(values)
            for derivation in binding.derivations { derivation.apply(to: &row, layout) }
            row.compact(layout)
            let known = failures.count
            checkRules(row, binding, &failures)
            for number in known..<failures.count {
                failures[number].message += " The object is \(layout.name)/\(stored.key)."
            }
            try throwIfErrorLimitReached(failures)
            changes.updated.append(
                UpdatedRow(
                    key: stored.key, row: row, previous: stored.row,
                    columns: row.columnsChanged(since: stored.row, layout)))
        }
        try throwFailures(failures)
        if binding.derivations.isEmpty {
            changes.sharedColumns = values.reduce(into: ColumnSet()) { $0.insert($1.column) }
        }
        return changes
    }

    /// Returns the matching rows of an entity. If `isLimited` is true and there are too many rows for a change set, returns only
    /// the first rows.
    private func rows(
        _ plan: FetchPlan, ofEntity entity: Int, _ isLimited: Bool
    ) throws -> (rows: [StoredRow], areAll: Bool) {
        try reading(registersObjects: false) { () throws(DataSourceError) in
            var plan = FetchPlan(plan.query.of(entity: entity))
            plan.query.budget = QueryBudget(isCancellable: isCancellable)
            if isLimited { plan.query.limit = stack.changedRowLimit + 1 }
            let rows = try rows(plan, columns: nil)
            return (rows, !isLimited || rows.count <= stack.changedRowLimit)
        }
    }

    /// Whether the store can make the change. A change with a predicate over relationships must be made here, because the
    /// predicate might depend on rows that the same change has just modified.
    func canChangeInStore(_ plan: FetchPlan) -> Bool {
        stack.root.bulkStore != nil && plan.query.joined.isEmpty
    }

    private func record(_ changes: EntityChanges) {
        if !changes.isEmpty { bulkChanges.append(changes) }
    }

    /// Applies the bulk changes to registered objects, after the save of the changes.
    func didSaveBulkChanges(_ number: SaveNumber) {
        for changes in bulkChanges where bindings[changes.entity].objects.count > 0 {
            let binding = bindings[changes.entity]
            for row in changes.updated {
                if let object = binding.objects[row.key] { refresh(object, row.row, asOf: number) }
            }
            for row in changes.deleted {
                if let object = binding.objects[row.key] { binding.forget(object) }
            }
        }
        bulkChanges.removeAll()
    }
}

extension EntityBinding {
    /// Returns an object outside any context, with the stored row.
    func detachedObject(_ stored: StoredRow) -> ManagedObject {
        type.make(ObjectHome(layout, in: nil, .inBatch), key: stored.key, row: stored.row, .saved, asOf: .beforeFirst)
    }
}

extension RowSnapshot {
    fileprivate func setting(_ values: [(column: Int, value: RowValue)]) -> RowSnapshot {
        var row = self
        for (column, value) in values { row.setValue(value, column) }
        return row
    }
}
