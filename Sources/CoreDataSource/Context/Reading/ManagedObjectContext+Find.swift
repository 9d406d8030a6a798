internal import RowStore

/// Look-ups of one object.
extension ManagedObjectContext {
    /// Returns the object with the given key; nil if there is none.
    func find(entity: Int, key: Int64) throws(DataSourceError) -> ManagedObject? {
        if bindings[entity].isOwned {
            if let object = bindings[entity].objects[key] { return object.isDeleted ? nil : object }
            if bindings[entity].hasAllRows { return nil }
        } else if readsCompanions, case let reader = reader(ofEntity: entity), reader !== self {
            return try reader.find(entity: entity, key: key)
        } else if lookupCache != nil, let object = bindings[entity].objects[key] {
            // The batch has already read the object.
            return object.isDeleted ? nil : object
        }
        let (row, asOf) = try source.row(entity: entity, key: key, lookupIsolation)
        return row.map { object(StoredRow(key: key, row: $0), bindings[entity], asOf: asOf) }
    }

    /// Returns the first object, in the order of creation, whose column has the value.
    func find(entity: Int, column: Int, value: RowValue) throws(DataSourceError) -> ManagedObject? {
        let family = bindings[entity].layout.concreteFamily
        if readsCompanions, family.contains(where: { reader(ofEntity: $0) !== self }) {
            return try findAmongReaders(family, column, value)
        }
        if lookupCache != nil, isOwnedElsewhere(family) {
            return try findInOtherDataSources(entity, column: column, value)
        }
        return try find(entity, in: family, column, value)
    }

    /// Like ``find(entity:column:value:)``, but each entity is read in the context that shows its edits.
    private func findAmongReaders(
        _ family: [Int], _ column: Int, _ value: RowValue
    ) throws(DataSourceError) -> ManagedObject? {
        var first: ManagedObject?
        for entity in family {
            let reader = reader(ofEntity: entity)
            let found = try reader.find(entity, in: [entity], column, value)
            if let found, first.map({ found.key < $0.key }) ?? true { first = found }
        }
        return first
    }

    /// Whether other data sources own all entities of a family.
    final func isOwnedElsewhere(_ family: [Int]) -> Bool { !family.contains { bindings[$0].isOwned } }

    /// Like ``find(entity:column:value:)``, but for objects of other data sources in a batch.
    private func findInOtherDataSources(_ entity: Int, column: Int, _ value: RowValue) throws(DataSourceError)
        -> ManagedObject?
    {
        if let kept = lookupCache?.result(entity, column: column, value) { return kept }
        let found = try find(entity, in: bindings[entity].layout.concreteFamily, column, value)
        lookupCache?.keep(found, entity, column: column, value)
        let isRemote = stack.root.isRemote
        if lookupCache?.countRead(entity, column: column) == ManagedObjectContext.lookupsBeforeDiagnostic(isRemote) {
            record(DataSourceDiagnostic(oneByOne: column, bindings[entity].layout, isRemote: isRemote), entity)
        }
        return found
    }

    /// After this number of look-ups in one batch, a diagnostic is recorded. Only look-ups that read from the store count. For
    /// objects of other data sources, each attribute has a separate count. For an owned entity, all attributes share one count.
    /// Each relationship that is read for one object at a time also has a separate count.
    static func lookupsBeforeDiagnostic(_ isRemote: Bool) -> Int { isRemote ? 16 : 1024 }

    private func find(
        _ entity: Int, in family: [Int], _ column: Int, _ value: RowValue
    ) throws(DataSourceError) -> ManagedObject? {
        let isUnique = family.allSatisfy { bindings[$0].layout.constraint(onColumn: column) != nil }
        // If other contexts write the entities, read all entities in one state, because an object may be replaced by an object
        // of another entity between two reads.
        let isOneState = family.count == 1 || family.allSatisfy { bindings[$0].isOwned }
        guard isUnique, value != .null, isOneState else { return try findFirst(entity, in: family, column, value) }
        for concrete in family {
            let binding = bindings[concrete]
            guard let constraint = binding.layout.constraint(onColumn: column) else { continue }
            if binding.isOwned {
                if let object = binding.find(constraint, column: column, value) { return object }
                if binding.hasAllRows || binding.isAbsent(value, constraint) { continue }
                if try registerAllIfFew(binding, column) {
                    if let object = binding.find(constraint, column: column, value) { return object }
                    continue
                }
            }
            if let object = try findStored(binding, constraint, [value]) { return object }
        }
        return nil
    }

