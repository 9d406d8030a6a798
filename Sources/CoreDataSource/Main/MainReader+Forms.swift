public import Foundation

/// Fetching by Foundation's predicates, and by conditions on key paths.
extension MainReader {
    /// The objects that match, in order, as ``fetch(_:where:sortBy:limit:offset:)``.
    ///
    /// ```swift
    /// try contacts.fetch(ContactEntity.self, where: #Predicate { $0.name == "Guan Yu" }, sortBy: [SortDescriptor(\.name)])
    /// ```
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>, sortBy: [SortDescriptor<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(type, where: FetchPredicate(predicate), sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The objects that match, in order, as ``fetch(_:where:sortBy:limit:offset:)``.
    ///
    /// ```swift
    /// try contacts.fetch(ContactEntity.self, where: \.age >= 18 && \.name != "")
    /// ```
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>, sortBy: [SortDescriptor<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(type, where: condition.predicate, sortBy: sortBy, limit: limit, offset: offset)
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>) throws -> Int {
        try count(type, where: FetchPredicate(predicate))
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>
    ) throws -> Int {
        try count(type, where: condition.predicate)
    }

    /// The first object that matches, or nil.
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>, sortBy: [SortDescriptor<Object>] = []
    ) throws -> Object? {
        try first(type, where: FetchPredicate(predicate), sortBy: sortBy)
    }

    /// The first object that matches, or nil.
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>, sortBy: [SortDescriptor<Object>] = []
    ) throws -> Object? {
        try first(type, where: condition.predicate, sortBy: sortBy)
    }

    /// Whether any object matches.
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>
    ) throws -> Bool {
        try exists(type, where: FetchPredicate(predicate))
    }

    /// Whether any object matches.
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>
    ) throws -> Bool {
        try exists(type, where: condition.predicate)
    }
}
