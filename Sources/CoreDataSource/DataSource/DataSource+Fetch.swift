public import Foundation

/// Reading what main shows: see ``MainContext``, whose functions these are.
extension DataSource {
    /// The objects that match, in order.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The objects whose attribute has that value.
    public func fetch<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value,
        sortBy: [SortDescriptor<Object>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: keyPath, equals: value, sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The first object whose attribute has that value, or nil.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try main.first(type, where: keyPath, equals: value)
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil
    ) throws -> Int {
        try main.count(type, where: predicate)
    }

    /// Whether an object has that value.
    public func exists<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Bool {
        try main.exists(type, where: keyPath, equals: value)
    }
}
