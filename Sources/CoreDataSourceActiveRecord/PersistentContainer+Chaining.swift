public import CoreDataSource

/// Writing and reading in a chain, as in Skopelos.
///
/// ```swift
/// try container
///     .writeSync(in: contacts) { context in try ContactEntity.create(in: context).uid = "1" }
///     .readSync { main in print(try ContactEntity.count(in: main)) }
/// ```
///
/// Three things differ from Skopelos. A write names the data source whose entities it changes, because no other code may change
/// them; ``perform(in:waitFor:_:)`` writes over several. A completion is also called when a write fails. Objects stay in the
/// block that got them: the next block looks them up again, by a key. ``EntityDataSource/performAndWait(_:)`` returns values to
/// its caller, such as a ``ManagedObjectID``.
extension PersistentContainer {
    /// Blocks until the work has run in the private context of the data source and its rows are in the store.
    ///
    /// You can call it on the main thread. Calling it inside a private context or `read` is a programmer error and traps.
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: It runs once, on the queue of the data source's private context. What it edits is one save.
    /// - Throws: What the work throws; otherwise what ``EntityDataSource/performAndWait(_:)`` throws. Nothing has happened then.
    @discardableResult
    public func writeSync(
        in source: EntityDataSource, _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        requireOwn(source, for: "writeSync(in:)")
        try source.writeSync(work)
        return self
    }

    /// Runs the work in the private context of the data source, after all earlier calls, and returns at once.
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: It runs once, on the queue of the data source's private context. What it edits is one save.
    ///   - callback: As in ``EntityDataSource/writeAsync(_:callback:)``.
    @discardableResult
    public func writeAsync(
        in source: EntityDataSource, _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)? = nil
    ) -> Self {
        requireOwn(source, for: "writeAsync(in:)")
        source.writeAsync(work, callback: callback)
        return self
    }

    /// Empties the store: ``reset()`` under the name that it has in Skopelos. Unlike there, it does not block.
    ///
    /// - Throws: What ``reset()`` throws; every row is unchanged then.
    @discardableResult
    public func nuke() async throws -> Self {
        try await reset()
        return self
    }

    /// Calls the handler for every failure that no call can throw, until the container is closed. It is ``failures`` as a call
    /// in a chain.
    ///
    /// Skopelos has a method to override. Here, override ``EntityDataSource/handleError(_:)`` for the saves of one data source.
    ///
    /// **Isolation**: none. The handler is called in a task of its own, in the order of the failures, and may use the
    /// container.
    @discardableResult
    public func handleError(_ handler: @escaping @Sendable (StoreFailure) -> Void) -> Self {
        let failures = failures
        Task { for await failure in failures { handler(failure) } }
        return self
    }
}
