package import RowStore

/// Waiting for the store.
///
/// A call to another executor returns a `Result`, and the caller throws the error of the `Result`. If the called function threw
/// the error, optimized code of Swift 6.3 would not return to the caller's actor:
/// https://github.com/swiftlang/swift/issues/88259.
extension RootTier {
    /// Waits for the outcome of a save.
    ///
    /// - Throws: The error with which the save was refused.
    package func committed(_ number: SaveNumber) async throws {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, DataSourceError>, Never>) in
            whenCommitted(number) { continuation.resume(returning: $0) }
        }
        try outcome.get()
    }

    /// Blocks until the outcome of a save is known.
    ///
    /// - Throws: The error with which the save was refused.
    package func waitUntilCommitted(_ number: SaveNumber) throws(DataSourceError) {
        try block { whenCommitted(number, $0) }
    }

    /// Commits all pending saves.
    package func flush() async throws { try await flushed().get() }

    /// Commits all pending saves, and returns the outcome.
    func flushed() async -> Result<Void, DataSourceError> {
        await withCheckedContinuation { continuation in
            flush { continuation.resume(returning: $0) }
        }
    }

    /// Commits the pending saves of an author. The saves of others are committed, too, but their errors are ignored.
    ///
    /// - Parameter author: The author; an empty string for saves without an author.
    /// - Throws: If saves of the author are still pending, the error that prevented their commit. A refused save is not
    ///   pending.
    package func commitSaves(ofAuthor author: String) async throws {
        func isPending() -> Bool {
            state.withLock { state in
                state.log.containsPending { ($0.changes.facts?.author ?? "") == author }
            }
        }
        guard isPending() else { return }
        let outcome = await flushed()
        if isPending() { try outcome.get() }
    }

    /// Commits all pending saves, and blocks until the outcome of all these saves is known.
    package func flushAndWait() throws(DataSourceError) {
        try block(flush)
    }

    /// Commits all pending saves, even after a failure. Calls the waiter when the outcome of all these saves is known.
    func flush(_ waiter: @escaping CommitWaiters.Waiter) {
        let isDone = state.withLock { state in
            state.forgetFailure()
            if state.log.pendingCount == 0 && state.log.committing == nil { return true }
            // If the running commit fails, only a new commit can end the flush.
            state.log.requestAnotherCommit()
            let begun = state.log.commitCount
            state.waiters.add(state.log.newest, .flush, afterCommit: begun) { result in
                if case .failure = result, self.isCommitting(begun) {
                    // The failed commit began before this call, so it might lack the newest saves.
                    self.queue.async { self.flush(waiter) }
                } else {
                    waiter(result)
                }
            }
            return false
        }
        if isDone { waiter(.success(())) } else { commitSoon() }
    }

    /// Whether the commit with a number is running.
    private func isCommitting(_ number: Int) -> Bool {
        state.withLock { $0.log.committing != nil && $0.log.commitCount == number }
    }

    /// Refuses all further saves with `storeClosed`.
    package func stopAccepting() {
        let watch = state.withLock { state in
            state.isClosed = true
            return state.outsideChecks.stop()
        }
        watch?.end()
        scopes.close()
    }

    /// Whether all further saves are refused.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// - Throws: `storeClosed` if no more saves are accepted.
    func checkOpen() throws(DataSourceError) {
        if isClosed { throw RootTier.closed }
    }

    /// Runs an attempt on the queue, and repeats it after each commit until the attempt returns a value. Then runs the body
    /// with the value. No thread is blocked during the wait.
    func betweenCommits<R: Sendable>(
        _ attempt: @escaping @Sendable (inout State) -> R?, then body: @escaping @Sendable (R) -> Void
    ) {
        queue.async {
            let result = self.state.withLock { state -> R? in
                if let result = attempt(&state) { return result }
                state.waiters.add(state.log.newest, .end, afterCommit: state.log.commitCount) { _ in
                    self.betweenCommits(attempt, then: body)
                }
                return nil
            }
            if let result { body(result) }
        }
    }

    private func block(_ start: (@escaping CommitWaiters.Waiter) -> Void) throws(DataSourceError) {
        let done = scheduling.makeSignal()
        let outcome = Outcome()
        start {
            outcome.set($0)
            done.signal()
        }
        done.wait()
        try outcome.get()
    }
}

/// The result that a blocked thread waits for.
private final class Outcome: Sendable {
    private let result = Guarded<Result<Void, DataSourceError>>(.success(()))

    func set(_ result: Result<Void, DataSourceError>) { self.result.withLock { $0 = result } }
    func get() throws(DataSourceError) { try result.withLock { $0 }.get() }
}

