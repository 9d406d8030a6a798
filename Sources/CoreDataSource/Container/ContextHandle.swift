internal import RowStore

/// A background context, which runs work on the private contexts of some data sources or on a context that only reads.
///
/// ```swift
/// let background = container.newBackgroundContext(for: contacts)
/// try await background.perform { context in
///     try context.insert(ContactEntity.self).uid = "1"
/// }
/// ```
///
/// The handle keeps no objects between two calls. It writes through the private context of each data source. So writes to the
/// same data source run one after the other, and writes to different data sources run in parallel. At most 6 calls that only
/// read run in parallel. Each of these calls reads a consistent snapshot of all rows.
///
/// A handle keeps its container and its data sources alive.
///
/// **Isolation**: none. Several calls may use the handle at the same time.
public struct ContextHandle<Contexts>: Sendable {
    private let enter: @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void

    init(_ enter: @escaping @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void) {
        self.enter = enter
    }

    /// Runs the work in the background, saves the edits of the work as one save, and returns the result of the work once the
    /// rows are in the store.
    ///
    /// ```swift
    /// let names = try await container.newBackgroundContext().perform { context in
    ///     try context.values(ObjectRequest<ContactEntity>(), \.name)
    /// }
    /// ```
    ///
    /// **Isolation**: the queues of the contexts. The contexts are valid only during the work.
    ///
    /// - Throws: Any error that the work throws; in this case nothing is saved. Otherwise the errors of
    ///   ``PersistentContainer/perform(in:waitFor:_:)`` or ``PersistentContainer/read(_:)``.
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
/// Unlike in Core Data, a background context names the data sources whose entities it changes. A background context without
/// data sources only reads. For more details, see ``perform(in:waitFor:_:)`` and ``read(_:)``.
extension PersistentContainer {
    /// Returns a background context that only reads. Each call reads a consistent snapshot of all rows.
    ///
    /// ```swift
    /// let background = container.newBackgroundContext()
    /// let count = try await background.perform { try $0.count(ContactEntity.self) }
    /// ```
    public func newBackgroundContext() -> ContextHandle<ReadContext> {
        ContextHandle { work in try await self.read(work) }
    }

    /// Returns a background context that writes the entities of the given data sources. Each call makes one save.
    ///
    /// ```swift
    /// let background = container.newBackgroundContext(for: contacts, groups)
    /// try await background.perform { contacts, groups in
    ///     try contacts.delete(ContactEntity.self, where: nil)
    ///     try groups.delete(GroupEntity.self, where: nil)
    /// }
    /// ```
    ///
    /// - Parameter sources: Data sources of this container. The work gets their contexts in the same order.
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

    /// Runs one read in the background, as ``read(_:)`` does.
    ///
    /// ```swift
    /// let count = try await container.performBackgroundTask {
    ///     try $0.count(ContactEntity.self)
    /// }
    /// ```
    ///
    /// - Throws: Any error that the work throws; errors of the store; `CancellationError` if the task is canceled.
    @discardableResult
    public func performBackgroundTask<Result: Sendable>(
        _ work: @Sendable (ReadContext) throws -> Result
    ) async throws -> Result {
        try await read(work)
    }

    /// Runs the work in the background and saves its edits as one save, as ``perform(in:waitFor:_:)`` does.
    ///
    /// ```swift
    /// try await container.performBackgroundTask(for: contacts) {
    ///     try $0.delete(ContactEntity.self, where: \.age < 18)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container, at least one.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - work: The work. It runs once, and gets the contexts in the order of the data sources.
    /// - Throws: The errors of ``perform(in:waitFor:_:)``.
    @discardableResult
    public func performBackgroundTask<each Source: DataSourceProtocol, Result: Sendable>(
        for sources: repeat each Source, waitFor level: SaveLevel = .store,
        _ work: @Sendable (repeat (each Source).Context) throws -> Result
    ) async throws -> Result {
        try await perform(in: repeat each sources, waitFor: level, work)
    }
}
