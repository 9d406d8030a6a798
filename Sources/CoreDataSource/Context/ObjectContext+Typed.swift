internal import Foundation
internal import RowStore

/// Fetching by class and key path: what the private and the main context offer, said once.
extension ObjectContext {
    func fetch<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate?, _ sort: [SortDescriptor<Object>], _ limit: Int?,
        _ offset: Int
    ) throws(DataSourceError) -> [Object] {
        var query = try query(type, predicate)
        query.limit = limit.map { min(max(0, $0), mostRows) }
        query.offset = min(max(0, offset), mostRows)
        query.sort = try sortKeys(sort, type, bindings[query.entity].layout)
        return try typed(objects(query), bindings[query.entity].layout)
    }

    /// The objects that match, in any order.
    func scope(
        _ type: ManagedObject.Type, _ predicate: FetchPredicate?
    ) throws(DataSourceError) -> [ManagedObject] {
        try unsortedObjects(query(type, predicate))
    }

    func count<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate?
    ) throws(DataSourceError) -> Int {
        try count(query(type, predicate))
    }

    func first<Object: ManagedObject>(
        _ type: Object.Type, _ keyPath: AnyKeyPath, _ value: StoredValue
    ) throws(DataSourceError) -> Object? {
        let entity = try entity(of: type)
        let column = try column(keyPath, of: type, bindings[entity].layout)
        return try find(entity: entity, column: column, value: value.value).map(typed)
    }

    func object<Object: ManagedObject>(
        _ type: Object.Type, _ id: ManagedObjectID
    ) throws(DataSourceError) -> Object? {
        guard stack.layout.entities.indices.contains(id.layout.index),
            stack.layout.entities[id.layout.index] === id.layout
        else { return nil }
        return try find(entity: id.layout.index, key: id.key).map(typed)
    }

    /// The predicate that an attribute has a value.
    func equality<Object: ManagedObject>(
        _ type: Object.Type, _ keyPath: AnyKeyPath, _ value: StoredValue
    ) throws(DataSourceError) -> FetchPredicate {
        let layout = bindings[try entity(of: type)].layout
        return FetchPredicate(
            .compare(
                .keyPath([layout.columns[try column(keyPath, of: type, layout)].name]), .equal,
                .constant(.stored(value)), []))
    }

    private func query(_ type: ManagedObject.Type, _ predicate: FetchPredicate?) throws(DataSourceError) -> RowQuery {
        let entity = try entity(of: type)
        return RowQuery(entity: entity, predicate: try predicate?.resolved(bindings[entity].layout) ?? .constant(true))
    }

    private func sortKeys<Object: ManagedObject>(
        _ sort: [SortDescriptor<Object>], _ type: Object.Type, _ layout: EntityLayout
    ) throws(DataSourceError) -> [SortKey] {
        var keys: [SortKey] = []
        for descriptor in sort {
            guard let keyPath = descriptor.keyPath else {
                throw DataSourceError(
                    .unknownAttribute, "A sort descriptor of \(layout.name) has no key path. Sort by an attribute.",
                    entityName: layout.name)
            }
            keys.append(
                SortKey(column: try column(keyPath, of: type, layout), isAscending: descriptor.order == .forward))
        }
        return keys
    }

    /// The object as the class that was asked for.
    func typed<Object: ManagedObject>(_ object: ManagedObject) throws(DataSourceError) -> Object {
        guard let typed = object as? Object else { throw wrongClass(object.layout.index, Object.self) }
        return typed
    }

    /// Objects of an entity and those below it as the class that was asked for.
    private func typed<Object: ManagedObject>(
        _ objects: [ManagedObject], _ layout: EntityLayout
    ) throws(DataSourceError) -> [Object] {
        for entity in layout.concreteFamily where !(bindings[entity].type is Object.Type) {
            throw wrongClass(entity, Object.self)
        }
        // Every object is of its entity's class, and all of these are Object or below it, as was just checked. To ask each
        // object again would take longer than to make it.
        return unsafeBitCast(objects, to: [Object].self)
    }

    private func wrongClass(_ entity: Int, _ type: ManagedObject.Type) -> DataSourceError {
        let binding = bindings[entity]
        return DataSourceError(
            .unknownEntity,
            "Objects of \(binding.layout.name) are of the class \(binding.type), which is not a \(type). Ask for \(binding.type).",
            entityName: binding.layout.name)
    }
}

/// More rows than any store has; sums of a few such numbers are still numbers.
private let mostRows = 1 << 48
