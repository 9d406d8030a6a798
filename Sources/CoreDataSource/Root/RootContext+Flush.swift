internal import Dispatch
package import RowStore

/// Waiting for the store.
extension RootContext {
    /// Waits until the save of that number is in the store.
    package func committed(_ number: Int64) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            whenCommitted(number) { continuation.resume(with: $0.mapError { $0 }) }
        }
    }

    /// Blocks until the save of that number is in the store.
    package func waitUntilCommitted(_ number: Int64) throws(DataSourceError) {
        try block { whenCommitted(number, $0) }
    }

    /// Commits everything that is pending.
    package func flush() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            flush { continuation.resume(with: $0.mapError { $0 }) }
        }
    }

    /// Commits everything that is pending, and blocks until it is done.
    package func flushAndWait() throws(DataSourceError) {
        try block(flush)
    }

    /// Commits everything that is pending, even if that has failed before; calls back when it is done.
    func flush(_ waiter: @escaping CommitWaiters.Waiter) {
        let outcome = state.withLock { state -> Result<Void, DataSourceError>? in
            state.failure = nil
            if state.log.pendingCount == 0 { return .success(()) }
            let begun = state.log.commitCount
            return state.await(state.log.newest) { result in
                if case .failure = result, self.isCommitting(begun) {
                    // It had begun before this was called, and may not have seen what has changed since.
                    self.queue.async { self.flush(waiter) }
                } else {
                    waiter(result)
                }
            }
        }
        if let outcome { waiter(outcome) } else { commitSoon() }
    }

    /// Whether the commit that began as the one of that number is under way.
    private func isCommitting(_ number: Int) -> Bool {
        state.withLock { $0.log.committing != nil && $0.log.commitCount == number }
    }

    /// Takes no more saves: what is made from now on is refused with `storeClosed`.
    package func stopAccepting() {
        state.withLock { $0.isClosed = true }
    }

    /// Commits what is pending on this thread, once; waits for a commit that is under way on another.
    ///
    /// It needs no queue, so it may be called wherever the last reference to a container happens to go.
    package func commitPending() {
        while true {
            let ended = DispatchSemaphore(value: 0)
            let (group, isUnderWay) = state.withLock { state in
                let group = state.log.takeForCommit()
                if let committing = state.log.committing, group == nil {
                    state.waiters.add(committing.upperBound) { _ in ended.signal() }
                    return (group, true)
                }
                return (group, false)
            }
            if isUnderWay { ended.wait() }
            if let group {
                // There is nobody left to tell of a failure.
                _ = commit(group)
                return
            }
            if !isUnderWay { return }
        }
    }

    private func block(_ start: (@escaping CommitWaiters.Waiter) -> Void) throws(DataSourceError) {
        let done = DispatchSemaphore(value: 0)
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
