/// Writing and reading in a chain, for those who know it from Skopelos.
///
/// ```swift
/// try contacts
///     .writeSync { context in try context.insert(ContactEntity.self).uid = "1" }
///     .read { main in print(try main.count(ContactEntity.self)) }
/// ```
extension AnyDataSource {
    /// Blocks until the work has run in the private context and its rows are in the store; as ``performAndWait(_:)``.
    @discardableResult
    public nonisolated func writeSync(
        _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        try performAndWait(work)
        return self
    }

    /// Runs the work in the private context after everything that was asked for before, without waiting.
    ///
    /// - Parameter callback: Called on the main actor, in the order of the calls: when the rows are in the store and main's
    ///   objects and lists show them, or when the save has failed.
    @discardableResult
    public nonisolated func writeAsync(
        _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: @escaping @MainActor @Sendable (Result<Void, any Error>) -> Void
    ) -> Self {
        tier.performLater(work) { callback($0.map { _ in }) }
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
}
