// A key path in the place of a predicate, and a request in the place of a class. Each form is unavailable, with a message that says what
// to write. The compiler would otherwise say that it cannot infer a key path type.
//
// There is no such form for a predicate of Foundation: with a third type of argument, the compiler does not find the type of
// `.any(\.messages, \.isRead == false && \.size > 1000)`.

extension ObjectRequest {
    /// Unavailable: compare the attribute.
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
    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] { [] }

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = []
    ) throws -> Object? { nil }

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func count<Object: ManagedObject>(_ type: Object.Type, where attribute: KeyPath<Object, Bool>) throws -> Int
    {
        0
    }

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>
    ) throws -> Bool { false }
}

extension EntityDataSource {
    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] { [] }

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public func count<Object: ManagedObject>(_ type: Object.Type, where attribute: KeyPath<Object, Bool>) throws -> Int
    {
        0
    }

    /// Unavailable: count in the main context.
    @available(*, unavailable, message: "Count the objects of a request in the main context: main.count(request).")
    public func count<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int { 0 }

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws {}

    /// Unavailable: compare the attribute.
    @available(
        *, unavailable, message: "A key path alone is not a predicate. Compare it: \\.isRead == true, or !\\.isRead."
    )
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where attribute: KeyPath<Object, Bool>, waitFor level: SaveLevel = .store
    ) async throws {}
}
