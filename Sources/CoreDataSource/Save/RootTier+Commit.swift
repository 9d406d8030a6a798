package import RowStore

/// Commits of the pending saves.
extension RootTier {
    /// Commits the pending saves on the calling thread, if no commit is running.
    ///
    /// - Returns: Whether the outcome of the save with the number is known. If false, the save is in the running commit or in
    ///   one of the next commits.
    /// - Throws: The error with which the save was refused.
    package func commitInPlace(_ number: SaveNumber) throws(DataSourceError) -> Bool {
        if let group = state.withLock({ $0.log.takeForCommit() }) {
            let (_, isMoreWaiting) = commit(group)
            if isMoreWaiting { commitSoon() } else if store.needsUpkeep { queue.async { self.upkeep() } }
        }
        guard let outcome = state.withLock({ $0.takeOutcome(number) }) else { return false }
        try outcome.get()
        return true
    }

    /// Commits the pending saves as soon as the running commit has ended.
    package func commitSoon() {
        queue.async { self.drain() }
    }

    private func drain() {
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            let (isWritten, isMoreWaiting) = commit(group)
            // Do not retry a failed group in a loop: the next save or a timer retries it.
            if !isWritten && !isMoreWaiting { return }
        }
        upkeep()
    }

    /// Lets the store do its postponed upkeep, if no saves are pending.
    private func upkeep() {
        if store.needsUpkeep, pendingSaveCount == 0 { store.upkeep() }
    }

    /// Commits a group, notifies the waiters, and rolls back refused saves.
    ///
    /// - Returns: `isWritten` is false if the commit failed as a whole. `isMoreWaiting` is true if another commit must follow,
    ///   because saves were added or resumed during the commit.
    func commit(_ group: [ChangeSet]) -> (isWritten: Bool, isMoreWaiting: Bool) {
        // The group no longer waits, so other calls may begin.
        recordWaiting()
        let result = Result { () throws(DataSourceError) in try store.commit(group) }
        let outcome = result.map { GroupOutcome($0, of: group, lockPatience) }
        let reports = state.withLock { $0.recordCommit(outcome) }
        if case .success(let outcome) = result {
            if outcome.refused.values.contains(where: { $0.code == .leaseLost }) { didLoseLease() }
            if outcome.foundOutsideWrites { didFindOutsideWrites() }
            if saves.isListening { saves.publish(outcome.written(of: group)) }
            scopes.didCommit(group)
        }
        didRollBack()
        // Notify all waiters of this commit before the next commit begins. So waiters are notified in the order of the saves.
        var isMoreWaiting: Bool?
        while isMoreWaiting == nil {
            let (notifications, ended) = state.withLock { $0.endCommit() }
            isMoreWaiting = ended
            for (waiter, result) in notifications { waiter(result) }
        }
        recordWaiting()
        for report in reports { failures.report(report) }
        switch result {
        case .success(let outcome):
            if !outcome.postponed.isEmpty { resumeLater() }
            return (true, isMoreWaiting ?? false)
        case .failure(let error):
            retryLater(after: error)
            return (false, isMoreWaiting ?? false)
        }
    }

    /// Notifies the main context after saves were rolled back, so that all contexts undo these saves. Reads may have returned
    /// the rows of the pending saves instead of writes of other programs. In this case, the contexts also reload rows.
    func didRollBack() {
        state.withLock { $0.readAgainAfterOutsideWrites() }
        notifyMainIfListening()
        recordWaiting()
    }

    // MARK: Trying again

    /// Schedules another commit if saves are still pending. No call waits for these saves.
    private func retryLater(after error: DataSourceError) {
        // An unknown outcome can be read only from a shared store. An exclusive file must be opened again.
        guard error.code != .storeClosed, error.code != .outcomeUnknown || store.sharing != nil else { return }
        let delay = state.withLock { state -> Duration? in
            guard state.log.pendingCount > 0, !state.isRetryScheduled, !state.isClosed else { return nil }
            state.isRetryScheduled = true
            return RootTier.pause(beforeTry: state.failureCount)
        }
        guard let delay else { return }
        scheduling.after(delay) { [weak self] in
            guard let self else { return }
            self.state.withLock { $0.isRetryScheduled = false }
            self.commitSoon()
        }
    }

    /// Schedules another try for saves whose rows another program has locked. Each try delays other saves, so the delay between
    /// tries grows.
    private func resumeLater() {
        let delay = state.withLock { state -> Duration? in
            if state.isResumeScheduled { return nil }
            state.isResumeScheduled = true
            return min(RootTier.pause(beforeTry: state.postponeCount), RootTier.maxLockRetryDelay)
        }
        guard let delay else { return }
        scheduling.after(delay) { [weak self] in
            guard let self else { return }
            let isMore = self.state.withLock { state in
                state.isResumeScheduled = false
                return state.log.resume()
            }
            if isMore { self.commitSoon() }
        }
    }

    private static let maxLockRetryDelay = Duration.seconds(2)

    /// Returns the delay after a number of failed commits in a row: from a tenth of a second to 30 seconds.
    private static func pause(beforeTry failureCount: Int) -> Duration {
        .milliseconds(min(30_000, 100 << min(failureCount - 1, 10)))
    }
}

