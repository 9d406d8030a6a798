internal import RowStore

extension RootContext {
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
