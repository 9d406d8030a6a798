internal import RowStore

extension RootTier {
    /// The log, and the callers that wait for its saves.
    struct State {
        var log: SaveLog
        var feed = Feed()
        var waiters = CommitWaiters()
        /// The errors of rolled back saves whose callers have not taken the outcome yet.
        private var refused: [SaveNumber: DataSourceError] = [:]
        /// Whether no more saves are accepted.
        var isClosed = false
        /// The last commit that failed as a whole; nil after a successful commit.
        private(set) var failure: (through: SaveNumber, error: DataSourceError)?
        /// The number of failed commits in a row.
        private(set) var failureCount = 0
        /// Whether a retry of a failed commit is scheduled.
        var isRetryScheduled = false
        /// Whether a retry of postponed saves is scheduled.
        var isResumeScheduled = false
        /// The number of commits in a row that postponed saves.
        private(set) var postponeCount = 0
        var outsideChecks = OutsideChecks()
        var outsideWrites = OutsideWriteState()
        /// The number of bulk changes that have begun. If this number changes during a read, the read is repeated.
        var bulkChangeCount = 0
        /// The number of running bulk changes, reads of the feed, and checks for writes of other programs. Changes that they made
        /// or found might not be recorded yet.
        var unrecordedChangeCount = 0
        /// The number of times that pending rows were dropped because other members had changed unknown rows. If this number
        /// changes during a read, the read is repeated.
        var dropCount = 0
        /// If this value changes during a read, the read is repeated.
        var readBasis: ReadBasis {
            ReadBasis(generation: log.generation, bulkChangeCount: bulkChangeCount, dropCount: dropCount)
        }
        /// The position up to which the saves of other members are in the log.
        var followedPosition: Int64
        /// In a shared store, the position of the newest save of this container, if the store reports this position.
        private(set) var newestOwnPosition: Int64 = 0

        init(_ log: SaveLog, followedPosition: Int64 = 0) {
            self.log = log
            self.followedPosition = followedPosition
        }

        // MARK: Outcomes

        /// Removes and returns the outcome of a save. Nil if the outcome is unknown, or if the save's commit is still notifying
        /// waiters.
        mutating func takeOutcome(_ number: SaveNumber) -> Result<Void, DataSourceError>? {
            log.committing?.contains(number) == true ? nil : outcome(number)
        }

        private mutating func outcome(_ number: SaveNumber) -> Result<Void, DataSourceError>? {
            if let error = refused.removeValue(forKey: number) { return .failure(error) }
            return log.committed >= number || !log.isPending(number) ? .success(()) : nil
        }

        /// Returns the result of a flush; nil if the flush must wait longer. The saves of a flush can be in several transactions.
        /// So even if a save was refused, the flush waits until each of its saves was tried.
        private func flushed(_ flush: CommitWaiters.Entry) -> Result<Void, DataSourceError>? {
            if log.committed >= flush.number { return flush.error.map { .failure($0) } ?? .success(()) }
            if let failure, failure.through >= flush.number { return .failure(flush.error ?? failure.error) }
            return log.hasTriedAll(through: flush.number) ? flush.error.map { .failure($0) } : nil
        }

        /// Forgets the last failure, so that all waiters wait for the next commit.
        mutating func forgetFailure() {
            failure = nil
            failureCount = 0
            log.resume()
        }

        // MARK: Commits

        /// Records the outcome of the running commit, and rolls back refused saves.
        ///
        /// - Returns: The failures to report.
        mutating func recordCommit(_ result: Result<GroupOutcome, DataSourceError>) -> [StoreFailure.Report] {
            switch result {
            case .success(let outcome):
                (failure, failureCount) = (nil, 0)
                if let position = outcome.position { newestOwnPosition = position }
                let errors = outcome.refused
                log.recordCommitted(except: Set(errors.keys).union(outcome.postponed))
                if let first = errors.min(by: { $0.key < $1.key }) {
                    waiters.recordFailure(of: first.key, first.value, inCommit: log.commitCount)
                }
                let reports = rollBack(Set(errors.keys)) { number, cause in errors[number] ?? cause }
                return reports + postpone(outcome)
            case .failure(let error):
                failureCount += 1
                let reach = log.failureReach
                return fail(log.pending.map(\.changes.saveNumber).filter { $0 <= reach }, through: reach, error)
            }
        }

        /// Postpones saves whose rows other programs have locked. Ends the wait for saves that were postponed for too long.
        private mutating func postpone(_ outcome: GroupOutcome) -> [StoreFailure.Report] {
            guard let error = outcome.cause else {
                postponeCount = 0
                return []
            }
            postponeCount += 1
            let expired = log.postpone(outcome.postponed, at: outcome.end, since: outcome.lockLimit).map(
                \.changes.saveNumber)
            guard let first = expired.first, let last = log.committing?.upperBound else { return [] }
            waiters.recordFailure(of: first, error, inCommit: log.commitCount)
            return fail(expired, through: last, error)
        }

        /// Ends the wait for saves that cannot be written now. Awaited saves are rolled back, and the others are reported as delayed.
        ///
        /// - Parameter through: The number up to which the commit has tried all saves.
        private mutating func fail(
            _ numbers: [SaveNumber], through: SaveNumber, _ error: DataSourceError
        ) -> [StoreFailure.Report] {
            failure = (through, error)
            let failed = Set(numbers)
            let awaited = Set(
                log.pending.filter { $0.isAwaited && failed.contains($0.changes.saveNumber) }.map(\.changes.saveNumber))
            let reports = rollBack(awaited) { number, _ in
                awaited.contains(number) ? error : DataSourceError(rolledBackAfter: error)
            }
            let delayed = log.recordDelay(of: failed).compactMap { save in
                save.source.map { StoreFailure.Report(.saveDelayed, error, $0) }
            }
            return reports + delayed
        }

