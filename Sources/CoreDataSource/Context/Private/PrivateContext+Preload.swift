internal import QueryLanguage
internal import RowStore

extension PrivateContext {
    /// Reads all objects with the given values of one attribute at once. Later look-ups of these values in this batch read
    /// nothing from the store, even if no object has the value. The objects may belong to another data source.
    ///
    /// As after a fetch, the first read of a relationship reads it for up to 1,000 of the objects.
    ///
    /// ```swift
    /// nonisolated override func prepare(
    ///     _ contacts: [Contact], in context: PrivateContext
    /// ) throws {
    ///     try context.preload(
    ///         ContactEntity.self, where: \.uid, in: contacts.map(\.uid))
    /// }
    /// ```
    ///
    /// Objects of another data source are read-only here, and keep the values that they had when they were read. If the batch
    /// links such an object, no other batch can delete the object until this batch is saved. So the delete rule of the
    /// relationship applies to the new link.
    ///
    /// If the data source owns only some sub-entities of the entity, the call reads only the objects of these sub-entities.
    /// Then only look-ups by the classes of these sub-entities are faster. A look-up by the class of the entity still reads the
    /// store.
    ///
    /// **Complexity**: O(n) in the number of values, and one query for each 1,000 values that the batch has not looked up yet. No
    /// query if all objects of the entity are registered.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - keyPath: A stored attribute.
    ///   - values: The values that will be looked up, in any order and number.
    /// - Throws: `unknownAttribute`; errors of the store.
    public func preload<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, in values: some Sequence<Value>
    ) throws {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            let family = bindings[entity].layout.concreteFamily
            guard bindings[entity].layout.columns[column].isStored else { return }
            if readsCompanions, isOwnedElsewhere(family) {
                // Look-ups of these objects are made in the contexts of their data sources.
                for concrete in family {
                    guard let reader = reader(ofEntity: concrete) as? PrivateContext, reader !== self else { continue }
                    try reader.preload(reader.bindings[concrete], column, values.lazy.map(\.storedValue.value))
                }
                return
            }
            if isOwnedElsewhere(family) {
                return try preloadFromOtherDataSources(entity, column: column, values.lazy.map(\.storedValue.value))
            }
            for concrete in family where bindings[concrete].isOwned {
                try preload(bindings[concrete], column, values.lazy.map(\.storedValue.value))
            }
        }
    }

    func preload(
        _ binding: EntityBinding, _ column: Int, _ values: some Sequence<RowValue>
    ) throws(DataSourceError) {
        // If all objects are registered, there is nothing to read. Objects without relationships also need no group.
        if binding.hasAllRows && binding.layout.relationships.isEmpty { return }
        let constraint = binding.layout.constraint(onColumn: column)
        let index = constraint == nil ? valueIndex(binding, column) : nil
        var wanted: Set<RowValue> = []
        var found: [ManagedObject] = []
        for value in values where value != .null && value.fits(binding.layout.columns[column].storage) {
            if let constraint, binding.isAbsent(value, constraint) { continue }
            let isKnown = binding.hasAllRows || index?[registeredThrough: value] == .max
            var object = constraint.flatMap { binding.find($0, column: column, value) }
            if isKnown, constraint == nil { object = index?.first(value) }
            if let object { found.append(object) }
            if isKnown || object != nil { continue }
            wanted.insert(value)
            if wanted.count == PrivateContext.preloadBatchSize {
                found += try read(wanted, binding, column)
                wanted = []
            }
        }
        // Do not read a single value here: the look-up that needs the value later also costs one query.
        if wanted.count > 1 { found += try read(wanted, binding, column) }
        group(found)
    }

    private static let preloadBatchSize = 1000

    /// Like ``preload(_:_:_:)``, for an entity of another data source.
    private func preloadFromOtherDataSources(
        _ entity: Int, column: Int, _ values: some Sequence<RowValue>
    ) throws(DataSourceError) {
        let storage = bindings[entity].layout.columns[column].storage
        var wanted: Set<RowValue> = []
        var found: [ManagedObject] = []
        for value in values where value != .null && value.fits(storage) {
            if let known = lookupCache?.result(entity, column: column, value) {
                if let known { found.append(known) }
                continue
            }
            wanted.insert(value)
            if wanted.count == PrivateContext.preloadBatchSize {
                found += try readFromOtherDataSources(wanted, entity, column: column)
                wanted = []
            }
        }
        // Do not read a single value here: the look-up that needs the value later also costs one query.
        if wanted.count > 1 { found += try readFromOtherDataSources(wanted, entity, column: column) }
        group(found)
    }

    private func readFromOtherDataSources(
        _ values: Set<RowValue>, _ entity: Int, column: Int
    ) throws(DataSourceError) -> [ManagedObject] {
        let layout = bindings[entity].layout
        let isUnique = layout.concreteFamily.allSatisfy { bindings[$0].layout.constraint(onColumn: column) != nil }
        // Without a uniqueness constraint, any number of rows may have the same value, but only the first row of each value is
        // needed. So the number of rows is limited.
        let limit = isUnique ? nil : values.count * 4
        var plan = FetchPlan(
            RowQuery(
                entity: entity, predicate: .isMember(.column(column), ValueList(Array(values), .natural)), limit: limit,
                budget: QueryBudget(isCancellable: isCancellable)))
        plan.family = layout.concreteFamily
        let objects = try objects(plan)
        var missing = values
        for object in objects {
            let value = object.row.value(column, layout.columns[column].storage)
            if missing.remove(value) != nil { lookupCache?.keep(object, entity, column: column, value) }
        }
        if objects.count == limit { return objects }
        for value in missing { lookupCache?.keep(nil, entity, column: column, value) }
        return objects
    }

    private func read(
        _ values: Set<RowValue>, _ binding: EntityBinding, _ column: Int
    ) throws(DataSourceError) -> [ManagedObject] {
        let constraint = binding.layout.constraint(onColumn: column)
        // Without a uniqueness constraint, any number of rows may have the same value, but only the first row of each value is
        // needed. So the number of rows is limited.
        let limit = constraint == nil ? values.count * 4 : nil
        let query = RowQuery(
            entity: binding.layout.index,
            predicate: .isMember(.column(column), ValueList(Array(values), .natural)), limit: limit,
            budget: QueryBudget(isCancellable: isCancellable))
        let (rows, asOf) = try source.rows(query, binding.layout)
        let objects = rows.map { object($0, binding, asOf: asOf) }
        if let constraint {
            var absent = values
            for row in rows { absent.remove(row.row.value(column, binding.layout.columns[column].storage)) }
            binding.recordAbsent(absent, constraint)
        } else {
            let index = valueIndex(binding, column)
            let through = rows.count == limit ? rows.last?.key ?? .max : .max
            for value in values where index[registeredThrough: value] < through {
                index[registeredThrough: value] = through
            }
        }
        return objects
    }

    /// Groups the objects that a preload has found, including the objects that were registered before.
    ///
    /// Each object keeps the keys of all objects of its group, and may stay registered for a long time. So each group
    /// has at most ``FetchGroup/window`` objects. If the objects already belong to one group, and one query can read a
    /// relationship for all of them, they stay in this group. So small preloads do not split the group of a large preload or of
    /// a fetch.
    ///
    /// **Complexity**: O(n) in the number of found objects.
    private func group(_ found: [ManagedObject]) {
        var seen: Set<ObjectIdentifier> = []
        let objects = found.filter { seen.insert(ObjectIdentifier($0)).inserted }
        for part in objects.chunks(ofSize: FetchGroup.window).lazy.map(Array.init) {
            if !FetchGroup.readsAtOnce(part) { FetchGroup.gather(part) }
        }
    }
}
