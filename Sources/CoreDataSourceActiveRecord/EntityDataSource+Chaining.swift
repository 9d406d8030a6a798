public import CoreDataSource

/// Writing and reading in a chain, as in Skopelos.
///
/// ```swift
/// try contacts
///     .writeSync { context in try context.insert(ContactEntity.self).uid = "1" }
///     .read { main in print(try main.count(ContactEntity.self)) }
/// ```
extension EntityDataSource {
    /// Blocks until the work has run in the private context and its rows are in the store, as ``performAndWait(_:)`` does.
    ///
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public nonisolated func writeSync(
        _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        try performAndWait(work)
        return self
    }

    /// Blocks until the work has run in the private context, and calls back with the outcome before it returns.
    ///
    /// ```swift
    /// contacts.writeSync { context in try ContactEntity.create(in: context).uid = "1" } completion: { outcome in
    ///     if case .failure(let error) = outcome { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - work: It runs once, on the queue of the private context. Its edits are one save.
    ///   - completion: Called once on the calling thread, when the rows are in the store or the write has failed.
    @discardableResult
    public nonisolated func writeSync(
        _ work: @Sendable (PrivateContext) throws -> Void, completion: (Result<Void, any Error>) -> Void
    ) -> Self {
        completion(Result { try performAndWait(work) })
        return self
    }

    /// Runs the work in the private context, after all earlier calls, and returns at once.
    ///
    /// Without a callback, a failure is reported to ``handleError(_:)`` and ``PersistentContainer/failures``, as
    /// ``StoreFailure/Kind/writeFailed``.
    ///
    /// - Parameters:
    ///   - work: It runs once, on the queue of the private context. Its edits are one save.
    ///   - callback: Called on the main actor, in the order of the calls: when the rows are in the store and the objects and
    ///     lists of main show them, or when the save has failed. It is not called while the main thread is blocked.
    @discardableResult
    public nonisolated func writeAsync(
        _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)? = nil
    ) -> Self {
        performLater(work, callback: callback)
        return self
    }

    /// Reads what main shows.
    ///
    /// **Isolation**: the main actor.
    @discardableResult
    public func read(_ work: (MainContext) throws -> Void) rethrows -> Self {
        try work(main)
        return self
    }

    /// Deletes every object of the entities that this data source owns, in one save. ``PersistentContainer/nuke()`` empties
    /// the whole store.
    ///
    /// The cost is proportional to the number of those objects.
    ///
    /// - Throws: What a delete throws; nothing has happened then.
    @discardableResult
    public nonisolated func nuke() async throws -> Self {
        try await deleteAllOwned()
        return self
    }
}
