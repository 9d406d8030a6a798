public import Foundation
internal import RowStore

/// Reading, edits of this batch included: the functions of ``MainReader``. Other data sources' entities may be read as
/// well, but not edited.
extension PrivateContext {
    /// The objects of a request, in its order; objects that are equal by all of it come in the order of creation.
    ///
    /// A fetch that takes long ends when its task is cancelled.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `unsupportedQuery`, `CancellationError`, and what the store throws.
    public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
        try read { objects throws(DataSourceError) in try objects.fetch(request) }
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
    ///
    /// For an attribute with a uniqueness constraint the cost is that of a look-up by key, and nothing is read from the
    /// store while the object is registered.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try read { objects throws(DataSourceError) in try objects.first(type, keyPath, value.storedValue) }
    }

    /// How many objects a request gives.
    public func count<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Int {
        try read { objects throws(DataSourceError) in try objects.count(request) }
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil
    ) throws -> Int {
        try count(FetchRequest(type, where: predicate))
    }

    /// Whether a request gives any object.
    public func exists<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Bool {
        try read { objects throws(DataSourceError) in try objects.exists(request) }
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
        try first(type, where: keyPath, equals: value) != nil
    }

    /// The object of that id, or nil if it has been deleted.
    public func object<Object: ManagedObject>(_ type: Object.Type, id: ManagedObjectID) throws -> Object? {
        try read { objects throws(DataSourceError) in try objects.object(type, id) }
    }

    /// The objects of those ids, in their order; those that have been deleted are left out. Registered objects are not
    /// read again, and all others in one go.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type, ids: some Sequence<ManagedObjectID>
    ) throws -> [Object] {
        try read { objects throws(DataSourceError) in try objects.objects(type, ids) }
    }

    // MARK: Values

    /// The ids of the objects of a request, in its order.
    public func ids<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try read { objects throws(DataSourceError) in try objects.ids(request) }
    }

    /// Some attributes of the objects of a request, in its order. Nothing else is read, and no objects are made.
    public func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws -> [(repeat each Value)] {
        try read { objects throws(DataSourceError) in try objects.values(request, repeat each keyPaths) }
    }

    /// One attribute of the objects of a request, in its order.
    ///
    /// ```swift
    /// let known = Set(try context.values(FetchRequest<ContactEntity>(), \.uid))
    /// ```
    public func values<Object: ManagedObject, Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPath: KeyPath<Object, Value>
    ) throws -> [Value] {
        try read { objects throws(DataSourceError) in try objects.values(request, keyPath) }
    }

    /// Sums, counts and so on over the objects of a request.
    ///
    /// - Throws: `numberOverflow` for a sum that its type cannot hold.
    public func aggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> (repeat each Result) {
        try read { objects throws(DataSourceError) in try objects.aggregate(request, repeat each aggregates) }
    }

    /// The same for each group of objects that have one value in common.
    public func aggregate<Object: ManagedObject, Key: AttributeStorable, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> [(key: Key, values: (repeat each Result))] {
        try read { objects throws(DataSourceError) in
            try objects.aggregate(request, groupBy: keyPath, repeat each aggregates)
        }
    }

    /// How the store would find the objects of a request, and what is slow about it.
    public func explain<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> FetchExplanation {
        try read { objects throws(DataSourceError) in try objects.explain(request) }
    }

    /// Reads; a query that takes long ends when its task is cancelled.
    ///
    /// - Throws: `CancellationError`, and what the body throws.
    func read<R>(_ body: (ObjectContext) throws(DataSourceError) -> R) throws -> R {
        objects.isCancellable = true
        defer { objects.isCancellable = false }
        do throws(DataSourceError) {
            return try body(objects)
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
    }
}
