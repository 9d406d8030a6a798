public import Foundation

/// Lists by Foundation's predicates, and by conditions on key paths.
extension DataSource {
    /// Binds a list to a delegate, as ``register(_:dataKey:entity:where:sortBy:sectionBy:limit:after:)``.
    public func register<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, entity: Object.Type, where predicate: Predicate<Object>,
        sortBy: [SortDescriptor<Object>] = [], sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil,
        after cursor: FetchCursor? = nil
    ) throws {
        try register(
            delegate, dataKey: dataKey, entity: entity, where: FetchPredicate(predicate), sortBy: sortBy,
            sectionBy: sectionBy, limit: limit, after: cursor)
    }

    /// Binds a list to a delegate, as ``register(_:dataKey:entity:where:sortBy:sectionBy:limit:after:)``.
    public func register<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, entity: Object.Type,
        where condition: FetchCondition<Object>,
        sortBy: [SortDescriptor<Object>] = [], sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil,
        after cursor: FetchCursor? = nil
    ) throws {
        try register(
            delegate, dataKey: dataKey, entity: entity, where: condition.predicate, sortBy: sortBy,
            sectionBy: sectionBy, limit: limit, after: cursor)
    }

    /// A list to observe, as ``list(_:where:sortBy:sectionBy:limit:after:)``.
    public func list<Object: ManagedObject>(
        _ entity: Object.Type, where predicate: Predicate<Object>, sortBy: [SortDescriptor<Object>] = [],
        sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil, after cursor: FetchCursor? = nil
    ) throws -> LiveList<Object> {
        try list(
            entity, where: FetchPredicate(predicate), sortBy: sortBy, sectionBy: sectionBy, limit: limit, after: cursor)
    }

    /// A list to observe, as ``list(_:where:sortBy:sectionBy:limit:after:)``.
    public func list<Object: ManagedObject>(
        _ entity: Object.Type, where condition: FetchCondition<Object>, sortBy: [SortDescriptor<Object>] = [],
        sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil, after cursor: FetchCursor? = nil
    ) throws -> LiveList<Object> {
        try list(entity, where: condition.predicate, sortBy: sortBy, sectionBy: sectionBy, limit: limit, after: cursor)
    }

    /// A list as values, as ``updates(_:where:sortBy:sectionBy:limit:after:buffering:)``.
    public nonisolated func updates<Object: ManagedObject>(
        _ entity: Object.Type, where predicate: Predicate<Object>, sortBy: [SortDescriptor<Object>] = [],
        sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil, after cursor: FetchCursor? = nil,
        buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        updates(
            entity, where: FetchPredicate(predicate), sortBy: sortBy, sectionBy: sectionBy, limit: limit, after: cursor,
            buffering: buffering)
    }

    /// A list as values, as ``updates(_:where:sortBy:sectionBy:limit:after:buffering:)``.
    public nonisolated func updates<Object: ManagedObject>(
        _ entity: Object.Type, where condition: FetchCondition<Object>, sortBy: [SortDescriptor<Object>] = [],
        sectionBy: PartialKeyPath<Object>? = nil, limit: Int? = nil, after cursor: FetchCursor? = nil,
        buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        updates(
            entity, where: condition.predicate, sortBy: sortBy, sectionBy: sectionBy, limit: limit, after: cursor,
            buffering: buffering)
    }
}
