// Overloads for two mistakes: a key path instead of a predicate, and a request instead of a class. Each overload is
// unavailable, and its message says what to write instead. Without these overloads, the compiler would report that it cannot
// infer a key path type.
//
// There is no overload for a predicate of Foundation. With a third type of argument, the compiler could not find the type of
// `.any(\.messages, \.isRead == false && \.size > 1000)`.

extension ObjectRequest {
    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public init(
        _ type: Object.Type = Object.self, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0, after cursor: FetchCursor? = nil
    ) {
        self.init(type)
    }
}

extension ManagedObjectContext {
    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] { [] }

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = []
    ) throws -> Object? { nil }

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func count<Object: ManagedObject>(_ type: Object.Type, where attribute: KeyPath<Object, Bool>) throws -> Int
    {
        0
    }

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>
    ) throws -> Bool { false }
}

extension EntityDataSource {
    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] { [] }

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func count<Object: ManagedObject>(_ type: Object.Type, where attribute: KeyPath<Object, Bool>) throws -> Int
    {
        0
    }

    /// Unavailable. Count the objects in the main context.
    @available(*, unavailable, message: "Count the objects of a request in the main context: main.count(request).")
    public func count<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int { 0 }

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws {}

    /// Unavailable. Compare the attribute with a value.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, waitFor level: SaveLevel = .store
    ) async throws {}
}