        /// Rolls back the given saves, and all later saves of their origins.
        ///
        /// - Parameter cause: Returns the error of a save. Its second argument is the error for a save that depends on a rolled
        ///   back save.
        /// - Returns: The failures to report.
        mutating func rollBack(
            _ numbers: Set<SaveNumber>, _ cause: (SaveNumber, DataSourceError) -> DataSourceError
        ) -> [StoreFailure.Report] {
            guard !numbers.isEmpty, let (saves, _) = log.rollBack(numbers) else { return [] }
            feed.append(
                rollback: ChangeSet(undoing: saves.map(\.changes)), ofOrigins: Set(saves.map(\.changes.origin)))
            var first: [Int: DataSourceError] = [:]
            return saves.compactMap { save in
                let number = save.changes.saveNumber
                let origin = save.changes.origin
                let error = cause(number, DataSourceError(rolledBackAfter: first[origin] ?? RootTier.discarded))
                if first[origin] == nil { first[origin] = error }
                if save.isAwaited {
                    refused[number] = error
                    return nil
                }
                return save.source.map { StoreFailure.Report(.saveRefused, error, $0) }
            }
        }

        /// Returns waiters to notify, or ends the commit if there are none.
        ///
        /// - Returns: The waiters with their results. At the end of the commit, also whether another commit must follow.
        mutating func endCommit() -> (notifications: [Notification], isMoreWaiting: Bool?) {
            let notifications = takeNotifications()
            if !notifications.isEmpty { return (notifications, nil) }
            return ([], log.endCommit())
        }

        typealias Notification = (waiter: CommitWaiters.Waiter, result: Result<Void, DataSourceError>)

        private mutating func takeNotifications() -> [Notification] {
            var waiting = waiters
            let notifications = waiting.take { entry in
                switch entry.event {
                case .outcome: outcome(entry.number)
                case .flush: flushed(entry)
                case .end: .success(())
                }
            }
            waiters = waiting
            return notifications
        }

        // MARK: Ends

        /// Rolls back all pending saves, if no commit is running.
        ///
        /// - Returns: The number of rolled back saves, and the waiters to notify; nil if a commit is running.
        mutating func discardPending() -> (count: Int, notifications: [Notification])? {
            guard log.committing == nil else { return nil }
            let numbers = Set(log.pending.map(\.changes.saveNumber))
            _ = rollBack(numbers) { _, _ in RootTier.discarded }
            forgetFailure()
            return (numbers.count, takeNotifications())
        }

        /// Drops all pending saves, after the store was emptied.
        mutating func empty() -> (notifications: [Notification], reports: [StoreFailure.Report]) {
            let lost = log.empty()
            (followedPosition, newestOwnPosition) = (0, 0)
            forgetFailure()
            feed.append(.unknown(nil))
            for save in lost where save.isAwaited { refused[save.changes.saveNumber] = RootTier.storeReset }
            let reports = lost.compactMap { save in
                save.isAwaited ? nil : save.source.map { StoreFailure.Report(.saveRefused, RootTier.storeReset, $0) }
            }
            return (takeNotifications(), reports)
        }

        /// Returns the error of a save that is based on rows from the given position of the feed; nil if the save can be
        /// accepted.
        func refusal(_ origin: Int, basedOn basis: FeedPosition) -> DataSourceError? {
            if log.isResetting || basis.generation < log.generation { return RootTier.storeReset }
            guard feed.hasRolledBack(origin, after: basis.number) else { return nil }
            return DataSourceError(rolledBackAfter: failure?.error ?? RootTier.discarded)
        }
    }
}

/// The state on which a read is based. If this state changes during the read, pending rows must not replace the rows
/// that the read finds in the store.
struct ReadBasis: Equatable {
    let generation: Int
    let bulkChangeCount: Int
    let dropCount: Int
}

/// A position in the feed. A context has applied the events up to its position.
package struct FeedPosition: Sendable, Equatable {
    /// The number of resets of the store.
    package var generation: Int
    package var number: EventNumber
}

/// The number of an event in the feed of a container. The first event has the number 1. The feed of a shared store has other
/// events, which are counted by positions.
package struct EventNumber: Strideable, Sendable {
    private let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    static let beforeFirst = EventNumber(0)

    package static func < (lhs: EventNumber, rhs: EventNumber) -> Bool { lhs.rawValue < rhs.rawValue }
    package static func == (lhs: EventNumber, rhs: EventNumber) -> Bool { lhs.rawValue == rhs.rawValue }
    package func distance(to other: EventNumber) -> Int { Int(other.rawValue - rawValue) }
    package func advanced(by count: Int) -> EventNumber { EventNumber(rawValue + Int64(count)) }
}

/// The running fetches, grouped by the newest save that was committed when they began.
struct OpenReads {
    /// The last committed save at the start of each fetch, in ascending order, with the number of fetches that began there.
    private var starts: [(number: SaveNumber, count: Int)] = []

    /// The start of the oldest running fetch; nil if no fetch is running.
    var oldest: SaveNumber? { starts.first?.number }

    /// - Parameter number: A number that is not lower than in the previous call.
    mutating func begin(at number: SaveNumber) {
        if let last = starts.last, last.number == number {
            starts[starts.count - 1].count += 1
        } else {
            starts.append((number, 1))
        }
    }

    mutating func end(from number: SaveNumber) {
        guard let index = starts.firstIndex(where: { $0.number == number }) else { return }
        starts[index].count -= 1
        if starts[index].count == 0 { starts.remove(at: index) }
    }
}
