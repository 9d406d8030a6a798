/// Functions and properties of contexts in Core Data and SwiftData, for reading and for queues.
extension ManagedObjectContext {
    /// Unavailable. A context has no queue. Call the method of a data source.
    @available(
        *, unavailable,
        message:
            "A context has no queue of its own: use it directly where you have it. To edit objects, call perform of their data source: try await books.perform { context in ... }."
    )
    public func perform(_ block: @escaping () -> Void) {}

    /// Unavailable. A context has no queue. Call the method of a data source.
    @available(
        *, unavailable,
        message:
            "A context has no queue of its own: use it directly where you have it. To edit objects, call perform of their data source: try await books.perform { context in ... }."
    )
    public func perform<Result>(_ block: @escaping () throws -> Result) async rethrows -> Result { try block() }

    /// Unavailable. A context has no queue. Call the method of a data source.
    @available(
        *, unavailable,
        message:
            "A context has no queue of its own: use it directly where you have it. To edit objects, call performAndWait of their data source."
    )
    public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result { try block() }

    /// Unavailable. Find the object by its class and id.
    @available(
        *, unavailable, message: "Name the class: try context.object(Book.self, id: id). The result is optional."
    )
    public func object(with id: ManagedObjectID) -> ManagedObject { preconditionFailure() }

    /// Unavailable. Find the object by its class and id.
    @available(
        *, unavailable, message: "Name the class: try context.object(Book.self, id: id). The result is optional."
    )
    public func existingObject(with id: ManagedObjectID) throws -> ManagedObject { preconditionFailure() }

    /// Unavailable. Count the objects of a request.
    @available(*, unavailable, message: "Write context.count(request).")
    public func count<Object: ManagedObject>(for request: ObjectRequest<Object>) throws -> Int { 0 }

    /// Unavailable. Count the objects of a request.
    @available(*, unavailable, message: "Write context.count(request).")
    public func fetchCount<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int { 0 }

    /// Unavailable. Objects need no refresh.
    @available(
        *, unavailable,
        message:
            "Objects of the main context follow every save, and a batch begins with the newest rows. Remove this line."
    )
    public func refresh(_ object: ManagedObject, mergeChanges flag: Bool) {}

    /// Unavailable. Objects need no refresh.
    @available(
        *, unavailable,
        message:
            "Objects of the main context follow every save, and a batch begins with the newest rows. Remove this line."
    )
    public func refreshAllObjects() {}
}
