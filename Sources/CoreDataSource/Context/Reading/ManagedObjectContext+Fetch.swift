internal import QueryLanguage
internal import RowStore

/// Fetching many objects.
extension ManagedObjectContext {
    /// Returns the matching objects, including unsaved edits. The objects become one group, so that a relationship is
    /// read for many of them together.
    func objects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        let objects = try ungroupedObjects(plan)
        FetchGroup.gather(objects)
        return objects
    }

    private func ungroupedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        var plan = plan
        plan.query.defersValues = defersValues && plan.objectPredicate == nil
        if !plan.query.joined.isEmpty { return try joinedObjects(plan) }
        if let objectPredicate = plan.objectPredicate {
            if let limit = plan.query.limit, let found = try first(plan.query.offset + limit, plan, objectPredicate) {
                return plan.query.window(found)
            }
            return plan.query.window(
                try accepted(objects(plan.query.unlimited, plan.family), objectPredicate, plan.query.budget))
        }
        if let found = try known(plan) { return plan.query.window(found) }
        return try objects(plan.query, plan.family, plan.linkColumns)
    }

    private func accepted(
        _ objects: [ManagedObject], _ objectPredicate: ObjectPredicate, _ budget: QueryBudget
    ) throws(DataSourceError) -> [ManagedObject] {
        var accepted: [ManagedObject] = []
        for object in objects {
            try budget.countRow()
            let stored = StoredRow(key: object.key, row: object.wholeRow)
            if try objectPredicate.accepts(object, stored, budget) { accepted.append(object) }
        }
        return accepted
    }

    /// Returns the first objects that the object predicate accepts. The object predicate is the part of the predicate that is
    /// evaluated on objects. Rows are read in batches until there are enough objects.
    ///
    /// - Returns: Nil if another save was made during the reads, because the batches may then be inconsistent.
    private func first(
        _ count: Int, _ plan: FetchPlan, _ objectPredicate: ObjectPredicate
    ) throws(DataSourceError) -> [ManagedObject]? {
        let (newest, generation) = (source.newestSave, source.generation)
        var query = plan.query.unlimited
        query.isOrdered = true
        var batch = query
        batch.limit = max(count, 64)
        var found: [ManagedObject] = []
        while found.count < count, let size = batch.limit {
            let objects = try objects(batch, plan.family)
            guard source.newestSave == newest, source.generation == generation else { return nil }
            found += try accepted(objects, objectPredicate, query.budget)
            guard objects.count == size, let last = objects.last else { break }
            let layout = bindings[query.entity].layout
            batch = query.following(RowCursor(StoredRow(key: last.key, row: last.wholeRow), query.sort, layout))
            batch.limit = size * 4
        }
        return Array(found.prefix(count))
    }

    /// Returns the result of a request that only looks up a unique value or a key; nil for other requests.
    func known(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject]? {
        guard plan.family.count == 1, plan.query.joined.isEmpty else { return nil }
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

    private func objects(
        _ query: RowQuery, _ family: [Int], _ linkColumns: [Int] = []
    ) throws(DataSourceError) -> [ManagedObject] {
        guard family.count == 1 else { return try objects(query, ofEntities: family) }
        return try objects(query, ofEntity: family[0], linkColumns)
    }

    private func objects(
        _ query: RowQuery, ofEntity entity: Int, _ linkColumns: [Int]
    ) throws(DataSourceError) -> [ManagedObject] {
        let reader = reader(ofEntity: entity)
        if reader !== self { return try reader.objects(query, ofEntity: entity, linkColumns) }
        let query = query.of(entity: entity)
        if isRegistered(query) { return sorted(try registeredObjects(query), query) }
        if !bindings[entity].hasEdits, let objects = try readObjects(query, linkColumns) { return objects }
        let (rows, asOf) = try readRows(query)
        let objects = objects(rows, entity, asOf: asOf)
        if query.isWhole { bindings[entity].recordAllRowsRegistered() }
        return objects
    }

    /// Returns the objects of committed rows. Each object is made as soon as its row is read, while the row is still in the
    /// processor's cache.
    ///
    /// - Parameter linkColumns: See ``FetchPlan/linkColumns``.
    /// - Returns: Nil if some of the rows must be replaced by rows of newer saves.
    private func readObjects(
        _ query: RowQuery, _ linkColumns: [Int]
    ) throws(DataSourceError) -> [ManagedObject]? {
        let binding = bindings[query.entity]
        // The rows include at least this save, so the objects get its number. If there are newer rows, `asOf` below is nil,
        // and the caller reads again.
        let start = source.newestSave
        var objects: [ManagedObject] = []
        var group = FetchGroup.Builder(binding.layout, linkColumns: linkColumns)
        let asOf = try source.forEachCommittedRow(query) { stored in
            let object = object(stored, binding, asOf: start)
            group.add(object, stored.row)
            objects.append(consume object)
        }
        guard asOf != nil else { return nil }
        group.finish()
        if query.isWhole { binding.recordAllRowsRegistered() }
        return objects
    }

    /// Returns the matching objects, in any order. Limit and offset are ignored.
    func unsortedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        guard plan.objectPredicate == nil, plan.family.count == 1, plan.query.joined.isEmpty,
            isRegistered(plan.query.of(entity: plan.family[0]))
        else {
            var plan = plan
            plan.query = plan.query.unlimited
            plan.query.isOrdered = false
            return try objects(plan)
        }
        return try registeredObjects(plan.query.of(entity: plan.family[0]))
    }

    private func objects(_ query: RowQuery, ofEntities family: [Int]) throws(DataSourceError) -> [ManagedObject] {
        let (rows, asOf) = try rows(query, ofEntities: family)
        return rows.map { row in
            let reader = reader(ofEntity: row.entity)
            return reader.object(row.stored, reader.bindings[row.entity], asOf: asOf)
        }
    }

    /// Returns the objects of the saved rows with the given keys, in any order. Registered objects keep their edits. Deleted
    /// objects are left out.
    func readObjects(_ keys: [Int64], ofEntity entity: Int) throws(DataSourceError) -> [ManagedObject] {
        let (rows, asOf) = try source.rows(
            entity: entity, keys: keys, deferringValues: defersValues,
            QueryBudget(isCancellable: isCancellable))
        let found = objects(rows, entity, asOf: asOf).filter { !$0.isDeleted }
        FetchGroup.gather(found)
        return found
    }

    /// The number of matching objects, including unsaved edits. Limit and offset are ignored.
    func count(_ plan: FetchPlan) throws(DataSourceError) -> Int {
        if plan.objectPredicate != nil { return try unsortedObjects(plan).count }
        if !plan.query.joined.isEmpty { return try countJoined(plan) }
        var total = 0
        var stored: [Int] = []
        for entity in plan.family {
            let query = plan.query.unlimited.of(entity: entity)
            let reader = reader(ofEntity: entity)
            if reader.isRegistered(query) {
                total += try reader.countOfRegistered(query)
            } else if editing == .inDraft, bindings[entity].hasEdits {
                // Other contexts may have changed the rows that were edited here, so the saved rows of the edited objects may
                // be outdated.
                total += try readRows(query.keysOnly).rows.count
            } else {
                // The store counts the saved rows. Add the difference that the edits make.
                stored.append(entity)
                total += try reader.countOfEdits(query)
            }
        }
        return total + (try source.count(plan.query, ofEntities: stored, stack.layout))
    }
}

