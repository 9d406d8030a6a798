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

/// What a query groups its objects by.
enum GroupSource {
    case column(GroupColumn)
    case links(GroupLinks)

    /// - Throws: The errors of ``GroupColumn``; `unsupportedQuery` for a to-many relationship that is transient or
    ///   belongs to a related object.
    init<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>, _ resolver: PredicateResolver, _ context: ManagedObjectContext
    ) throws(DataSourceError) {
        let names = try RelatedKeyPaths.names(keyPath, of: Object.self)
        guard let relationship = context.stack.layout.relationship(names, from: resolver.layout), relationship.isToMany
        else {
            self = .column(try GroupColumn(keyPath, resolver, context))
            return
        }
        let path = names.joined(separator: ".")
        if names.count > 1 {
            throw DataSourceError(
                .unsupportedQuery,
                "Objects of \(Object.entityName) cannot be grouped by \"\(path)\", which is a to-many relationship of a related object. Group by a to-many relationship of \(Object.entityName) itself, or aggregate the related objects.",
                entityName: Object.entityName, attributeName: path)
        }
        if case .none = relationship.storage {
            throw DataSourceError(
                .unsupportedQuery,
                "Objects of \(Object.entityName) cannot be grouped by \"\(path)\", because the relationship is transient, so its links are not stored. Group the objects in code.",
                entityName: Object.entityName, attributeName: path)
        }
        self = .links(GroupLinks(relationship))
    }

    /// The column of the groups; nil if the groups are related objects of a to-many relationship.
    var column: Int? { if case .column(let column) = self { column.column } else { nil } }

    /// The links of the groups; nil if the row of an object contains its group.
    var links: GroupLinks? { if case .links(let links) = self { links } else { nil } }

    /// The entities of the related objects, if the groups are related objects; otherwise empty.
    var destinations: [Int] {
        switch self {
        case .column(let column): column.destinations
        case .links(let links): links.destinations
        }
    }
}

/// What identifies a group.
enum GroupIdentity: Hashable {
    /// The value of the group column.
    case value(RowValue)
    /// The object that a to-many relationship leads to.
    case end(LinkEnd)
}

extension ModelLayout {
    /// The relationship at the end of a path of relationships; nil if another property is in the path.
    fileprivate func relationship(_ names: [String], from entity: EntityLayout) -> RelationshipLayout? {
        var (entity, found) = (entity, RelationshipLayout?.none)
        for name in names {
            guard let index = entity.relationship(named: name) else { return nil }
            let relationship = entity.relationships[index]
            (entity, found) = (entities[relationship.destination], relationship)
        }
        return found
    }

    /// The entities of the objects to which a path of relationships leads; empty if a name in the path is not a relationship.
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
    /// **Complexity**: no query for groups of a to-many relationship, and none if the objects can have only one entity. Otherwise
    /// one query for each entity.
    ///
    /// - Parameters:
    ///   - keys: The keys of the groups.
    ///   - family: The entities that the objects can have; empty if the groups have no related objects.
    func groupIDs(
        _ keys: some Collection<GroupIdentity>, ofEntities family: [Int]
    ) throws(DataSourceError) -> [GroupIdentity: ManagedObjectID] {
        var (ids, wanted): ([GroupIdentity: ManagedObjectID], [RowValue]) = ([:], [])
        guard let first = family.first else { return [:] }
        for key in keys {
            switch key {
            case .end(let end): ids[key] = ManagedObjectID(stack.layout.entities[end.entity], key: end.key)
            case .value(let value):
                guard case .integer(let number) = value else { continue }
                // Begin with the first entity. The queries below find the right entity. If the object was deleted in the
                // meantime, its id keeps the first entity.
                ids[key] = ManagedObjectID(stack.layout.entities[first], key: number)
                wanted.append(value)
            }
        }
        if family.count < 2 || wanted.isEmpty { return ids }
        let predicate = RowPredicate.isMember(.key, ValueList(wanted, .natural))
        for entity in family.dropFirst() {
            let plan = FetchPlan(RowQuery(entity: entity, predicate: predicate))
            for row in try rows(plan, columns: []) {
                ids[.value(.integer(row.key))] = ManagedObjectID(stack.layout.entities[entity], key: row.key)
            }
        }
        return ids
    }
}
