public import Foundation

/// The most frequent reading verbs of ``main``, and values from any thread.
extension AnyDataSource {
    /// The objects of a request, as ``ManagedObjectContext/fetch(_:)`` of ``main``.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`,
    ///   `predicateFailed`, and what the store throws.
    public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
        try main.fetch(request)
    }

    /// The objects that match, in order, as
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)`` of ``main``.
    ///
    /// ```swift
    /// let found = try contacts.fetch(ContactEntity.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// The objects that match, in the order of Foundation's sort descriptors.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first; see ``FetchOrder/init(_:)``.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    @_disfavoredOverload
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// How many objects match.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try main.count(type, where: predicate)
    }

    /// The values of the objects of a request, in its order. You can call it anywhere, because no object leaves its context.
    ///
    /// They are read in the data source's private context, after all earlier calls. ``PersistentContainer/read(_:)`` does not
    /// wait for those.
    ///
    /// ```swift
    /// let grown = try await contacts.fetch(as: ContactValue.self, FetchRequest(where: \.age >= 18))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: Which objects, in which order; by default all, in the order of creation.
    /// - Throws: What `fetch` throws, and what the value's initializer throws.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: FetchRequest<Value.Object> = FetchRequest()
    ) async throws -> [Value] {
        try await tier.perform(waitFor: .store, values: 0) { try $0.fetch(as: type, request) }.result
    }
}
