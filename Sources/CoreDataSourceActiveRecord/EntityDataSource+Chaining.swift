public import CoreDataSource

/// Adds methods for chains of writes and reads, in the style of the library Skopelos.
///
/// ```swift
/// try contacts
///     .writeSync { context in try context.insert(ContactEntity.self).uid = "1" }
///     .read { main in print(try main.count(ContactEntity.self)) }
/// ```
extension EntityDataSource {
    /// Runs the work in the private context, and blocks until the written rows are in the store, as ``performAndWait(_:)``
    /// does. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try contacts.writeSync { context in
    ///     try ContactEntity.create(in: context).uid = "1"
    /// }
    /// ```
    ///
    /// - Throws: Any error that `work` throws, and the errors of `add`. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func writeSync(
        _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        try performAndWait(work)
        return self
    }

    /// Runs the work in the private context, blocks until the written rows are in the store, and calls the completion with the
    /// outcome. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// contacts.writeSync { context in
    ///     try ContactEntity.create(in: context).uid = "1"
    /// } completion: { outcome in
    ///     if case .failure(let error) = outcome { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - work: Runs once, on the queue of the private context. All its edits are written in one save.
    ///   - completion: Called once on the calling thread, when the rows are in the store or the save has failed.
    @discardableResult
    public nonisolated func writeSync(
        _ work: @Sendable (PrivateContext) throws -> Void, completion: (Result<Void, any Error>) -> Void
    ) -> Self {
        completion(Result { try performAndWait(work) })
        return self
    }

    /// Returns at once, and runs the work in the private context after the work of all earlier calls.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// contacts.writeAsync { context in
    ///     try ContactEntity.removeAll(in: context)
    /// } callback: { outcome in
    ///     if case .failure(let error) = outcome { print(error) }
    /// }
    /// ```
    ///
    /// Without a callback, a failure is reported to ``handleError(_:)`` and ``PersistentContainer/failures``, as
    /// ``StoreFailure/Kind/writeFailed``.
    ///
    /// - Parameters:
    ///   - work: Runs once, on the queue of the private context. All its edits are written in one save.
    ///   - callback: Called on the main actor. The callbacks of several calls are called in the order of the calls. If the save
    ///     has succeeded, the objects and lists of the main context show its rows before the callback is called. After a
    ///     failure, the callback gets the error. While the main thread is blocked, the callback waits.
    @discardableResult
    public nonisolated func writeAsync(
        _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)? = nil
    ) -> Self {
        performLater(work, callback: callback)
        return self
    }

    /// Runs the closure with the main context at once. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try contacts.read { main in print(try ContactEntity.count(in: main)) }
    /// ```
    ///
    /// **Isolation**: the main actor.
    @discardableResult
    public func read(_ work: (MainContext) throws -> Void) rethrows -> Self {
        try work(main)
        return self
    }

    /// Deletes all objects of the entities that this data source owns, in one save. To empty the whole store, call
    /// ``PersistentContainer/nuke()``. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try await contacts.nuke()
    /// ```
    ///
    /// The cost is proportional to the number of deleted objects.
    ///
    /// - Throws: Any error from deleting the objects. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func nuke() async throws -> Self {
        try await deleteAllOwned()
        return self
    }
}
