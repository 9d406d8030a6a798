public import CoreDataSource

/// Adds methods for chains of writes and reads, in the style of the library Skopelos.
///
/// ```swift
/// try container
///     .writeSync(in: contacts) { context in
///         try ContactEntity.create(in: context).uid = "1"
///     }
///     .readSync { main in print(try ContactEntity.count(in: main)) }
/// ```
///
/// Three things differ from Skopelos:
/// - A write names the data source whose entities it changes. To write entities of several data sources, call
///   ``perform(in:waitFor:_:)``.
/// - A completion is also called if a write fails.
/// - Objects cannot leave their block. The next block fetches the objects again by a key. To return values from a
///   block, such as a ``ManagedObjectID``, call ``EntityDataSource/performAndWait(_:)``.
extension PersistentContainer {
    /// Runs the work in the private context of the data source, and blocks until the written rows are in the store.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try container.writeSync(in: contacts) { context in
    ///     try ContactEntity.create(in: context).uid = "1"
    /// }
    /// ```
    ///
    /// You can call this method on the main thread. A call from inside a private context or `read` is a programmer
    /// error and traps.
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: Runs once, on the queue of the data source's private context. All its edits are written in one save.
    /// - Throws: Any error that `work` throws, and the errors of ``EntityDataSource/performAndWait(_:)``. If the call throws,
    ///   it changes nothing.
    @discardableResult
    public func writeSync(
        in source: EntityDataSource, _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        requireOwn(source, for: "writeSync(in:)")
        try source.writeSync(work)
        return self
    }

    /// Returns at once, and runs the work in the private context of the data source after the work of all earlier calls.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// container.writeAsync(in: contacts) { context in
    ///     try ContactEntity.removeAll(in: context)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: Runs once, on the queue of the data source's private context. All its edits are written in one save.
    ///   - callback: Called on the main actor with the outcome, as in ``EntityDataSource/writeAsync(_:callback:)``.
    @discardableResult
    public func writeAsync(
        in source: EntityDataSource, _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)? = nil
    ) -> Self {
        requireOwn(source, for: "writeAsync(in:)")
        source.writeAsync(work, callback: callback)
        return self
    }

    /// Empties the store with ``reset()``. In contrast to Skopelos, the call does not block.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try await container.nuke()
    /// ```
    ///
    /// - Throws: The errors of ``reset()``. If the call throws, it changes no row.
    @discardableResult
    public func nuke() async throws -> Self {
        try await reset()
        return self
    }

    /// Calls the handler for every failure of ``failures``, until the container is closed.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// container.handleError { failure in print(failure) }
    /// ```
    ///
    /// In contrast to Skopelos, an app cannot override a method of the container. To handle the failed saves of one data
    /// source, override ``EntityDataSource/handleError(_:)``.
    ///
    /// **Isolation**: none. The handler is called in a separate task, in the order of the failures. The handler can use
    /// the container.
    @discardableResult
    public func handleError(_ handler: @escaping @Sendable (StoreFailure) -> Void) -> Self {
        let failures = failures
        Task { for await failure in failures { handler(failure) } }
        return self
    }
}
