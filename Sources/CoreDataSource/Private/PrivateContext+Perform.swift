internal import RowStore

/// Entering the context from outside.
extension PrivateContext {
    /// Runs the work here, saves, and returns once the save has come as far as asked.
    nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel, _ work: @Sendable (isolated PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        let saved = try await save(inPlace: level == .store, work)
        if level == .main {
            await stack.mainWaker.mergeNow()
        } else if let number = saved.uncommitted {
            try await stack.root.committed(number)
        }
        return saved
    }

    /// The blocking form.
    nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (isolated PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "performAndWait of \(owner) was called inside a private context, which could wait for itself. In a hook or perform { } use the context that it was given, and write to another data source afterwards."
        )
        let saved = try executor.runAndWait { try assumeIsolated { try $0.save(inPlace: true, work) } }
        if let number = saved.uncommitted { try stack.root.waitUntilCommitted(number) }
        return saved
    }

    /// Runs the work after everything that was asked for before, without waiting; the callback comes on the main actor,
    /// after the commit.
    nonisolated func performLater<Result: Sendable>(
        _ work: @escaping @Sendable (isolated PrivateContext) throws -> Result,
        callback: @escaping @MainActor @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void
    ) {
        executor.enqueue {
            let saved = Swift.Result { try self.assumeIsolated { try $0.save(inPlace: true, work) } }
            guard case .success(let work) = saved, let number = work.uncommitted else {
                Task { @MainActor in callback(saved) }
                return
            }
            self.stack.root.whenCommitted(number) { committed in
                Task { @MainActor in callback(committed.map { work }.mapError { $0 }) }
            }
        }
    }
}