/// The outcome of a group of saves, by the numbers of the saves.
struct GroupOutcome {
    /// The errors of the refused saves.
    let refused: [SaveNumber: DataSourceError]
    /// The saves to try again, because another program has locked their rows.
    let postponed: Set<SaveNumber>
    /// The error of the first postponed save; nil if there is none.
    let cause: DataSourceError?
    /// In a shared store, the position of the newest save; nil if it is not known.
    let position: Int64?
    /// The time at which the commit ended.
    let end = ContinuousClock.now
    /// Calls no longer wait for a save that was first postponed at this time or earlier.
    let lockLimit: ContinuousClock.Instant

    init(_ outcome: CommitOutcome, of group: [ChangeSet], _ lockPatience: Duration) {
        refused = Dictionary(outcome.refused.map { (group[$0.key].saveNumber, $0.value) }) { first, _ in first }
        postponed = Set(outcome.postponed.keys.map { group[$0].saveNumber })
        cause = outcome.postponed.min { $0.key < $1.key }?.value
        position = outcome.position
        lockLimit = end - lockPatience
    }
}

extension CommitOutcome {
    /// The saves of the group that were written.
    fileprivate func written(of group: [ChangeSet]) -> [ChangeSet] {
        group.enumerated().filter { refused[$0.offset] == nil && postponed[$0.offset] == nil }.map(\.element)
    }
}

/// The waiters for saves.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void

    package struct Entry {
        package let number: SaveNumber
        package let event: Event
        package let waiter: Waiter
        /// The number of commits that had begun when the wait began.
        let commitCount: Int
        /// The error of the first save that a flush could not write; nil if there is none yet.
        fileprivate(set) var error: DataSourceError?
    }

    /// The event that a waiter waits for.
    package enum Event: Sendable {
        /// The outcome of the save with the number.
        case outcome
        /// The outcome of all saves up to the number.
        case flush
        /// The end of the running commit.
        case end
    }

    private var waiting: [Entry] = []

    mutating func add(
        _ number: SaveNumber, _ event: Event, afterCommit commitCount: Int, _ waiter: @escaping Waiter
    ) {
        waiting.append(Entry(number: number, event: event, waiter: waiter, commitCount: commitCount))
    }

    /// Records that a save could not be written, for the flushes that include the save and were called before the commit began.
    mutating func recordFailure(of number: SaveNumber, _ error: DataSourceError, inCommit commitCount: Int) {
        for index in waiting.indices where waiting[index].event == .flush && waiting[index].error == nil {
            let flush = waiting[index]
            if flush.number >= number, flush.commitCount < commitCount { waiting[index].error = error }
        }
    }

    /// Removes and returns the waiters that have a result.
    mutating func take(
        _ result: (Entry) -> Result<Void, DataSourceError>?
    ) -> [(waiter: Waiter, result: Result<Void, DataSourceError>)] {
        if waiting.isEmpty { return [] }
        var taken: [(waiter: Waiter, result: Result<Void, DataSourceError>)] = []
        waiting.removeAll { entry in
            guard let result = result(entry) else { return false }
            taken.append((entry.waiter, result))
            return true
        }
        return taken
    }
}
