public import Foundation

/// Fetching values by Foundation's predicates, and by conditions on key paths.
extension MainContext {
    /// The values of the objects that match, in order.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: Predicate<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Value] {
        try fetch(as: type, where: FetchPredicate(predicate), sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The values of the objects that match, in order.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where condition: FetchCondition<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Value] {
        try fetch(as: type, where: condition.predicate, sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The value of the first object that matches; nil if there is none.
    public func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: Predicate<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = []
    ) throws -> Value? {
        try first(as: type, where: FetchPredicate(predicate), sortBy: sortBy)
    }

    /// The value of the first object that matches; nil if there is none.
    public func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where condition: FetchCondition<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = []
    ) throws -> Value? {
        try first(as: type, where: condition.predicate, sortBy: sortBy)
    }
}
