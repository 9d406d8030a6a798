/// Running any work in the private context.
extension AnyDataSource {
    /// Runs the work in the private context, saves its edits, and returns its result once the rows are in the store.
    ///
    /// - Parameters:
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: It runs on the queue of the private context. The call returns its result.
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel = .store, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await tier.perform(waitFor: level, work).result
    }

    /// Blocks the calling thread until the work has run and the rows are in the store.
    ///
    /// You can call it on the main thread, because private contexts never wait for main. When it returns, fetches and objects
    /// of main show the save; lists show it when the main actor is free. Calling it inside a private context or
    /// `container.read` is a programmer error and traps.
    ///
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> Result {
        try tier.performAndWait(work).result
    }
}
