package import RowStore

/// Emptying the store while the app runs.
extension RootContext {
    /// Empties the store, once the commit that is under way has ended. Saves that are not in the store are lost, and so are
    /// those that are based on older rows.
    ///
    /// - Throws: What the store throws; everything is unchanged then.
    package func reset() async throws -> StoreStartup {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<StoreStartup, DataSourceError>, Never>) in
            betweenCommits {
                $0.log.beginReset() ? true : nil
            } then: { _ in
                continuation.resume(returning: self.resetOnQueue())
            }
        }
        return try outcome.get()
    }

    private func resetOnQueue() -> Result<StoreStartup, DataSourceError> {
        var ended: (notifications: [State.Notification], reports: [StoreFailure.Report]) = ([], [])
        let result = Result { () throws(DataSourceError) in
            // While reads wait: a read of the new store must not lay rows over it that were saved before.
            try store.reset {
                ended = state.withLock { $0.empty() }
                leases?.forget()
            }
        }
        state.withLock { $0.log.endReset() }
        for (waiter, result) in ended.notifications { waiter(result) }
        for report in ended.reports { failures.report(report) }
        didTakeBack()
        if pendingSaveCount > 0 { commitSoon() }
        return result
    }

    /// - Throws: `storeReset` if the store has other rows than those of that generation.
    package func checkNotReset(since basis: FeedPosition) throws(DataSourceError) {
        if state.withLock({ $0.log.isResetting || basis.generation < $0.log.generation }) {
            throw RootContext.storeReset
        }
    }
}
