internal import QueryLanguage
internal import RowStore

/// The column by whose values a query groups its rows.
struct GroupColumn {
    let column: Int
    /// The entities of the related objects, if the column has the keys of related objects; otherwise empty.
    let destinations: [Int]

    /// - Throws: `unknownAttribute`, `unsupportedQuery`, and `invalidRequest` for the object's own id.
    init<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>, _ resolver: PredicateResolver, _ context: ManagedObjectContext
    ) throws(DataSourceError) {
        let names = try RelatedKeyPaths.names(keyPath, of: Object.self)
        if names.isEmpty {
            throw DataSourceError(
                .invalidRequest,
                "Each object of \(Object.entityName) has its own id, so each group would have one object. Group by an attribute or by a to-one relationship.",
                entityName: Object.entityName)
        }
        column = try context.column(keyPath, of: Object.self, resolver)
        destinations = context.stack.layout.destinations(names, from: resolver.layout)
    }
}

extension ModelLayout {
    /// The entities of the objects to which relationships lead; empty if the last name is not a relationship.
    func destinations(_ names: [String], from entity: EntityLayout) -> [Int] {
        var (entity, family) = (entity, [Int]())
        for name in names {
            guard let index = entity.relationship(named: name) else { return [] }
            let relationship = entity.relationships[index]
            (entity, family) = (entities[relationship.destination], relationship.destinationFamily)
        }
        return family
    }
}

extension ManagedObjectContext {
    /// The ids of the related objects of groups.
    ///
    /// **Complexity**: no query if the objects can have only one entity. Otherwise one query for each entity.
    ///
    /// - Parameters:
    ///   - keys: The values of the group column.
    ///   - family: The entities that the objects can have; empty if the groups have no related objects.
    func groupIDs(
        _ keys: some Collection<RowValue>, ofEntities family: [Int]
    ) throws(DataSourceError) -> [RowValue: ManagedObjectID] {
        var ids: [RowValue: ManagedObjectID] = [:]
        for case .integer(let key) in keys {
            guard let first = family.first else { return [:] }
            // An object that was deleted in the meantime keeps this entity.
            ids[.integer(key)] = ManagedObjectID(stack.layout.entities[first], key: key)
        }
        if family.count < 2 || ids.isEmpty { return ids }
        let wanted = RowPredicate.isMember(.key, ValueList(Array(ids.keys), .natural))
        for entity in family.dropFirst() {
            let plan = FetchPlan(RowQuery(entity: entity, predicate: wanted))
            for row in try rows(plan, columns: []) {
                ids[.integer(row.key)] = ManagedObjectID(stack.layout.entities[entity], key: row.key)
            }
        }
        return ids
    }
}
