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
    fileprivate static let discarded = DataSourceError(
        .pendingDiscarded, "The save was discarded, with all that were not in the store yet. Make it again.")
    static let storeReset = DataSourceError(
        .storeReset, "The store was reset while this was being done, so nothing of it is in the new one. Do it again.")
    fileprivate static let closed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")

    /// The log, and who waits for it.
    struct State {
        var log = SaveLog()
        var waiters = CommitWaiters()
        /// The numbers of saves that were discarded or lost with the old store: the log counts them as committed.
        private var lost: [(numbers: ClosedRange<Int64>, error: DataSourceError)] = []
        /// Whether no more saves are taken.
        var isClosed = false
        /// The last commit that failed, until one succeeds.
        var failure: (through: Int64, error: DataSourceError)?

        /// The outcome for a save, if it is known and everyone who asked before has been told theirs; otherwise the waiter
        /// will be told.
        mutating func await(
            _ number: Int64, _ waiter: @escaping CommitWaiters.Waiter
        ) -> Result<Void, DataSourceError>? {
            if let outcome = outcome(number) { return outcome }
            waiters.add(number, waiter)
            return nil
        }

        /// The outcome for a save, if it is known and everyone who waits for it has been told theirs; nil otherwise.
        func outcome(_ number: Int64) -> Result<Void, DataSourceError>? {
            if log.committing?.contains(number) == true { return nil }
            if log.committed >= number {
                return lost.first { $0.numbers.contains(number) }.map { .failure($0.error) } ?? .success(())
            }
            if let failure, failure.through >= number { return .failure(failure.error) }
            return nil
        }

        /// Forgets the pending saves, unless a commit is under way.
        ///
        /// - Returns: How many they were, and who is to be told.
        mutating func discardPending() -> (count: Int, waiters: [CommitWaiters.Waiter])? {
            let first = log.committed + 1
            guard let count = log.discardPending() else { return nil }
            failure = nil
            return (count, lose(from: first, RootContext.discarded))
        }

        /// Notes that saves up to the newest will never be in the store.
        ///
        /// - Returns: Who is to be told.
        private mutating func lose(from first: Int64, _ error: DataSourceError) -> [CommitWaiters.Waiter] {
            if first <= log.newest { lost.append((first...log.newest, error)) }
            return waiters.take(through: log.newest)
        }

        /// Ends a reset; if the store was emptied, what was pending is lost.
        ///
        /// - Returns: Who is to be told.
        mutating func endReset(isEmptied: Bool) -> [CommitWaiters.Waiter] {
            let first = log.committed + 1
            log.endReset(isEmptied: isEmptied)
            guard isEmptied else { return [] }
            failure = nil
            return lose(from: first, RootContext.storeReset)
        }

        /// Why a save that is based on rows of that generation cannot be taken; nil if it can.
        func refusal(ofGeneration generation: Int) -> DataSourceError? {
            if log.isResetting || generation < log.lastReset { return RootContext.storeReset }
            return generation == log.generation ? nil : RootContext.discarded
        }

        mutating func noteCommit(_ result: Result<Void, DataSourceError>) {
            switch result {
            case .success: failure = nil
            case .failure(let error): failure = (log.committing?.upperBound ?? 0, error)
            }
            log.noteCommit(succeeded: failure == nil)
        }

        /// Who is to be told how the commit came out; once there is nobody, the commit has ended.
        ///
        /// - Returns: The waiters, or whether saves came in meanwhile.
        mutating func endCommit() -> (waiters: [CommitWaiters.Waiter], isMoreWaiting: Bool?) {
            let waiting = waiters.take(through: log.committing?.upperBound ?? 0)
            return (waiting, waiting.isEmpty ? log.endCommit() : nil)
        }
    }
}

/// Who waits for which save.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void
    private var waiting: [(number: Int64, waiter: Waiter)] = []

    mutating func add(_ number: Int64, _ waiter: @escaping Waiter) {
        waiting.append((number, waiter))
    }

    mutating func take(through number: Int64) -> [Waiter] {
        if waiting.isEmpty { return [] }
        let taken = waiting.filter { $0.number <= number }
        waiting.removeAll { $0.number <= number }
        return taken.map(\.waiter)
    }
}