    /// Like ``find(entity:column:value:)``, but uses no uniqueness constraint.
    private func findFirst(
        _ entity: Int, in family: [Int], _ column: Int, _ value: RowValue
    ) throws(DataSourceError) -> ManagedObject? {
        let layout = bindings[entity].layout
        recordLookup(entity, column: column)
        let isOwned = family.allSatisfy { bindings[$0].isOwned }
        guard isOwned, layout.columns[column].isStored, value.fits(layout.columns[column].storage) else {
            var plan = FetchPlan(
                RowQuery(
                    entity: entity, predicate: .compare(column: column, .equal, value), limit: 1,
                    budget: QueryBudget(isCancellable: isCancellable)))
            plan.family = family
            return try objects(plan).first
        }
        var first: ManagedObject?
        for concrete in family {
            let found = try findFirst(bindings[concrete], column, value)
            if let found, first.map({ found.key < $0.key }) ?? true { first = found }
        }
        return first
    }

    /// Returns the object with the lowest key among the objects with the value.
    ///
    /// The store is read only for rows that may come before the first registered object. In one batch, the store is read again
    /// for the same value only after the first object was deleted or got another value.
    private func findFirst(
        _ binding: EntityBinding, _ column: Int, _ value: RowValue
    ) throws(DataSourceError) -> ManagedObject? {
        let index = valueIndex(binding, column)
        var limit = 1
        while true {
            let found = index.first(value)
            let registered = index[registeredThrough: value]
            if binding.hasAllRows || registered == .max || found.map({ $0.key <= registered }) ?? false {
                return found
            }
            if limit == 1, try registerAllIfFew(binding, column) { continue }
            var predicate = RowPredicate.compare(column: column, .equal, value)
            if registered > .min { predicate = .and([predicate, .compareKey(.greater, registered)]) }
            let query = RowQuery(
                entity: binding.layout.index, predicate: predicate, limit: limit,
                budget: QueryBudget(isCancellable: isCancellable))
            let (rows, asOf) = try source.rows(query, binding.layout)
            for row in rows { _ = object(row, binding, asOf: asOf) }
            index[registeredThrough: value] = rows.count < limit ? .max : rows[limit - 1].key
            // The batch may have changed some of the rows, so more rows may be needed.
            limit = min(limit * 4, 256)
        }
    }

    /// Returns the object with the given values in the columns of a uniqueness constraint; nil if there is none.
    func findUnique(_ entity: Int, constraint: Int, _ values: [RowValue]) throws(DataSourceError) -> ManagedObject? {
        let binding = bindings[entity]
        if let object = binding.find(constraint, values) { return object }
        return binding.hasAllRows ? nil : try findStored(binding, constraint, values)
    }

    /// Returns the object of the stored row with the given values in the columns of a uniqueness constraint.
    private func findStored(
        _ binding: EntityBinding, _ constraint: Int, _ values: [RowValue]
    ) throws(DataSourceError) -> ManagedObject? {
        let (stored, asOf) = try source.row(
            entity: binding.layout.index, constraint: constraint, values: values, binding.layout, lookupIsolation)
        guard let stored else { return nil }
        if let registered = binding.objects[stored.key], registered.state != .saved {
            // The object was edited or deleted here. The index may lack an edited object that another data source owns, so
            // compare the values.
            let columns = binding.layout.constraints[constraint]
            let matches = columns.indices.allSatisfy { registered.row.holds(values[$0], column: columns[$0]) }
            return matches && !registered.isDeleted ? registered : nil
        }
        return object(stored, binding, asOf: asOf)
    }

    /// Records a diagnostic for a look-up that makes the store read every row.
    private func recordLookup(_ entity: Int, column: Int) {
        let layout = bindings[entity].layout
        guard !layout.indexedColumns.contains(column), !bindings[entity].diagnosedColumns.contains(column) else {
            return
        }
        bindings[entity].diagnosedColumns.insert(column)
        record(DataSourceDiagnostic(unindexed: column, layout), entity)
    }

