public import Foundation

/// Fetching values.
extension MainContext {
    /// The values of the objects that match, in order.
    ///
    /// - Throws: As `fetch`, and what the value's initializer throws.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: FetchPredicate? = nil,
        sortBy: [SortDescriptor<Value.Object>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Value] {
        try fetch(Value.Object.self, where: predicate, sortBy: sortBy, limit: limit, offset: offset)
            .map { try Value($0) }
    }

    /// The value of the first object that matches; nil if there is none.
    public func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: FetchPredicate? = nil,
        sortBy: [SortDescriptor<Value.Object>] = []
    ) throws -> Value? {
        try fetch(as: type, where: predicate, sortBy: sortBy, limit: 1).first
    }

    /// The values of the objects that a request finds, in its order.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: FetchRequest<Value.Object>
    ) throws -> [Value] {
        try fetch(request).map { try Value($0) }
    }
}
