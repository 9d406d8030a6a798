internal import RowStore

/// Entering the private context from outside.
extension PrivateTier {
    /// Runs the work here, saves, and returns once the save has come as far as asked.
    ///
    /// Called on the main actor it also returns only when main and its lists show the save.
    ///
    /// - Parameter values: How many values the work is about; 0 for work that only reads.
    nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel, values: Int = 1, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        try await enter(waitFor: level, values: values) { try await self.save(isAwaited: $0, work) }
    }

    /// Waits to be let in, saves, and waits until the save has come as far as asked.
    nonisolated func enter<Result: Sendable>(
        waitFor level: SaveLevel, values: Int, _ save: (_ isAwaited: Bool) async throws -> SavedWork<Result>
    ) async throws -> SavedWork<Result> {
        let isOnMain = isMainActor(#isolation)
        try await stack.root.admission.enter(values)
        let saved: SavedWork<Result>
        do {
            defer { stack.root.admission.leave(values) }
            saved = try await save(level == .store)
        } catch {
            if isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
            throw error
        }
        var failure: (any Error)?
        if level == .store, let number = saved.uncommitted {
            do { try await stack.root.committed(number) } catch { failure = error }
        }
        // A save that failed was visible until now, and is not any more.
        if level == .main || isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
        if let failure { throw failure }
        return saved
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    nonisolated func performRehearsal<Result: Sendable>(
        values: Int, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await stack.root.admission.enter(values)
        defer { stack.root.admission.leave(values) }
        return try await rehearse(work)
    }

    /// The blocking form. Called on the main thread it returns when main's objects and fetches show the save; lists follow
    /// when main is free.
    nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "performAndWait of \(owner) was called inside a private context, which could wait for itself. In a hook or perform { } use the context that it was given, and write to another data source afterwards."
        )
        try stack.root.admission.enterAndWait(1)
        defer { if MainQueue.isCurrent { MainActor.assumeIsolated { stack.mainWaker.mergeObjects() } } }
        let saved: SavedWork<Result>
        do {
            defer { stack.root.admission.leave(1) }
            saved = try executor.runAndWait { try assumeIsolated { try $0.save(isAwaited: true, work) } }
        }
        if let number = saved.uncommitted { try stack.root.waitUntilCommitted(number) }
        return saved
    }

    /// Runs the work after everything that was asked for before, without waiting; the callback comes on the main actor, when
    /// the save is in the store and main and its lists show it.
    nonisolated func performLater<Result: Sendable>(
        values: Int = 1, _ work: @escaping @Sendable (PrivateContext) throws -> Result,
        callback: @escaping @MainActor @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void
    ) {
        let waker = stack.mainWaker
        let admission = stack.root.admission
        do throws(DataSourceError) { try admission.enterNow(values) } catch {
            return waker.callBack(afterMerge: false) { callback(.failure(error)) }
        }
        let finish: @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void = { result in
            waker.callBack(afterMerge: true) {
                admission.forgetValues(values)
                callback(result)
            }
        }
        executor.enqueue {
            let saved = Swift.Result { try self.assumeIsolated { try $0.save(isAwaited: true, work) } }
            admission.endBatch()
            guard case .success(let work) = saved, let number = work.uncommitted else { return finish(saved) }
            self.stack.root.whenCommitted(number) { committed in
                finish(committed.map { work }.mapError { $0 })
            }
        }
    }
}

/// Whether that is the actor on which the caller runs. A function of its own, for the compiler of Swift 6.3 fails on the
/// comparison where it is optimized into an async function.
@inline(never)
private func isMainActor(_ actor: (any Actor)?) -> Bool { actor === MainActor.shared }
