// These are members of a protocol, so that subclasses can have functions with these names.

/// Functions of other libraries that save, insert, begin a transaction, or take an object, a closure or a class in the place
/// of something else.
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
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object { preconditionFailure() }

    /// Unavailable. Edit objects in perform.
    @available(*, unavailable, message: "Write try await books.perform { context in ... }, which saves the edits.")
    @discardableResult
    public func write<Result>(_ updates: (PrivateContext) throws -> Result) async throws -> Result {
        preconditionFailure()
    }

    /// Unavailable. Delete an object by a predicate, or in perform.
    @available(
        *, unavailable,
        message:
            "A data source deletes values, or all objects that match a predicate: try await books.delete(Book.self, where: \\.title == title). In perform, context.delete deletes an object."
    )
    public func delete(_ object: ManagedObject) async throws {}

    /// Unavailable. An update gets assignments.
    @available(
        *, unavailable,
        message:
            "An update gets assignments: try await books.update(Book.self, where: ..., set: [.set(\\.isRead, true)]). To run code for each object, edit the objects in perform."
    )
    @discardableResult
    public func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, _ updates: (Object) throws -> Void
    ) async throws -> SaveReport { preconditionFailure() }

    /// Unavailable. A list takes a request.
    @available(
        *, unavailable,
        message: "A list takes a request: books.list(ObjectRequest(Book.self, where: ..., order: [...]))."
    )
    public func list<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil
    ) throws -> LiveList<Object> { preconditionFailure() }

    /// Unavailable. Updates take a request.
    @available(
        *, unavailable,
        message: "Updates take a request: books.updates(ObjectRequest(Book.self, where: ..., order: [...]))."
    )
    public func updates<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil
    ) -> ListUpdates<Object> { preconditionFailure() }
}
