internal import RowStore

/// Runs work in the background: on the private contexts of some data sources, or on a context that only reads.
///
/// ```swift
/// let background = container.newBackgroundContext(for: contacts)
/// try await background.perform { context in
///     try context.insert(ContactEntity.self).uid = "1"
/// }
/// ```
///
/// The handle keeps no objects between two calls. It writes through the private context of each data source, so all writes to
/// one data source are serial, and writes to different data sources run in parallel. At most 6 calls that only read run in
/// parallel, and each reads one state of all rows.
///
/// A handle keeps its container and its data sources alive.
///
/// **Isolation**: none; several calls may use the handle at once.
public struct ContextHandle<Contexts>: Sendable {
    private let enter: @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void

    init(_ enter: @escaping @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void) {
        self.enter = enter
    }

    /// Runs the work in the background, saves its edits as one save, and returns the result of the work once the rows are in
    /// the store.
    ///
    /// ```swift
    /// let names = try await container.newBackgroundContext().perform { context in
    ///     try context.values(ObjectRequest<ContactEntity>(), \.name)
    /// }
    /// ```
    ///
    /// **Isolation**: the queues of the contexts. The contexts are valid only in the work.
    ///
    /// - Throws: Errors of the work; nothing is saved then. Otherwise errors of ``PersistentContainer/perform(in:waitFor:_:)``
    ///   or ``PersistentContainer/read(_:)``.
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
/// Unlike in Core Data, a background context names the data sources whose entities it changes. Without data sources it only
/// reads. ``perform(in:waitFor:_:)`` and ``read(_:)`` describe everything else.
extension PersistentContainer {
    /// A background context that only reads. Each of its calls reads one state of all rows.
    ///
    /// ```swift
    /// let background = container.newBackgroundContext()
    /// let count = try await background.perform { try $0.count(ContactEntity.self) }
    /// ```
    public func newBackgroundContext() -> ContextHandle<ReadContext> {
        ContextHandle { work in try await self.read(work) }
    }

    /// A background context that writes the entities of data sources; each call is one save.
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

    /// Reads in the background once, as ``read(_:)`` does.
    ///
    /// ```swift
    /// let count = try await container.performBackgroundTask {
    ///     try $0.count(ContactEntity.self)
    /// }
    /// ```
    ///
    /// - Throws: Errors of the work, errors of the store, and `CancellationError` if the task is cancelled.
    @discardableResult
    public func performBackgroundTask<Result: Sendable>(
        _ work: @Sendable (ReadContext) throws -> Result
    ) async throws -> Result {
        try await read(work)
    }

    /// Writes the entities of data sources in the background as one save, as ``perform(in:waitFor:_:)`` does.
    ///
    /// ```swift
    /// try await container.performBackgroundTask(for: contacts) {
    ///     try $0.delete(ContactEntity.self, where: \.age < 18)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container, at least one.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: Runs once, with the contexts in the order of the data sources.
    /// - Throws: Errors of ``perform(in:waitFor:_:)``.
    @discardableResult
    public func performBackgroundTask<each Source: DataSourceProtocol, Result: Sendable>(
        for sources: repeat each Source, waitFor level: SaveLevel = .store,
        _ work: @Sendable (repeat (each Source).Context) throws -> Result
    ) async throws -> Result {
        try await perform(in: repeat each sources, waitFor: level, work)
    }
}
