public import Foundation

/// What shows the objects of the main context: the context itself, and every data source.
///
/// A fetch reads the store at once, and includes what is saved but not yet committed.
///
/// **Isolation**: the main actor.
@MainActor
public protocol MainReader {
    nonisolated var main: MainContext { get }
}

extension MainReader {
    /// The objects of a request, in its order; objects that are equal by all of it come in the order of creation.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `unsupportedQuery`, and what the store throws.
    public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
        try main.read { objects throws(DataSourceError) in try objects.fetch(request) }
    }

    /// The objects that match, in order.
    ///
    /// - Parameter limit: The most objects; nil for all.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(FetchRequest(type, where: predicate, sortBy: sortBy, limit: limit, offset: offset))
    }

    /// The objects whose attribute has that value.
    public func fetch<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value,
        sortBy: [SortDescriptor<Object>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(type, where: .compare(keyPath, .equal, value), sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The first object of a request, or nil.
    public func first<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Object? {
        try fetch(request.limited(to: 1)).first
    }

    /// The first object that matches, or nil.
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<Object>] = []
    ) throws -> Object? {
        try first(FetchRequest(type, where: predicate, sortBy: sortBy))
    }

    /// The first object, in the order of creation, whose attribute has that value; nil if there is none.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try main.read { objects throws(DataSourceError) in try objects.first(type, keyPath, value.storedValue) }
    }

    /// How many objects a request gives.
    public func count<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Int {
        try readValues(request) { objects throws(DataSourceError) in try objects.count(request) }
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil
    ) throws -> Int {
        try count(FetchRequest(type, where: predicate))
    }

    /// Whether a request gives any object.
    public func exists<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Bool {
        try readValues(request) { objects throws(DataSourceError) in try objects.exists(request) }
    }

    /// Whether any object matches.
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil
    ) throws -> Bool {
        try exists(FetchRequest(type, where: predicate))
    }

    /// Whether an object has that value.
    public func exists<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Bool {
        try exists(FetchRequest(type, where: .compare(keyPath, .equal, value)))
    }

    /// The object of that id, or nil if it has been deleted.
    public func object<Object: ManagedObject>(_ type: Object.Type, id: ManagedObjectID) throws -> Object? {
        try main.read { objects throws(DataSourceError) in try objects.object(type, id) }
    }

    /// The objects of those ids, in their order; those that have been deleted are left out.
    ///
    /// - Throws: `unknownEntity` for an object of another class, and what the store throws.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type, ids: some Sequence<ManagedObjectID>
    ) throws -> [Object] {
        try main.read { objects throws(DataSourceError) in try objects.objects(type, ids) }
    }

    // MARK: Values

    /// The ids of the objects of a request, in its order.
    public func ids<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try readValues(request) { objects throws(DataSourceError) in try objects.ids(request) }
    }

    /// Some attributes of the objects of a request, in its order. Nothing else is read, and no objects are made.
    ///
    /// ```swift
    /// for (name, age) in try contacts.values(FetchRequest<ContactEntity>(), \.name, \.age) { ... }
    /// ```
    public func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws -> [(repeat each Value)] {
        try readValues(request) { objects throws(DataSourceError) in
            try objects.values(request, repeat each keyPaths)
        }
    }

    /// One attribute of the objects of a request, in its order.
    ///
    /// ```swift
    /// let known = Set(try contacts.values(FetchRequest<ContactEntity>(), \.uid))
    /// ```
    public func values<Object: ManagedObject, Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPath: KeyPath<Object, Value>
    ) throws -> [Value] {
        try readValues(request) { objects throws(DataSourceError) in try objects.values(request, keyPath) }
    }

    /// Sums, counts and so on over the objects of a request.
    ///
    /// ```swift
    /// let (count, oldest) = try contacts.aggregate(FetchRequest<ContactEntity>(), .count(), .max(\.age))
    /// ```
    ///
    /// - Throws: `numberOverflow` for a sum that its type cannot hold.
    public func aggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> (repeat each Result) {
        try readValues(request) { objects throws(DataSourceError) in
            try objects.aggregate(request, repeat each aggregates)
        }
    }

    /// The same for each group of objects that have one value in common, in the order in which the request first has one
    /// of each group. Limit and offset are about objects, not about groups.
    public func aggregate<Object: ManagedObject, Key: AttributeStorable, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> [(key: Key, values: (repeat each Result))] {
        try readValues(request) { objects throws(DataSourceError) in
            try objects.aggregate(request, groupBy: keyPath, repeat each aggregates)
        }
    }

    /// How the store would find the objects of a request, and what is slow about it.
    public func explain<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> FetchExplanation {
        try readValues(request) { objects throws(DataSourceError) in try objects.explain(request) }
    }

    /// Reads what no objects come of, unless the predicate has to ask them.
    private func readValues<Object: ManagedObject, R>(
        _ request: FetchRequest<Object>, _ body: (ObjectContext) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try main.read(registers: request.predicate?.needsObjects != nil, body)
    }
}
