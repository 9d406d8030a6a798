internal import RowStore

/// What many rows are changed by.
enum RowChangeWay {
    /// The batch has the rows in its change set.
    case rows
    /// There are too many of them: the store changes them itself.
    case tooManyRows
    /// The rows must become objects: for a predicate that needs the objects, for values that must be unique, for delete rules,
    /// and if a property does anything but set its own attribute.
    case objects
}

/// Changing or deleting many rows without making objects from them.
///
/// These changes are part of the batch's change set, and are checked like every save of objects. More rows than can be held are
/// changed by the store.
extension PrivateContext {
    /// The most rows that a batch holds for a change of many rows.
    static let mostChangedRows = 1 << 14
    /// The most rows on which the rules of the model are checked, if the store makes the change.
    private static let mostCheckedRows = 256

    /// Lets the next save delete all rows that match.
    func deleteRows(_ plan: FetchPlan, _ checkCancellation: (Int) throws -> Void) throws -> RowChangeWay {
        // If delete rules affect other rows, they are applied to objects.
        guard plan.tests == nil, !plan.family.contains(where: { stack.graph.needsObjects(toDelete: $0) }) else {
            return .objects
        }
        let (start, isLimited) = (noted.count, canChangeInStore(plan))
        for entity in plan.family {
            var changes = EntityChanges(entity: entity)
            let (rows, areAll) = try rows(plan, ofEntity: entity, isLimited)
            if !areAll { return forgetNoted(start, .tooManyRows) }
            changes.deleted = rows
            try checkCancellation(0)
            note(changes)
        }
        return .rows
    }

    /// Lets the next save delete the rows of an entity that match, of which it deletes none yet.
    func deleteRows(ofEntity entity: Int, _ predicate: RowPredicate) throws {
        var query = RowQuery(entity: entity, predicate: predicate)
        query.isOrdered = false
        let rows = try rows(FetchPlan(query), ofEntity: entity, false).rows
        if let place = noted.firstIndex(where: { $0.entity == entity }) {
            noted[place].deleted += rows
        } else {
            var changes = EntityChanges(entity: entity)
            changes.deleted = rows
            note(changes)
        }
    }

    /// Lets the next save give all rows that match the same values; rows that already have them are left out.
    ///
    /// - Parameter assign: Applied to one object, to find out what it does to all of them.
    func updateRows<Object: ManagedObject>(
        _ plan: FetchPlan, to values: [Int: RowValue], assign: (Object) -> Void, checkCancellation: (Int) throws -> Void
    ) throws -> RowChangeWay {
        guard plan.tests == nil, plan.family.allSatisfy({ canUpdateRows(ofEntity: $0, values) }) else {
            return .objects
        }
        let start = noted.count
        // What is derived is calculated here.
        let isLimited = canChangeInStore(plan) && plan.family.allSatisfy { bindings[$0].derivations.isEmpty }
        var way = RowChangeWay.rows
        for entity in plan.family {
            let (rows, areAll) = try rows(plan, ofEntity: entity, isLimited)
            if !areAll { way = .tooManyRows }
            // A property may do more only when it changes something, so the sample object has none of the values.
            var probes = values.compactMap { column, value in rows.first { !$0.row.holds(value, column: column) } }
            if probes.isEmpty { probes = Array(rows.prefix(1)) }
            guard try probes.allSatisfy({ try setsOnly(values, by: assign, on: $0, of: entity) }) else {
                return forgetNoted(start, .objects)
            }
            // Of too many rows the first ones show whether the values break a rule.
            let checked = areAll ? rows[...] : rows.prefix(PrivateContext.mostCheckedRows)
            note(
                try changes(to: checked, of: bindings[entity], values: values, checkCancellation: checkCancellation))
        }
        return way == .rows ? .rows : forgetNoted(start, way)
    }

    /// Has the store change all rows that match.
    ///
    /// - Parameters:
    ///   - values: The new values by column; nil to delete the rows.
    ///   - source: The data source that makes the change.
    /// - Returns: How many rows have changed.
    func makeInStore(
        _ plan: FetchPlan, _ values: [Int: RowValue]?, from source: SaveSource
    ) throws -> Int {
        try reading(registersObjects: false) { () throws(DataSourceError) in
            var query = plan.query
            // A cancelled task ends it while the rows are looked for.
            query.budget = QueryBudget(isCancellable: isCancellable)
            let change = BulkChange(plan.family.map { query.of(entity: $0) }, values: values)
            return try stack.root.make(change, from: source, basis: position)
        }
    }

    private func forgetNoted(_ start: Int, _ way: RowChangeWay) -> RowChangeWay {
        noted.removeSubrange(start...)
        return way
    }

    /// Whether assigning to an object of that row sets these values only.
    private func setsOnly<Object: ManagedObject>(
        _ values: [Int: RowValue], by assign: (Object) -> Void, on stored: StoredRow, of entity: Int
    ) throws(DataSourceError) -> Bool {
        let probe: Object = try typed(bindings[entity].lone(stored))
        assign(probe)
        let expected = stored.row.setting(values.map { (column: $0, value: $1) })
        return !probe.hasFollowed && probe.row.columnsChanged(since: expected, bindings[entity].layout).isEmpty
    }

    private func canUpdateRows(ofEntity entity: Int, _ values: [Int: RowValue]) -> Bool {
        let layout = bindings[entity].layout
        // Values of transient attributes are those of registered objects.
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
            for place in known..<failures.count { failures[place].message += " It is \(layout.name)/\(stored.key)." }
            try throwIfMany(failures)
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

    /// The rows of an entity that match, or the first ones if there are so many that the store can better change them itself.
    private func rows(
        _ plan: FetchPlan, ofEntity entity: Int, _ isLimited: Bool
    ) throws -> (rows: [StoredRow], areAll: Bool) {
        try reading(registersObjects: false) { () throws(DataSourceError) in
            var plan = FetchPlan(plan.query.of(entity: entity))
            plan.query.budget = QueryBudget(isCancellable: isCancellable)
            if isLimited { plan.query.limit = PrivateContext.mostChangedRows + 1 }
            let rows = try rows(plan, columns: nil)
            return (rows, !isLimited || rows.count <= PrivateContext.mostChangedRows)
        }
    }

    /// Conditions over relationships might depend on rows that have changed already.
    private func canChangeInStore(_ plan: FetchPlan) -> Bool {
        stack.root.bulkStore != nil && plan.query.joined.isEmpty
    }

    private func note(_ changes: EntityChanges) {
        if !changes.isEmpty { noted.append(changes) }
    }

    /// Updates registered objects to the rows of these changes in the save of that number.
    func didSaveNoted(_ number: Int64) {
        for changes in noted where bindings[changes.entity].objects.count > 0 {
            let binding = bindings[changes.entity]
            for row in changes.updated {
                if let object = binding.objects[row.key] { refresh(object, row.row, asOf: number) }
            }
            for row in changes.deleted {
                if let object = binding.objects[row.key] { binding.forget(object) }
            }
        }
        noted.removeAll()
    }
}

extension EntityBinding {
    /// An object that is made from a row and belongs to no context.
    fileprivate func lone(_ stored: StoredRow) -> ManagedObject {
        type.make(ObjectHome(layout, in: nil, .inBatch), key: stored.key, row: stored.row, .saved, asOf: 0)
    }
}

extension RowSnapshot {
    fileprivate func setting(_ values: [(column: Int, value: RowValue)]) -> RowSnapshot {
        var row = self
        for (column, value) in values { row.setValue(value, column) }
        return row
    }
}
