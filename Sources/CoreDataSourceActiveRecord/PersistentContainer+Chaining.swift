public import CoreDataSource

/// Writing and reading in a chain, as in Skopelos.
///
/// ```swift
/// try container
///     .writeSync(in: contacts) { context in
///         try ContactEntity.create(in: context).uid = "1"
///     }
///     .readSync { main in print(try ContactEntity.count(in: main)) }
/// ```
///
/// Three things differ from Skopelos. A write names the data source whose entities it changes; ``perform(in:waitFor:_:)``
/// writes the entities of several data sources. A completion is also called if a write fails. Objects cannot leave their block:
/// the next block looks them up again by a key. ``EntityDataSource/performAndWait(_:)`` returns values to its caller, such as a
/// ``ManagedObjectID``.
extension PersistentContainer {
    /// Runs the work in the private context of the data source, and blocks until its rows are in the store.
    ///
    /// ```swift
    /// try container.writeSync(in: contacts) { context in
    ///     try ContactEntity.create(in: context).uid = "1"
    /// }
    /// ```
    ///
    /// The main thread may make the call. A call inside a private context or `read` is a programmer error and traps.
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: Runs once, on the queue of the data source's private context. Its edits are one save.
    /// - Throws: Errors of the work; otherwise errors of ``EntityDataSource/performAndWait(_:)``. If the call throws, it
    ///   changes nothing.
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
    /// ```swift
    /// container.writeAsync(in: contacts) { context in
    ///     try ContactEntity.removeAll(in: context)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: Runs once, on the queue of the data source's private context. Its edits are one save.
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

    /// Empties the store, as ``reset()``. Unlike in Skopelos, the call does not block.
    ///
    /// ```swift
    /// try await container.nuke()
    /// ```
    ///
    /// - Throws: Errors of ``reset()``. If the call throws, it changes no row.
    @discardableResult
    public func nuke() async throws -> Self {
        try await reset()
        return self
    }

    /// Calls the handler for every failure of ``failures``, until the container is closed.
    ///
    /// ```swift
    /// container.handleError { failure in print(failure) }
    /// ```
    ///
    /// Unlike in Skopelos, there is no method of the container to override. For the saves of one data source, override
    /// ``EntityDataSource/handleError(_:)``.
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