/// Early writes: rows of a large save are written while its hooks still run.
///
/// The rows are written in an open transaction, which no reader sees. The save itself is handled like other saves, but at its
/// commit these rows are already written. Any other write first rolls back the open transaction.
extension RootTier {
    /// The longest time without progress before an open transaction is rolled back. Other programs cannot write to the file
    /// while the transaction is open.
    private static let maxIdleTime = Duration.milliseconds(250)
    /// The longest duration of an open transaction, as a multiple of `maxIdleTime`.
    private static let maxTurns = 20

    /// Writes rows early, on the queue, until another save must be written.
    func write(_ rows: NewRows, for earlyWrite: EarlyWrite) {
        if earlyWrite.add(rows) { writeNext(earlyWrite) }
    }

    /// Writes the next part of the added rows, and then enqueues the following part behind other work on the queue.
    private func writeNext(_ earlyWrite: EarlyWrite) {
        queue.async {
            guard let store = self.earlyWriteStore, let rows = earlyWrite.next(of: store.rowsWrittenEarly) else {
                return
            }
            // Stop as soon as a save is pending. If the pending save has these rows, its commit writes the remaining rows.
            // Any other save takes precedence.
            guard self.pendingSaveCount == 0, store.write(rows, for: earlyWrite) else { return earlyWrite.end() }
            if earlyWrite.watch() { self.watch(earlyWrite, seen: earlyWrite.progress, turnsLeft: Self.maxTurns) }
            self.writeNext(earlyWrite)
        }
    }

    /// Rolls back an early write that makes no progress or takes too long.
    private func watch(_ earlyWrite: EarlyWrite, seen: Int, turnsLeft: Int) {
        scheduling.after(RootTier.maxIdleTime) { [weak self, weak earlyWrite] in
            guard let self, let earlyWrite, earlyWrite.isOpen else { return }
            let progress = earlyWrite.progress
            if progress == seen || turnsLeft == 0 { return self.abandon(earlyWrite) }
            self.watch(earlyWrite, seen: progress, turnsLeft: turnsLeft - 1)
        }
    }

    /// Ends an early write, and rolls back its rows.
    func abandon(_ earlyWrite: EarlyWrite) {
        earlyWrite.end()
        earlyWriteStore?.abandon(earlyWrite)
    }

    /// Waits until all work enqueued so far has run. For tests.
    package func waitForQueue() { queue.sync {} }
}

/// Bulk changes: the store changes rows without reading them into a context.
extension RootTier {
    /// Makes a bulk change. Afterwards all contexts reload the rows of the changed entities.
    ///
    /// The caller blocks the queues of all contexts that can change these entities, so no context saves objects of the
    /// entities during the call. Earlier saves of such objects are committed first. Other data sources save as usual.
    ///
    /// - Parameters:
    ///   - source: The data source that makes the change.
    ///   - basis: The feed position of the caller's context when the caller decided what to change.
    /// - Returns: The number of changed rows.
    /// - Throws: `storeClosed`; `storeReset`; `saveRolledBack` if a save of the data source was rolled back after `basis`;
    ///   the errors of earlier saves of these entities that cannot be committed; errors of the store. If the call
    ///   throws, it changes nothing, except for `storeReset`: a reset during the call empties the store.
    package func make(
        _ change: BulkChange, from source: SaveSource, basis: FeedPosition
    ) throws(DataSourceError) -> Int {
        guard let store = bulkStore else { preconditionFailure("The store makes no bulk changes.") }
        let entities = Set(change.queries.map(\.entity))
        try commitSaves(of: entities)
        try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootTier.closed }
            if let refusal = state.refusal(source.origin, basedOn: basis) { throw refusal }
            state.bulkChangeCount += 1
            state.unrecordedChangeCount += 1
        }
        defer { state.withLock { $0.unrecordedChangeCount -= 1 } }
        let count = try store.make(change)
        // Notify all contexts and loops even if a reset has begun, because the reset may still fail.
        let isReset = state.withLock { state in
            if count > 0 {
                state.feed.append(.unknown(entities))
                state.log.makeMainReload(.bulkChange)
            }
            return basis.generation < state.log.generation
        }
        notifyMainIfListening()
        if count > 0 {
            saves.publish(unknown: .bulkChange, entities)
            scopes.didChange()
        }
        if isReset { throw RootTier.storeReset }
        return count
    }

    private func commitSaves(of entities: Set<Int>) throws(DataSourceError) {
        let flushed = Result { () throws(DataSourceError) in try flushAndWait() }
        let isPending = state.withLock { state in
            state.log.pending.contains { $0.changes.entities.contains { entities.contains($0.entity) } }
        }
        // Ignore the errors of saves of other entities: the callers of those saves get them.
        if isPending { try flushed.get() }
    }
}
