package import RowStore

/// Waiting for the store.
///
/// What another executor throws is carried over as a result, here and wherever a call goes to one, and thrown by the caller.
/// Optimized code of Swift 6.3 does not return to the caller's actor otherwise: https://github.com/swiftlang/swift/issues/88259.
extension RootContext {
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
        if state.withLock({ $0.isClosed }) { throw RootContext.closed }
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
