internal import QueryLanguage
internal import RowStore

/// A type of properties by which aggregates can be grouped: the types of attributes, objects, and ids.
///
/// An attribute is its own key. The key of a to-one relationship is the id of the related object. So `\.thread` and
/// `\.thread?.objectID` make the same groups:
///
/// ```swift
/// let sizes = try context.aggregate(
///     ObjectRequest<MessageEntity>(), groupBy: \.thread, .sum(\.size))
/// for (thread, size) in sizes {
///     print(thread?.description ?? "no thread", size)
/// }
/// ```
///
/// Every ``AttributeStorable`` type conforms without an implementation. Apps do not need to conform other types.
nonisolated public protocol GroupableProperty {
    /// The type of the keys of the groups.
    associatedtype GroupKey
    /// Returns the key of a group. For the library.
    ///
    /// - Throws: `invalidRequest` if a key path that is not optional leads to no object.
    static func groupKey(of value: GroupValue) throws -> GroupKey
    /// Returns the key of a group; nil for the group of the objects without a value. For the library.
    static func groupKeyIfPresent(of value: GroupValue) throws -> GroupKey?
}

/// The stored value that all objects of a group share. The library passes it to ``GroupableProperty``.
///
/// ```swift
/// static func groupKey(of value: GroupValue) -> TaskState {
///     TaskState.read(from: value.object, at: value.column)
/// }
/// ```
nonisolated public struct GroupValue {
    /// An object that has only the value of the group.
    public let object: ManagedObject
    /// The column of the value.
    public let column: Int
    /// The id of the related object, if the property is a to-one relationship that leads to an object.
    public let id: ManagedObjectID?
}

extension AttributeStorable {
    public static func groupKey(of value: GroupValue) throws -> Self { read(from: value.object, at: value.column) }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> Self? {
        readIfPresent(from: value.object, at: value.column)
    }
}

extension Optional: GroupableProperty where Wrapped: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> Wrapped.GroupKey? {
        try Wrapped.groupKeyIfPresent(of: value)
    }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> Wrapped.GroupKey?? {
        try Wrapped.groupKeyIfPresent(of: value)
    }
}

extension ManagedObjectID: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> ManagedObjectID {
        guard let id = value.id else {
            throw DataSourceError(
                .invalidRequest,
                "Some objects of the groups have no related object, but the key path is not optional. Write ? instead of ! in the key path."
            )
        }
        return id
    }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> ManagedObjectID? { value.id }
}

extension ManagedObject: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> ManagedObjectID {
        try ManagedObjectID.groupKey(of: value)
    }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> ManagedObjectID? { value.id }
}

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
