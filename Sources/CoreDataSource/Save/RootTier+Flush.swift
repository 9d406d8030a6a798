package import RowStore

/// Waiting for the store.
///
/// What another executor throws is carried over as a result, here and wherever a call goes to one, and thrown by the caller.
/// Optimized code of Swift 6.3 does not return to the caller's actor otherwise: https://github.com/swiftlang/swift/issues/88259.
extension RootTier {
    /// Waits for the outcome of the save with that number.
    package func committed(_ number: Int64) async throws {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, DataSourceError>, Never>) in
            whenCommitted(number) { continuation.resume(returning: $0) }
        }
        try outcome.get()
    }

    /// Blocks until the outcome of the save with that number is known.
    package func waitUntilCommitted(_ number: Int64) throws(DataSourceError) {
        try block { whenCommitted(number, $0) }
    }

    /// Commits everything that is pending.
    package func flush() async throws { try await flushed().get() }

    /// Commits everything that is pending, and says what came of it.
    func flushed() async -> Result<Void, DataSourceError> {
        await withCheckedContinuation { continuation in
            flush { continuation.resume(returning: $0) }
        }
    }

    /// Commits everything that is pending, and blocks until it is done.
    package func flushAndWait() throws(DataSourceError) {
        try block(flush)
    }

    /// Commits everything that is pending, even after a failure; calls back when it is done.
    func flush(_ waiter: @escaping CommitWaiters.Waiter) {
        let isDone = state.withLock { state in
            state.forgetFailure()
            if state.log.pendingCount == 0 && state.log.committing == nil { return true }
            let begun = state.log.commitCount
            state.waiters.add(state.log.newest, .flush) { result in
                if case .failure = result, self.isCommitting(begun) {
                    // It began before this call, and may not include what has changed since.
                    self.queue.async { self.flush(waiter) }
                } else {
                    waiter(result)
                }
            }
            return false
        }
        if isDone { waiter(.success(())) } else { commitSoon() }
    }

    /// Whether the commit that began as the one of that number is under way.
    private func isCommitting(_ number: Int) -> Bool {
        state.withLock { $0.log.committing != nil && $0.log.commitCount == number }
    }

    /// Accepts no more saves: further ones are refused with `storeClosed`.
    package func stopAccepting() {
        state.withLock { $0.isClosed = true }
    }

    /// - Throws: `storeClosed` if no more saves are accepted.
    func checkOpen() throws(DataSourceError) {
        if state.withLock({ $0.isClosed }) { throw RootTier.closed }
    }

    /// Runs the attempt on the queue repeatedly until no commit is under way and it returns a value, and continues with that.
    /// No thread waits meanwhile.
    func betweenCommits<R: Sendable>(
        _ attempt: @escaping @Sendable (inout State) -> R?, then body: @escaping @Sendable (R) -> Void
    ) {
        queue.async {
            let result = self.state.withLock { state -> R? in
                if let result = attempt(&state) { return result }
                state.waiters.add(state.log.newest, .end) { _ in self.betweenCommits(attempt, then: body) }
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

/// Writing rows of a large save while its hooks still run.
///
/// The rows go into a transaction that nobody sees. The save itself goes through everything that other saves go through; only
/// its commit finds rows that are there already. Whoever else has anything to write has the transaction rolled back.
extension RootTier {
    /// How long an open transaction may stand still before it is rolled back: other programs cannot write to a file meanwhile.
    private static let longestPause = Duration.milliseconds(250)
    /// How many such pauses it may last in all.
    private static let longestTime = 20

    /// Has the rows written on the queue, as far as nobody has anything else to write.
    func write(_ rows: NewRows, for earlyWrite: EarlyWrite) {
        if earlyWrite.add(rows) { writeNext(earlyWrite) }
    }

    /// Writes what was added in one piece, and goes on after whatever else waits for the queue.
    private func writeNext(_ earlyWrite: EarlyWrite) {
        queue.async {
            guard let store = self.earlyWriteStore, let rows = earlyWrite.next(of: store.rowsWrittenEarly) else {
                return
            }
            // Of this save or of another one: its commit does the rest.
            guard self.pendingSaveCount == 0, store.write(rows, for: earlyWrite) else { return earlyWrite.end() }
            if earlyWrite.watch() { self.watch(earlyWrite, seen: earlyWrite.progress, turnsLeft: Self.longestTime) }
            self.writeNext(earlyWrite)
        }
    }

    /// Rolls back what was written early for a save that does not go on, or takes too long.
    private func watch(_ earlyWrite: EarlyWrite, seen: Int, turnsLeft: Int) {
        scheduling.after(RootTier.longestPause) { [weak self, weak earlyWrite] in
            guard let self, let earlyWrite, earlyWrite.isOpen else { return }
            let progress = earlyWrite.progress
            if progress == seen || turnsLeft == 0 { return self.abandon(earlyWrite) }
            self.watch(earlyWrite, seen: progress, turnsLeft: turnsLeft - 1)
        }
    }

    /// Rolls back what was written early for a save that will not be made.
    func abandon(_ earlyWrite: EarlyWrite) {
        earlyWrite.end()
        earlyWriteStore?.abandon(earlyWrite)
    }

    /// Waits until the queue has done what was enqueued so far. For tests.
    package func waitForQueue() { queue.sync {} }
}

/// Changes that the store makes itself, without anybody holding the rows.
extension RootTier {
    /// Makes a bulk change, and has everyone reload the rows of its entities.
    ///
    /// The caller has the queues of all contexts that may change these entities, so no save of them is made meanwhile. Those that
    /// were made before are committed first, and other data sources save as always.
    ///
    /// - Parameters:
    ///   - source: The data source that makes the change.
    ///   - basis: How far the caller's context had followed the feed when it found out what to change.
    /// - Returns: How many rows changed.
    /// - Throws: `storeClosed`; `storeReset`; `saveTakenBack` if an earlier save of the data source was refused meanwhile; what keeps
    ///   earlier saves of these entities from being committed, and what the store throws. Nothing has happened then.
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
        }
        let count = try store.make(change)
        // Everybody is notified, whether or not a reset that has begun meanwhile succeeds.
        let isReset = state.withLock { state in
            if count > 0 {
                state.feed.append(.unknown(entities))
                state.log.forgetForMain(.bulkChange)
            }
            return basis.generation < state.log.generation
        }
        wakeMainIfListening()
        if isReset { throw RootTier.storeReset }
        return count
    }

    private func commitSaves(of entities: Set<Int>) throws(DataSourceError) {
        let flushed = Result { () throws(DataSourceError) in try flushAndWait() }
        let isPending = state.withLock { state in
            state.log.pending.contains { $0.changes.entities.contains { entities.contains($0.entity) } }
        }
        // If saves of other entities were refused, those who made them get the reason.
        if isPending { try flushed.get() }
    }
}
