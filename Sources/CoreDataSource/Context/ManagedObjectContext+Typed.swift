internal import RowStore

/// Turns requests by class and key path into entities and columns, and results into objects of the class.
extension ManagedObjectContext {
    /// The request over the columns of the model.
    func plan<Object: ManagedObject>(_ request: FetchRequest<Object>) throws(DataSourceError) -> FetchPlan {
        var plan = try FetchPlan(
            request, entity: bindings[entity(of: Object.self)].layout, in: stack.layout,
            withGoneObjects: withGoneObjects)
        plan.query.budget = QueryBudget(isCancellable: isCancellable)
        if let cursor = request.after { try follow(cursor, &plan.query) }
        return plan
    }

    /// The objects that match, in any order.
    func scope<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws(DataSourceError) -> [ManagedObject] {
        try unsortedObjects(plan(FetchRequest(type, where: predicate)))
    }

    /// The objects with those ids, in the same order, without those that are gone.
    func registeredOrRead<Object: ManagedObject>(
        _ type: Object.Type, _ ids: some Sequence<ManagedObjectID>
    ) throws(DataSourceError) -> [Object] {
        let known = ids.compactMap { id in id.layout(in: stack.layout).map { (entity: $0.index, key: id.key) } }
        var found: [Int64: ManagedObject] = [:]
        var missing: [Int: [Int64]] = [:]
        for id in known {
            let binding = bindings[id.entity]
            if binding.isOwned, let object = binding.objects[id.key] {
                if !object.isDeleted { found[id.key] = object }
            } else if !binding.holdsAllRows {
                missing[id.entity, default: []].append(id.key)
            }
        }
        for (entity, keys) in missing {
            for object in try readObjects(keys, ofEntity: entity) { found[object.key] = object }
        }
        var objects: [Object] = []
        for id in known {
            if let object = found[id.key] { objects.append(try typed(object)) }
        }
        return objects
    }

    /// The object, cast to the requested class.
    func typed<Object: ManagedObject>(_ object: ManagedObject) throws(DataSourceError) -> Object {
        guard let typed = object as? Object else { throw wrongClass(object.layout.index, Object.self) }
        return typed
    }

    /// Objects of an entity and its sub-entities, cast to the requested class.
    func typed<Object: ManagedObject>(
        _ objects: [ManagedObject], _ family: [Int]
    ) throws(DataSourceError) -> [Object] {
        try checkClass(Object.self, family)
        // Every object has its entity's class, and these are all Object or a subclass, as was just checked. Casting each object
        // again would take longer than making it.
        return unsafeBitCast(objects, to: [Object].self)
    }

    /// Objects that a relationship leads to, cast to the requested class; others are left out.
    func typed<Object: ManagedObject>(_ objects: [ManagedObject], _ relationship: RelationshipLayout) -> [Object] {
        // See above.
        let isTyped = relationship.destinationFamily.allSatisfy {
            editor(ofEntity: $0).bindings[$0].type is Object.Type
        }
        return isTyped ? unsafeBitCast(objects, to: [Object].self) : objects.compactMap { $0 as? Object }
    }

    /// Throws unless objects of the entities have that class.
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
        return DataSourceError(
            .unknownEntity,
            "Objects of \(binding.layout.name) have the class \(binding.type), which is not a \(type). Fetch \(binding.type).",
            entityName: binding.layout.name)
    }
}