extension RowQuery {
    /// Whether the query is for every row of its entity.
    fileprivate var isWhole: Bool { predicate == .constant(true) && limit == nil && offset == 0 }
}

/// Translates requests with classes and key paths to entities and columns, and casts results to the class.
extension ManagedObjectContext {
    /// Returns the plan of a request: the request, translated to the columns of the model.
    func plan<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws(DataSourceError) -> FetchPlan {
        var plan = try FetchPlan(
            request, entity: bindings[entity(of: Object.self)].layout, in: stack.layout,
            entitiesWithDeletedObjects: entitiesWithDeletedObjects)
        plan.query.budget = QueryBudget(isCancellable: isCancellable)
        if let cursor = request.after { try follow(cursor, &plan.query) }
        return plan
    }

    /// Returns the matching objects, in any order.
    func scope<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws(DataSourceError) -> [ManagedObject] {
        try unsortedObjects(plan(ObjectRequest(type, where: predicate)))
    }

    /// Returns the objects with the given ids, in the order of the ids. Deleted objects are left out.
    func registeredOrRead<Object: ManagedObject>(
        _ type: Object.Type, _ ids: some Sequence<ManagedObjectID>
    ) throws(DataSourceError) -> [Object] {
        let known = ids.compactMap { id in
            id.layout(in: stack.layout).map { LinkEnd(entity: $0.index, key: id.key) }
        }
        var found: [LinkEnd: ManagedObject] = [:]
        var missing: [Int: [Int64]] = [:]
        for id in known {
            let binding = reader(ofEntity: id.entity).bindings[id.entity]
            if binding.isOwned, let object = binding.objects[id.key] {
                if !object.isDeleted { found[id] = object }
            } else if !binding.hasAllRows {
                missing[id.entity, default: []].append(id.key)
            }
        }
        for (entity, keys) in missing {
            for object in try reader(ofEntity: entity).readObjects(keys, ofEntity: entity) {
                found[LinkEnd(object)] = object
            }
        }
        var objects: [Object] = []
        for id in known {
            if let object = found[id] { objects.append(try typed(object)) }
        }
        return objects
    }

