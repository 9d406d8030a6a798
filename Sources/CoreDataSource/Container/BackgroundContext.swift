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
public struct BackgroundContext<Contexts>: Sendable {
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