    func record(_ diagnostic: DataSourceDiagnostic, _ entity: Int) {
        if let owner = owner ?? stack.owner(ofEntity: entity) { stack.record(diagnostic, of: owner) }
    }

    /// Registers all rows of an entity after many misses, if the rows are few enough to stay registered.
    ///
    /// For an empty entity, a single miss is enough, because there are no rows to register.
    ///
    /// - Parameter column: The column of the look-up.
    /// - Returns: Whether all rows are registered.
    private func registerAllIfFew(_ binding: EntityBinding, _ column: Int) throws(DataSourceError) -> Bool {
        guard binding.rights == .own else { return false }
        binding.misses += 1
        let isRemote = stack.root.isRemote
        if binding.misses == ManagedObjectContext.lookupsBeforeDiagnostic(isRemote) {
            record(DataSourceDiagnostic(oneByOne: column, binding.layout, isRemote: isRemote), binding.layout.index)
        }
        if !binding.isEmptinessKnown {
            binding.isEmptinessKnown = true
            if try source.isEmpty(binding.layout) { binding.recordAllRowsRegistered() }
        } else if binding.misses == 64, registeredBytes < stack.registeredObjectByteLimit {
            let all = RowQuery(entity: binding.layout.index)
            try registerAll(binding, source.count(all, ofEntities: [binding.layout.index], stack.layout))
        }
        return binding.hasAllRows
    }

    /// Registers all rows of an entity, part by part. Stops if the objects would use more bytes than the limit for registered
    /// objects.
    ///
    /// - Parameter count: The number of rows.
    private func registerAll(_ binding: EntityBinding, _ count: Int) throws(DataSourceError) {
        var part = RowQuery(entity: binding.layout.index, limit: 64)
        while let limit = part.limit {
            let (rows, asOf) = try source.rows(part, binding.layout)
            _ = objects(rows, binding.layout.index, asOf: asOf)
            guard rows.count == limit, let last = rows.last else {
                binding.recordAllRowsRegistered()
                return
            }
            let average = max(1, binding.registeredBytes / max(1, binding.objects.count))
            let room = (stack.registeredObjectByteLimit - registeredBytes) / average
            guard room > 0, count - binding.objects.count <= room else { return }
            part.predicate = .compareKey(.greater, last.key)
            part.limit = min(room, 8192)
        }
    }
}

/// Predicts the object that is looked up next. Usually, a list from a server has the order in which its objects were inserted.
///
/// A predicted object is near the previous object in memory, but a look-up in the unique index accesses a random address. If
/// look-ups have no regular order, nothing is predicted.
package struct LookupOrder {
    private var lastKey: Int64 = 0
    /// The difference of the last two keys.
    private var step: Int64 = 0
    /// Whether the last two differences were equal.
    private var isRegular = false

    package init() {}

    /// The predicted key of the next object; nil without a regular order.
    package var nextKey: Int64? { isRegular ? lastKey &+ step : nil }

    /// Records the key of a found object.
    package mutating func record(_ key: Int64) {
        let step = key &- lastKey
        isRegular = step == self.step
        (lastKey, self.step) = (key, step)
    }
}

/// Reads of deferred values (``RowQuery/defersValues``).
extension ManagedObjectContext {
    func loadDeferredValues(of object: ManagedObject, _ column: Int) {
        recordDeferredRead(column, of: object)
        do {
            try readDeferredValues(of: object)
        } catch {
            // The deferred values of a deleted object are deleted together with the object. This is not a failure.
            if (error as? DataSourceError)?.code != .objectGone { recordReadFailure(error) }
        }
    }

    /// Reads the deferred values of an object.
    ///
    /// - Throws: `objectGone`; errors of the store; `CancellationError`.
    func readDeferredValues(of object: ManagedObject) throws {
        guard object.hasDeferredValues else { return }
        try reading { () throws(DataSourceError) in
            // A save that was merged just now may have set the values.
            guard object.hasDeferredValues else { return }
            let (row, asOf) =
                object.isDeleted ? (nil, .beforeFirst) : try source.row(entity: object.layout.index, key: object.key)
            guard let row else {
                throw DataSourceError(
                    .objectGone,
                    "\(object.objectID) has been deleted, together with its large values. Read large values before the object is deleted.",
                    entityName: object.layout.name)
            }
            object.row = row
            object.asOf = max(object.asOf, asOf)
        }
    }
}
