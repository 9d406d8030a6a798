internal import RowStore
internal import Synchronization

/// Entering the private context from outside.
extension PrivateTier {
    /// Runs the work here, saves, and returns once the save has got as far as requested.
    ///
    /// When called on the main actor, it also waits until main and its lists show the save.
    ///
    /// - Parameters:
    ///   - values: How many values the work handles; 0 for work that only reads.
    ///   - deletes: Whether delete rules may change rows of other data sources, whose batches wait meanwhile. If not, the save
    ///     fails if they would, whatever else waits.
    nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel, values: Int = 1, deletes: Bool = true,
        _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        // Earlier calls with a callback come first, on whatever queue they wait.
        let isOrdered = waitingJobs.load(ordering: .acquiring) > 0
        let scope: BatchScope = values == 0 ? .nothing : deletes ? .reach : .own
        let joined = joined(scope)
        let held = isOrdered ? PrivateTier.held([self]) : joined
        guard held.count > 1 else {
            return try await enter(waitFor: level, values: values) {
                await self.save(isAwaited: $0, scope, work)
            }
        }
        return try await enter(waitFor: level, values: values) { isAwaited in
            await held[0].save(in: [self], joined, holding: held.dropFirst(), isAwaited: isAwaited, scope) {
                try work($0[0])
            }
        }
    }

    /// The tiers whose rows a batch of that scope may change.
    private nonisolated func joined(_ scope: BatchScope) -> [PrivateTier] {
        scope == .reach ? PrivateTier.held([self]) : [self]
    }

    /// Waits for admission, saves, and waits until the save has got as far as requested.
    nonisolated func enter<Result: Sendable>(
        waitFor level: SaveLevel, values: Int,
        _ save: (_ isAwaited: Bool) async -> Swift.Result<SavedWork<Result>, any Error>
    ) async throws -> SavedWork<Result> {
        let isOnMain = isMainActor(#isolation)
        try await stack.root.admission.enter(values)
        let outcome = await save(level == .store)
        stack.root.admission.leave(values)
        if case .failure = outcome, isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
        let saved = try outcome.get()
        var failure: (any Error)?
        if level == .store, let number = saved.uncommitted {
            do { try await stack.root.committed(number) } catch { failure = error }
        }
        // A failed save was visible until now, and is not any more.
        if level == .main || isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
        if let failure { throw failure }
        return saved
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    nonisolated func performRehearsal<Result: Sendable>(
        values: Int, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await stack.root.admission.enter(values)
        let held = PrivateTier.held([self])
        let outcome = await held[0].rehearse(self, holding: held.dropFirst(), work)
        stack.root.admission.leave(values)
        return try outcome.get()
    }

    /// The blocking form. When called on the main thread, objects and fetches of main show the save when it returns; lists
    /// follow when main is free.
    nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "performAndWait of \(owner) was called inside a private context or container.read, where it could wait for itself. In a hook or perform { }, use the context that is passed in, and write to other data sources afterwards."
        )
        try stack.root.admission.enterAndWait(1)
        defer { if MainQueue.isCurrent { MainActor.assumeIsolated { stack.mainWaker.mergeObjects() } } }
        let saved: SavedWork<Result>
        do {
            defer { stack.root.admission.leave(1) }
            let held = PrivateTier.held([self])
            saved = try PrivateTier.holding(held[...]) {
                try PrivateTier.save(in: [self], held, holding: held, isAwaited: true, .reach) { try work($0[0]) }
            }
        }
        if let number = saved.uncommitted { try stack.root.waitUntilCommitted(number) }
        return saved
    }

    /// Runs the work after all earlier calls, without waiting. The callback comes on the main actor, when the save is in the
    /// store and main and its lists show it.
    nonisolated func performLater<Result: Sendable>(
        values: Int = 1, deletes: Bool = true, _ work: @escaping @Sendable (PrivateContext) throws -> Result,
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
        // All calls of this form take the same queues, whether they delete or not, so that they keep their order.
        let held = PrivateTier.held([self])
        let scope: BatchScope = deletes ? .reach : .own
        let joined = joined(scope)
        waitingJobs.add(1, ordering: .acquiringAndReleasing)
        held[0].executor.enqueue {
            self.waitingJobs.subtract(1, ordering: .acquiringAndReleasing)
            let saved = Swift.Result {
                try PrivateTier.holding(held.dropFirst()) {
                    try PrivateTier.save(in: [self], joined, holding: held, isAwaited: true, scope) {
                        try work($0[0])
                    }
                }
            }
            admission.endBatch()
            guard case .success(let work) = saved, let number = work.uncommitted else { return finish(saved) }
            self.stack.root.whenCommitted(number) { committed in
                finish(committed.map { work }.mapError { $0 })
            }
        }
    }
}

/// Whether that is the actor on which the caller runs. It is a function of its own because the compiler of Swift 6.3 fails on
/// the comparison when it is optimized into an async function.
@inline(never)
private func isMainActor(_ actor: (any Actor)?) -> Bool { actor === MainActor.shared }
