/// Background contexts, under the names that `NSPersistentContainer` uses.
///
/// One thing differs from Core Data: a background context names the data sources whose entities it changes. Without any it only
/// reads. Everything else is as ``perform(in:_:waitFor:_:)`` and ``read(_:)`` describe.
extension PersistentContainer {
    /// A background context that only reads. Each of its calls sees one state of all rows.
    public func newBackgroundContext() -> BackgroundContext<ReadContext> {
        BackgroundContext { work in try await self.read(work) }
    }

    /// A background context that writes the entities of one data source.
    ///
    /// - Parameter source: A data source of this container.
    public func newBackgroundContext(for source: AnyDataSource) -> BackgroundContext<PrivateContext> {
        requireOwn([source], "newBackgroundContext(for:)")
        return BackgroundContext { work in try await source.perform(work) }
    }

    /// A background context that writes the entities of two data sources; each call is one save.
    ///
    /// ```swift
    /// let background = container.newBackgroundContext(for: contacts, messages)
    /// try await background.perform { contacts, messages in
    ///     try ContactEntity.removeAll(in: contacts)
    ///     try MessageEntity.removeAll(in: messages)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - first: A data source of this container.
    ///   - second: Another one.
    public func newBackgroundContext(
        for first: AnyDataSource, _ second: AnyDataSource
    ) -> BackgroundContext<(PrivateContext, PrivateContext)> {
        requireOwn([first, second], "newBackgroundContext(for:)")
        return BackgroundContext { work in try await self.perform(in: first, second) { try work(($0, $1)) } }
    }

    /// The same for any number of data sources. The contexts come in the order of the data sources.
    public func newBackgroundContext(for sources: [AnyDataSource]) -> BackgroundContext<[PrivateContext]> {
        requireOwn(sources, "newBackgroundContext(for:)")
        return BackgroundContext { work in try await self.perform(in: sources, work) }
    }

    /// Reads in the background once, as ``read(_:)`` does.
    ///
    /// - Throws: What the work throws, what the store throws, and `CancellationError` if the task is cancelled.
    @discardableResult
    public func performBackgroundTask<Result: Sendable>(
        _ work: @Sendable (ReadContext) throws -> Result
    ) async throws -> Result {
        try await read(work)
    }

    /// Writes the entities of one data source in the background once, as ``AnyDataSource/perform(waitFor:_:)`` does.
    ///
    /// - Parameters:
    ///   - source: A data source of this container.
    ///   - work: It runs once, on the queue of its private context.
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public func performBackgroundTask<Result: Sendable>(
        for source: AnyDataSource, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        requireOwn([source], "performBackgroundTask(for:)")
        return try await source.perform(work)
    }

    /// Writes the entities of two data sources in the background once, as ``perform(in:_:waitFor:_:)`` does.
    ///
    /// - Parameters:
    ///   - first: A data source of this container.
    ///   - second: Another one.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: What ``perform(in:_:waitFor:_:)`` throws.
    @discardableResult
    public func performBackgroundTask<Result: Sendable>(
        for first: AnyDataSource, _ second: AnyDataSource,
        _ work: @Sendable (PrivateContext, PrivateContext) throws -> Result
    ) async throws -> Result {
        requireOwn([first, second], "performBackgroundTask(for:)")
        return try await perform(in: first, second, work)
    }
}
