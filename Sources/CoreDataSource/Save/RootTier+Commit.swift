package import RowStore

/// Committing what is pending.
extension RootTier {
    /// Commits what is pending on this thread, if no other commit is under way.
    ///
    /// - Returns: Whether the outcome of the save with that number is known. If not, the commit under way is followed by one
    ///   that includes it.
    /// - Throws: Why the save was refused.
    package func commitInPlace(_ number: Int64) throws(DataSourceError) -> Bool {
        if let group = state.withLock({ $0.log.takeForCommit() }) {
            let (_, isMoreWaiting) = commit(group)
            if isMoreWaiting { commitSoon() } else if store.needsUpkeep { queue.async { self.upkeep() } }
        }
        guard let outcome = state.withLock({ $0.takeOutcome(number) }) else { return false }
        try outcome.get()
        return true
    }

    /// Commits what is pending as soon as the store is free.
    package func commitSoon() {
        queue.async { self.drain() }
    }

    private func drain() {
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            let (isWritten, isMoreWaiting) = commit(group)
            // A group that failed is tried again with the next save, or after a while; not in a loop.
            if !isWritten && !isMoreWaiting { return }
        }
        upkeep()
    }

    /// Lets the store do its postponed upkeep, unless there is something to commit by now.
    private func upkeep() {
        if store.needsUpkeep, pendingSaveCount == 0 { store.upkeep() }
    }

    /// Commits a group, notifies the waiters, and takes back what was refused.
    ///
    /// - Returns: Whether it was written, except for what was refused, and whether saves came in meanwhile.
    func commit(_ group: [ChangeSet]) -> (isWritten: Bool, isMoreWaiting: Bool) {
        let result = Result { () throws(DataSourceError) in try store.commit(group) }
        let outcome = result.map { GroupOutcome($0, of: group, lockPatience) }
        let reports = state.withLock { $0.noteCommit(outcome) }
        if case .success(let outcome) = result {
            if outcome.refused.values.contains(where: { $0.code == .leaseLost }) { didLoseLease() }
            if outcome.foundOutsideWrites { didFindOutsideWrites() }
        }
        didTakeBack()
        // The next commit begins when all waiters of this one have been notified, so waiters learn of saves in their order.
        var isMoreWaiting: Bool?
        while isMoreWaiting == nil {
            let (notifications, ended) = state.withLock { $0.endCommit() }
            isMoreWaiting = ended
            for (waiter, result) in notifications { waiter(result) }
        }
        notePending()
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

    /// Everyone who has seen saves that were taken back is notified soon, and so is everyone who must reload the rows of
    /// others.
    func didTakeBack() {
        state.withLock { $0.readAgainAfterOutsideWrites() }
        wakeMainIfListening()
        notePending()
    }

    // MARK: Trying again

    /// Tries to commit again after a while, if there are saves that no call waits for.
    private func retryLater(after error: DataSourceError) {
        // A server is asked again for the outcome of the save; a file must be opened again.
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

    /// Tries saves again after a while that wait for rows which another program keeps locked. Each try holds up others.
    private func resumeLater() {
        let delay = state.withLock { state -> Duration? in
            if state.isResumeScheduled { return nil }
            state.isResumeScheduled = true
            return min(RootTier.pause(beforeTry: state.postponeCount), RootTier.longestPauseForLocks)
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

    private static let longestPauseForLocks = Duration.seconds(2)

    /// How long to wait after that many failed commits in a row: from a tenth of a second to 30 seconds.
    private static func pause(beforeTry failureCount: Int) -> Duration {
        .milliseconds(min(30_000, 100 << min(failureCount - 1, 10)))
    }
}

/// What came of a group of saves, by their numbers.
struct GroupOutcome {
    /// Why saves were refused.
    let refused: [Int64: DataSourceError]
    /// The saves that have to be tried again, because another program keeps rows of them locked.
    let postponed: Set<Int64>
    /// Why they were postponed; nil if there are none.
    let cause: DataSourceError?
    /// When the commit ended.
    let end = ContinuousClock.now
    /// Calls wait no longer for what has been postponed since then.
    let lockLimit: ContinuousClock.Instant

    init(_ outcome: CommitOutcome, of group: [ChangeSet], _ lockPatience: Duration) {
        refused = Dictionary(outcome.refused.map { (group[$0.key].number, $0.value) }) { first, _ in first }
        postponed = Set(outcome.postponed.keys.map { group[$0].number })
        cause = outcome.postponed.min { $0.key < $1.key }?.value
        lockLimit = end - lockPatience
    }
}

/// The callers that wait for saves.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void

    package struct Entry {
        package let number: Int64
        package let event: Event
        package let waiter: Waiter
    }

    /// What is waited for.
    package enum Event: Sendable {
        /// The outcome of the save with the number.
        case outcome
        /// Every save up to the number.
        case flush
        /// The end of the commit that is under way.
        case end
    }

    private var waiting: [Entry] = []

    mutating func add(_ number: Int64, _ event: Event, _ waiter: @escaping Waiter) {
        waiting.append(Entry(number: number, event: event, waiter: waiter))
    }

    /// Removes the waiters for whom there is a result.
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
