internal import RowStore

extension RootTier {
    /// The log, and the callers that wait for it.
    struct State {
        var log: SaveLog
        var feed = Feed()
        var waiters = CommitWaiters()
        /// The errors of saves that were taken back and whose callers have not asked yet.
        private var refused: [Int64: DataSourceError] = [:]
        /// Whether no more saves are accepted.
        var isClosed = false
        /// The last commit that failed as a whole, until one succeeds.
        private(set) var failure: (through: Int64, error: DataSourceError)?
        /// The first save that was refused by the commit that is ending.
        private var refusal: (number: Int64, error: DataSourceError)?
        /// How many commits have failed in a row.
        private(set) var failureCount = 0
        /// Whether a commit that failed is to be tried again.
        var isRetryScheduled = false
        /// Whether postponed saves are to be tried again.
        var isResumeScheduled = false
        /// How often in a row saves were postponed.
        private(set) var postponeCount = 0
        /// Whether writes of other programs are checked for from time to time.
        var isFollowingOutsideWrites = false
        var outsideWrites = OutsideNews()
        /// How many bulk changes have begun. Reads that began before the last one are made once more.
        var bulkChangeCount = 0
        /// What a read must be made once more after.
        var readBasis: ReadBasis { ReadBasis(generation: log.generation, bulkChangeCount: bulkChangeCount) }
        /// Everything that other containers have saved up to this position is in the log.
        var followed: Int64

        init(_ log: SaveLog, followed: Int64 = 0) {
            self.log = log
            self.followed = followed
        }

        // MARK: Outcomes

        /// The outcome of a save, if it is known and everyone who asked before has been notified; otherwise nil. It is returned
        /// once.
        mutating func takeOutcome(_ number: Int64) -> Result<Void, DataSourceError>? {
            log.committing?.contains(number) == true ? nil : outcome(number)
        }

        private mutating func outcome(_ number: Int64) -> Result<Void, DataSourceError>? {
            if let error = refused.removeValue(forKey: number) { return .failure(error) }
            return log.committed >= number || !log.isPending(number) ? .success(()) : nil
        }

        /// The result of a flush up to that save; nil if it must wait longer.
        private func flushed(_ number: Int64) -> Result<Void, DataSourceError>? {
            if let refusal, refusal.number <= number { return .failure(refusal.error) }
            if log.committed >= number { return .success(()) }
            if let failure, failure.through >= number { return .failure(failure.error) }
            return nil
        }

        /// Makes all waiters wait for the result of the next commit.
        mutating func forgetFailure() {
            failure = nil
            failureCount = 0
            log.resume()
        }

        // MARK: Commits

        /// Notes the outcome of the commit that is under way, and takes back what was refused.
        ///
        /// - Returns: What must be reported.
        mutating func noteCommit(_ result: Result<GroupOutcome, DataSourceError>) -> [StoreFailure.Report] {
            switch result {
            case .success(let outcome):
                (failure, failureCount) = (nil, 0)
                let errors = outcome.refused
                log.noteCommitted(except: Set(errors.keys).union(outcome.postponed))
                if let first = errors.min(by: { $0.key < $1.key }) { refusal = (first.key, first.value) }
                let reports = takeBack(Set(errors.keys)) { number, cause in errors[number] ?? cause }
                return reports + postpone(outcome)
            case .failure(let error):
                failureCount += 1
                return fail(log.pending.map(\.changes.number), error)
            }
        }

        /// Lets saves wait for other programs; who has waited for too long gets the error.
        private mutating func postpone(_ outcome: GroupOutcome) -> [StoreFailure.Report] {
            guard let error = outcome.cause else {
                postponeCount = 0
                return []
            }
            postponeCount += 1
            let late = log.postpone(outcome.postponed, at: outcome.end, since: outcome.lockLimit).map(\.changes.number)
            return late.isEmpty ? [] : fail(late, error)
        }

        /// Saves of the commit that is ending cannot be written now: calls do not wait for them any longer.
        private mutating func fail(_ numbers: [Int64], _ error: DataSourceError) -> [StoreFailure.Report] {
            let through = log.committing?.upperBound ?? 0
            failure = (through, error)
            let failed = Set(numbers.filter { $0 <= through })
            let awaited = Set(
                log.pending.filter { $0.isAwaited && failed.contains($0.changes.number) }.map(\.changes.number))
            let reports = takeBack(awaited) { number, _ in
                awaited.contains(number) ? error : DataSourceError(takenBackAfter: error)
            }
            let delayed = log.noteDelay(of: failed).compactMap { save in
                save.source.map { StoreFailure.Report(.saveDelayed, error, $0) }
            }
            return reports + delayed
        }

