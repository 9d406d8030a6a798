internal import RowStore

/// Works in the background again and again: with the private contexts of some data sources, or reading only.
///
/// ```swift
/// let background = container.newBackgroundContext(for: contacts)
/// try await background.perform { context in
///     try ContactEntity.create(in: context).uid = "1"
/// }
/// ```
///
/// It is a handle, not a context: it keeps no objects between two calls. It writes through the one private context of each
/// data source, so all writes to a data source are serial, and writes to different data sources run side by side. Calls that
/// only read run side by side, at most 6 at once, and each sees one state of all rows.
///
/// A background context keeps its container and its data sources alive.
///
/// **Isolation**: none; it may be used from anywhere, by several calls at once.
public struct ContextHandle<Contexts>: Sendable {
    private let enter: @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void

    init(_ enter: @escaping @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void) {
        self.enter = enter
    }

    /// Runs the work in the background, saves what it edited as one save, and returns its result once the rows are in the
    /// store.
    ///
    /// **Isolation**: the queues of the contexts. The contexts are valid only in the work.
    ///
    /// - Throws: What the work throws; nothing has happened then. Otherwise what
    ///   ``PersistentContainer/perform(in:waitFor:_:)`` or ``PersistentContainer/read(_:)`` throws.
    @discardableResult
    public func perform<Result: Sendable>(_ work: @Sendable (Contexts) throws -> Result) async throws -> Result {
        let outcome = Guarded<Result?>(nil)
        try await enter { contexts in
            let result = try work(contexts)
            outcome.withLock { $0 = result }
        }
        guard let result = outcome.withLock({ $0 }) else {
            preconditionFailure("A background context returned before its work ran.")
        }
        return result
    }
}

/// Background contexts, under the names that `NSPersistentContainer` uses.
///
/// One thing differs from Core Data: a background context names the data sources whose entities it changes. Without any it only
/// reads. Everything else is as ``perform(in:waitFor:_:)`` and ``read(_:)`` describe.
extension PersistentContainer {
    /// A background context that only reads. Each of its calls sees one state of all rows.
    public func newBackgroundContext() -> ContextHandle<ReadContext> {
        ContextHandle { work in try await self.read(work) }
    }

    /// A background context that writes the entities of data sources; each call is one save.
    ///
    /// ```swift
    /// let background = container.newBackgroundContext(for: contacts, messages)
    /// try await background.perform { contacts, messages in
    ///     try ContactEntity.removeAll(in: contacts)
    ///     try MessageEntity.removeAll(in: messages)
    /// }
    /// ```
    ///
    /// - Parameter sources: Data sources of this container. The contexts come in their order.
    public func newBackgroundContext<each Source: DataSourceProtocol>(
        for sources: repeat each Source
    ) -> ContextHandle<(repeat (each Source).Context)> {
        let tiers = tiers(of: repeat each sources, for: "newBackgroundContext(for:)")
        return ContextHandle { work in
            try await self.perform(in: tiers, waitFor: .store) { contexts in
                let contexts = ContextIterator(contexts)
                try work((repeat contexts.next((each Source).Context.self)))
            }
        }
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

    /// Writes the entities of data sources in the background once, as ``perform(in:waitFor:_:)`` does.
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container, at least one.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: What ``perform(in:waitFor:_:)`` throws.
    @discardableResult
    public func performBackgroundTask<each Source: DataSourceProtocol, Result: Sendable>(
        for sources: repeat each Source, waitFor level: SaveLevel = .store,
        _ work: @Sendable (repeat (each Source).Context) throws -> Result
    ) async throws -> Result {
        try await perform(in: repeat each sources, waitFor: level, work)
    }
}