    func typed<Object: ManagedObject>(_ object: ManagedObject) throws(DataSourceError) -> Object {
        guard let typed = object as? Object else { throw wrongClass(object.layout.index, Object.self) }
        return typed
    }

    /// Returns objects of an entity and its sub-entities, cast to the requested class.
    func typed<Object: ManagedObject>(
        _ objects: [ManagedObject], _ family: [Int]
    ) throws(DataSourceError) -> [Object] {
        try checkClass(Object.self, family)
        // Every object has the class of its entity, and `checkClass` has shown that each of these classes is Object or a
        // subclass of Object. Casting each object separately would take longer than making the object.
        return unsafeBitCast(objects, to: [Object].self)
    }

    /// Returns objects that a relationship leads to, cast to the requested class. Objects of other classes are left out.
    func typed<Object: ManagedObject>(_ objects: [ManagedObject], _ relationship: RelationshipLayout) -> [Object] {
        // See the comment on the cast above.
        let isTyped = relationship.destinationFamily.allSatisfy {
            editor(ofEntity: $0).bindings[$0].type is Object.Type
        }
        return isTyped ? unsafeBitCast(objects, to: [Object].self) : objects.compactMap { $0 as? Object }
    }

    /// - Throws: `unknownEntity` if the objects of any entity do not have the class.
    func checkClass<Object: ManagedObject>(_ type: Object.Type, _ family: [Int]) throws(DataSourceError) {
        for entity in family where !(bindings[entity].type is Object.Type) { throw wrongClass(entity, type) }
    }

    func typed<Object: ManagedObject>(
        _ objects: [ManagedObject], of entity: Int
    ) throws(DataSourceError) -> [Object] {
        try typed(objects, bindings[entity].layout.concreteFamily)
    }

    private func wrongClass(_ entity: Int, _ type: ManagedObject.Type) -> DataSourceError {
        let binding = bindings[entity]
        let remedy = DeclaredEntity.missingOverride(of: type) ?? "Fetch \(binding.type)."
        return DataSourceError(
            .unknownEntity,
            "Objects of \(binding.layout.name) have the class \(binding.type), which is not a \(type). \(remedy)",
            entityName: binding.layout.name)
    }
}

/// The columns that key paths lead to.
///
/// Looking up a key path by value costs far more than looking it up by identity. A key path literal is the same object at each
/// use, so the table caches the last key paths by identity.
struct KeyPathTable {
    private struct Recent {
        var keyPath: AnyKeyPath?
        var type: ObjectIdentifier?
        var column = 0
    }

    private var columns: [ObjectIdentifier: [AnyKeyPath: Int]] = [:]
    private var recent = [Recent](repeating: Recent(), count: 16)

    /// Returns the column of a key path; nil if the key path does not lead to a stored attribute of the class.
    mutating func column(_ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ layout: EntityLayout) -> Int? {
        let slot = Int(bitPattern: ObjectIdentifier(keyPath)) >> 5 & 15
        if recent[slot].keyPath === keyPath, recent[slot].type == ObjectIdentifier(type) { return recent[slot].column }
        let known = columns[ObjectIdentifier(type)] ?? table(of: type, layout)
        guard let column = known[keyPath] else { return nil }
        recent[slot] = Recent(keyPath: keyPath, type: ObjectIdentifier(type), column: column)
        return column
    }

    private mutating func table(of type: ManagedObject.Type, _ layout: EntityLayout) -> [AnyKeyPath: Int] {
        let table = type.attributeKeyPaths.compactMapValues { layout.column(named: $0) }
            .filter { layout.calculatedPaths[$0.value] == nil }
        columns[ObjectIdentifier(type)] = table
        return table
    }
}
