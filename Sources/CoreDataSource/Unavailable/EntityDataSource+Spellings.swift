// These are members of a protocol, so that subclasses can have functions with these names.

/// Functions of other libraries that save, insert, begin a transaction, or take a class in the place of a request.
extension DataSourceProtocol {
    /// Unavailable. A data source saves its own edits.
    @available(
        *, unavailable,
        message: "Nothing waits for a save here: add, sync, delete and perform save their own edits. Remove this call."
    )
    public func save() throws {}

    /// Unavailable. Insert objects in perform.
    @available(
        *, unavailable,
        message:
            "Insert objects in perform: try await books.perform { context in try context.insert(Book.self) }, or add values: try await books.add(values)."
    )
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object? { nil }

    /// Unavailable. Edit objects in perform.
    @available(*, unavailable, message: "Write try await books.perform { context in ... }, which saves the edits.")
    @discardableResult
    public func write<Result>(_ updates: (PrivateContext) throws -> Result) async throws -> Result? { nil }

    /// Unavailable. A list takes a request.
    @available(
        *, unavailable,
        message: "A list takes a request: books.list(ObjectRequest(Book.self, where: ..., order: [...]))."
    )
    public func list<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil
    ) throws -> LiveList<Object>? { nil }

    /// Unavailable. Updates take a request.
    @available(
        *, unavailable,
        message: "Updates take a request: books.updates(ObjectRequest(Book.self, where: ..., order: [...]))."
    )
    public func updates<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil
    ) -> ListUpdates<Object>? { nil }
}
