internal import Dispatch
package import RowStore

/// The last tier: it writes saves to the store, in the order in which they were made, all waiting ones in one transaction.
///
/// Whoever saves while the store is idle commits at once, on its own thread. Whoever saves while a commit is under way
/// leaves its changes in the log; they are committed together as soon as the store is free.
package final class RootContext: Sendable {
    package let store: any PersistentStore
    let state = Guarded(State())
    let queue = DispatchQueue(label: "CoreDataSource.root", qos: .userInitiated)
    /// Told after a save was logged, when main has to be woken.
    private let wakeMain: @Sendable () -> Void

    package init(store: any PersistentStore, wakeMain: @escaping @Sendable () -> Void) {
        self.store = store
        self.wakeMain = wakeMain
    }

    /// The saves that are visible but not in the store yet.
    package var pendingSaveCount: Int { state.withLock { $0.log.pendingCount } }

    /// The number of the newest save.
    package var newestSave: Int64 { state.withLock { $0.log.newest } }

    /// How often pending saves were discarded.
    package var generation: Int { state.withLock { $0.log.generation } }

    // MARK: Saving

    /// Takes a save: from here on every fetch sees it. It is not in the store yet.
    ///
    /// - Parameter generation: The generation of the rows that the save is based on.
    /// - Returns: The number of the save.
    package func accept(_ changes: ChangeSet, generation: Int) throws(DataSourceError) -> Int64 {
        let accepted = try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootContext.closed }
            if let refusal = state.refusal(ofGeneration: generation) { throw refusal }
            return (number: state.log.append(changes), isMainListening: state.log.merged != nil)
        }
        if accepted.isMainListening { wakeMain() }
        return accepted.number
    }

    /// Commits what is pending on this thread, if no other commit is under way.
    ///
    /// - Returns: Whether the save of that number has been committed. If not, whoever commits now will commit it next.
    package func commitInPlace(_ number: Int64) throws(DataSourceError) -> Bool {
        guard let group = state.withLock({ $0.log.takeForCommit() }) else {
            guard let outcome = state.withLock({ $0.outcome(number) }) else { return false }
            try outcome.get()
            return true
        }
        let (result, isMoreWaiting) = commit(group)
        if isMoreWaiting { commitSoon() } else if store.needsUpkeep { queue.async { self.upkeep() } }
        if let first = group.first, first.number <= number {
            try result.get()
        } else {
            try state.withLock { $0.outcome(number) }?.get()
        }
        return true
    }

    /// Commits what is pending as soon as the store is free.
    package func commitSoon() {
        queue.async { self.drain() }
    }

    /// Calls back once the save of that number is in the store, or a commit that would have written it has failed.
    package func whenCommitted(_ number: Int64, _ waiter: @escaping CommitWaiters.Waiter) {
        if let outcome = state.withLock({ $0.await(number, waiter) }) { waiter(outcome) }
    }

    /// Forgets the saves that are not in the store, once the commit that is under way has ended.
    ///
    /// - Returns: How many they were.
    package func discardPending() async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.discardOnQueue()) }
        }
    }

    private func discardOnQueue() -> Int {
        let discarded = betweenCommits { $0.discardPending() }
        for waiter in discarded.waiters { waiter(.failure(RootContext.discarded)) }
        return discarded.count
    }

    /// Waits until no commit is under way and the body returns something; on the queue only.
    func betweenCommits<R: Sendable>(_ body: (inout State) -> R?) -> R {
        while true {
            let ended = DispatchSemaphore(value: 0)
            let result = state.withLock { state in
                let result = body(&state)
                if result == nil, let committing = state.log.committing {
                    state.waiters.add(committing.upperBound) { _ in ended.signal() }
                }
                return result
            }
            if let result { return result }
            ended.wait()
        }
    }

    private func drain() {
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            let (result, isMoreWaiting) = commit(group)
            // A group that failed is tried again with the next save, not in a loop.
            if case .failure = result, !isMoreWaiting { return }
        }
        upkeep()
    }

    /// Lets the store do what it put off, unless there is something to commit by now.
    private func upkeep() {
        if store.needsUpkeep, pendingSaveCount == 0 { store.upkeep() }
    }

    func commit(_ group: [ChangeSet]) -> (result: Result<Void, DataSourceError>, isMoreWaiting: Bool) {
        let result = Result { () throws(DataSourceError) in try store.commit(group) }
        state.withLock { $0.noteCommit(result) }
        // The next commit begins when all have been told of this one, so everybody hears of saves in their order.
        while true {
            let (waiters, isMoreWaiting) = state.withLock { $0.endCommit() }
            if let isMoreWaiting { return (result, isMoreWaiting) }
            for waiter in waiters { waiter(result) }
        }
    }

    // MARK: Main

    package func startMerging() { state.withLock { $0.log.startMerging() } }
    package func stopMerging() { state.withLock { $0.log.stopMerging() } }

    /// The saves that main has not merged yet, and the generation that began with the last reset before them.
    package func takeForMain() -> (saves: [ChangeSet], lastReset: Int) {
        state.withLock { ($0.log.takeForMain(), $0.log.lastReset) }
    }

    // MARK: Fetching

    /// Reads the store, and returns with it the saves to lay over what was read.
    package func read<R>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> (result: R, saves: [LoggedSave], asOf: Int64) {
        let start = state.withLock { $0.log.beginRead() }
        let result = Result { () throws(DataSourceError) in try store.read(isolation, body) }
        let (saves, newest) = state.withLock { ($0.log.endRead(after: start), $0.log.newest) }
        return (try result.get(), saves, newest)
    }
}

extension RootContext {
    static let discarded = DataSourceError(
        .pendingDiscarded, "The save was discarded, with all that were not in the store yet. Make it again.")
    static let storeReset = DataSourceError(
        .storeReset, "The store was reset while this was being done, so nothing of it is in the new one. Do it again.")
    static let closed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")
}