        /// Takes back saves, and later ones of their origins.
        ///
        /// - Parameter cause: The error for a save; the second argument is the error for saves that depend on another.
        /// - Returns: What must be reported.
        mutating func takeBack(
            _ numbers: Set<Int64>, _ cause: (Int64, DataSourceError) -> DataSourceError
        ) -> [StoreFailure.Report] {
            guard !numbers.isEmpty, let (saves, _) = log.takeBack(numbers) else { return [] }
            feed.append(
                takeBack: ChangeSet(undoing: saves.map(\.changes)), ofOrigins: Set(saves.map(\.changes.origin)))
            var first: [Int: DataSourceError] = [:]
            return saves.compactMap { save in
                let number = save.changes.number
                let origin = save.changes.origin
                let error = cause(number, DataSourceError(takenBackAfter: first[origin] ?? RootTier.discarded))
                if first[origin] == nil { first[origin] = error }
                if save.isAwaited {
                    refused[number] = error
                    return nil
                }
                return save.source.map { StoreFailure.Report(.saveRefused, error, $0) }
            }
        }

        /// The waiters to notify, with their results; when there are none left, the commit has ended.
        ///
        /// - Returns: The waiters, or whether saves came in meanwhile.
        mutating func endCommit() -> (notifications: [Notification], isMoreWaiting: Bool?) {
            let notifications = takeNotifications()
            if !notifications.isEmpty { return (notifications, nil) }
            refusal = nil
            return ([], log.endCommit())
        }

        typealias Notification = (waiter: CommitWaiters.Waiter, result: Result<Void, DataSourceError>)

        private mutating func takeNotifications() -> [Notification] {
            var waiting = waiters
            let notifications = waiting.take { entry in
                switch entry.event {
                case .outcome: outcome(entry.number)
                case .flush: flushed(entry.number)
                case .end: .success(())
                }
            }
            waiters = waiting
            return notifications
        }

        // MARK: Ends

        /// Takes back all pending saves, unless a commit is under way.
        ///
        /// - Returns: How many saves were taken back, and the waiters to notify.
        mutating func discardPending() -> (count: Int, notifications: [Notification])? {
            guard log.committing == nil else { return nil }
            let numbers = Set(log.pending.map(\.changes.number))
            _ = takeBack(numbers) { _, _ in RootTier.discarded }
            forgetFailure()
            return (numbers.count, takeNotifications())
        }

        /// The store was emptied: what was pending is lost.
        mutating func empty() -> (notifications: [Notification], reports: [StoreFailure.Report]) {
            let lost = log.empty()
            followed = 0
            forgetFailure()
            feed.append(.unknown(nil))
            for save in lost where save.isAwaited { refused[save.changes.number] = RootTier.storeReset }
            let reports = lost.compactMap { save in
                save.isAwaited ? nil : save.source.map { StoreFailure.Report(.saveRefused, RootTier.storeReset, $0) }
            }
            return (takeNotifications(), reports)
        }

        /// Why a save that is based on rows of that state cannot be accepted; nil if it can.
        func refusal(_ origin: Int, basedOn basis: FeedPosition) -> DataSourceError? {
            if log.isResetting || basis.generation < log.generation { return RootTier.storeReset }
            guard feed.hasTakenBack(origin, after: basis.number) else { return nil }
            return DataSourceError(takenBackAfter: failure?.error ?? RootTier.discarded)
        }
    }
}

/// While this is the same, pending rows can be laid over what a read finds in the store.
struct ReadBasis: Equatable {
    let generation: Int
    let bulkChangeCount: Int
}

/// How much of the feed a follower has taken in.
package struct FeedPosition: Sendable, Equatable {
    /// How often the store had been reset.
    package var generation: Int
    /// The number of events.
    package var number: Int64
}

/// The positions at which the fetches under way began.
struct OpenReads {
    /// The numbers of the saves that were committed then, the lowest first, and how many fetches began at each.
    private var starts: [(number: Int64, count: Int)] = []

    /// Where the oldest of them began; nil if none is under way.
    var oldest: Int64? { starts.first?.number }

    /// - Parameter number: At least the number of the previous fetch.
    mutating func begin(at number: Int64) {
        if let last = starts.last, last.number == number {
            starts[starts.count - 1].count += 1
        } else {
            starts.append((number, 1))
        }
    }

    mutating func end(from number: Int64) {
        guard let place = starts.firstIndex(where: { $0.number == number }) else { return }
        starts[place].count -= 1
        if starts[place].count == 0 { starts.remove(at: place) }
    }
}
