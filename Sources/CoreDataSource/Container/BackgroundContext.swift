internal import RowStore

/// A way to work in the background again and again: with the private contexts of some data sources, or reading only.
///
/// ```swift
/// let background = container.newBackgroundContext(for: contacts)
/// try await background.perform { context in
///     try ContactEntity.create(in: context).uid = "1"
/// }
/// ```
///
/// It is a handle and no context: it keeps no objects between two calls. What it writes goes into the one private context of
/// each data source, so writes to one data source are serial, whoever makes them, and writes to different ones run side by
/// side. Those that only read run side by side, at most 6 at once, and each sees one state of all rows.
///
/// It keeps the container and the data sources.
///
/// **Isolation**: none; it may be used from anywhere, several calls at once included.
public struct BackgroundContext<Contexts>: Sendable {
    private let enter: @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void

    init(_ enter: @escaping @Sendable (@Sendable (Contexts) throws -> Void) async throws -> Void) {
        self.enter = enter
    }

    /// Runs the work in the background, saves what it edited as one save, and returns its result once the rows are in the
    /// store.
    ///
    /// **Isolation**: the queues of the contexts, which are valid in the work only.
    ///
    /// - Throws: What the work throws, then nothing has happened; otherwise as ``PersistentContainer/perform(in:_:waitFor:_:)``
    ///   or ``PersistentContainer/read(_:)``.
    @discardableResult
    public func perform<Result: Sendable>(_ work: @Sendable (Contexts) throws -> Result) async throws -> Result {
        let outcome = Guarded<Result?>(nil)
        try await enter { contexts in
            let result = try work(contexts)
            outcome.withLock { $0 = result }
        }
        guard let result = outcome.withLock({ $0 }) else {
            preconditionFailure("A background context returned before its work had run.")
        }
        return result
    }
}
