package import RowStore

/// The last tier: it writes saves to the store, in the order in which they were made, all waiting ones in one transaction.
///
/// Whoever saves while the store is idle commits at once, on its own thread. Whoever saves while a commit is under way
/// leaves its changes in the log; they are committed together as soon as the store is free.
package final class RootContext: Sendable {
    package let store: any PersistentStore
    package let layout: ModelLayout
    let state: Guarded<State>
    let queue: any WorkQueue
    let scheduling: WorkScheduling
    /// How many bytes of saves may wait for main, or for a list, before it has to read what it shows from the store.
    let unmergedByteLimit: Int
    /// Who is let in, and how many have to wait.
    package let admission: Admission
    /// What listeners for failures are notified of.
    package let failures: FailureReporter
    /// Told after a save was logged, when main has to be woken.
    private let wakeMain: @Sendable () -> Void
    /// Told when the store's keys were moved up, because another program had inserted rows.
    let raiseKeys = Guarded<(@Sendable (_ firstFree: Int64) -> Void)?>(nil)
    /// The rights to write, in a store that others write too.
    package let leases: LeaseKeeper?
    /// The version of the leases of which the newest news told. It is held while news of other containers are read and put into
    /// the log, so that they keep their order.
    let following = Guarded<Int64?>(nil)

    package init(
        _ layout: ModelLayout, store: any PersistentStore, limits: RootLimits = RootLimits(),
        scheduling: WorkScheduling = .system, wakeMain: @escaping @Sendable () -> Void
    ) {
        self.layout = layout
        self.store = store
        self.scheduling = scheduling
        self.wakeMain = wakeMain
        unmergedByteLimit = limits.unmergedBytes
        state = Guarded(
            State(
                SaveLog(layout, unmergedByteLimit: limits.unmergedBytes), followed: store.sharing?.firstPosition ?? 0))
        queue = scheduling.makeQueue("CoreDataSource.root", false)
        admission = Admission(limits, scheduling)
        failures = FailureReporter(scheduling.makeQueue("CoreDataSource.failures", false))
        leases = store.sharing.map { LeaseKeeper($0, layout, scheduling) }
        let failures = failures
        store.report { failures.report(StoreFailure(.store, $0, dataSourceName: nil)) }
        listenToOthers()
    }

    /// The saves that are visible but not in the store yet.
    package var pendingSaveCount: Int { state.withLock { $0.log.pendingCount } }

    /// The number of the newest save.
    package var newestSave: Int64 { state.withLock { $0.log.newest } }

    /// How many pending rows reads have looked at so far.
    package var examinedPendingRows: Int { state.withLock { $0.log.rows.examined.value } }

    /// The most pending rows of an entity that a save copies for each that it adds, after a snapshot was taken. For tests.
    package func pendingRowsCopied(_ entity: Int) -> Int { state.withLock { $0.log.rows.largestPartCount(entity) } }

    /// How often the store was reset.
    package var generation: Int { state.withLock { $0.log.generation } }

    // MARK: Saving

    /// Takes a save: from here on every fetch sees it. It is not in the store yet.
    ///
    /// - Parameters:
    ///   - basis: What its context had taken in of the feed before it read the rows that the save is based on; nil for now.
    ///   - isAwaited: Whether the caller asks for its outcome.
    /// - Returns: The number of the save.
    /// - Throws: `storeClosed`, `storeReset`, `saveTakenBack`.
    package func accept(
        _ changes: ChangeSet, from source: SaveSource? = nil, basis: FeedPosition? = nil, isAwaited: Bool = true
    ) throws(DataSourceError) -> Int64 {
        var save = LoggedSave(changes, from: source, isAwaited: isAwaited)
        let block = PendingRows.block(changes, layout)
        let accepted = try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootContext.closed }
            save.changes.origin = source?.origin ?? 0
            let basis = basis ?? FeedPosition(generation: state.log.generation, number: state.feed.position)
            if let refusal = state.refusal(save.changes.origin, basedOn: basis) { throw refusal }
            let number = state.log.append(save, block)
            state.noteBasis(of: number, basis)
            return (number: number, isMainListening: state.log.merged != nil)
        }
        notePending()
        if accepted.isMainListening { wakeMain() }
        return accepted.number
    }

    /// Lets saves of several origins have one, pending ones included.
    ///
    /// - Parameter unite: Gives data sources their new origins, and returns them by the old ones.
    func unite(_ unite: () -> [Int: Int]) {
        state.withLock { state in
            let moved = unite()
            if moved.isEmpty { return }
            state.log.move(moved)
            state.feed.move(moved)
        }
    }

    func notePending() { admission.notePending { state.withLock { $0.log.pendingByteCount } } }

    func wakeMainIfListening() {
        if state.withLock({ $0.log.merged != nil }) { wakeMain() }
    }

    /// Calls back with the outcome of the save of that number. Call it once for each save.
    package func whenCommitted(_ number: Int64, _ waiter: @escaping CommitWaiters.Waiter) {
        let outcome = state.withLock { state -> Result<Void, DataSourceError>? in
            if let outcome = state.takeOutcome(number) { return outcome }
            state.waiters.add(number, waiter)
            return nil
        }
        if let outcome { waiter(outcome) }
    }

    /// Takes the saves that are not in the store back, once the commit that is under way has ended.
    ///
    /// - Returns: How many they were.
    package func discardPending() async -> Int {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.discardPending()
            } then: { count, told in
                self.didTakeBack()
                for (waiter, result) in told { waiter(result) }
                continuation.resume(returning: count)
            }
        }
    }

    // MARK: Main

    package func startMerging() {
        let isFirst = state.withLock { state in
            defer { state.log.startMerging() }
            return state.log.merged == nil
        }
        if isFirst { followOutsideWrites() }
    }

    package func stopMerging() { state.withLock { $0.log.stopMerging() } }

    /// The saves that main has not merged yet, and the generation that began with the last reset before them.
    package func takeForMain() -> (saves: [ChangeSet], lastReset: Int, staleness: SaveLog.Staleness?) {
        state.withLock { ($0.log.takeForMain(), $0.log.generation, $0.log.takeStaleness()) }
    }

    /// Whether there are saves that main has not merged.
    var hasUnmergedSaves: Bool { state.withLock { $0.log.hasUnmergedSaves } }

    // MARK: Fetching

    func hasPendingRows(_ entity: Int) -> Bool { state.withLock { !$0.log.rows.isEmpty(entity) } }

    /// Reads the store, and looks for what the store may lack; reads once more if the store was reset meanwhile.
    ///
    /// - Parameter pending: Looks into the pending rows; those count that were saved after the number given.
    /// - Returns: Both, and the number of the newest save that they take into account.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64) {
        while true {
            if let read = try readOnce(isolation, body, pending: pending) { return read }
        }
    }

    /// The same, but nil if the store was reset meanwhile: then the log has forgotten what was saved since the read began, and
    /// what was read may lack some of it.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64)? {
        let (start, generation) = state.withLock { ($0.log.beginRead(), $0.log.generation) }
        let result = Result { () throws(DataSourceError) in
            let read = try store.read(isolation) { reader throws(DataSourceError) in
                (result: try body(reader), position: reader.position)
            }
            // Saves of others that were read have to be in the log: later ones are laid over the rows.
            try follow(to: read.position)
            return read.result
        }
        let (found, newest, isReset) = state.withLock { state in
            defer { state.log.endRead(from: start) }
            return (pending(state.log.rows, start), state.log.newest, state.log.generation != generation)
        }
        let read = try result.get()
        return isReset ? nil : (read, found, newest)
    }
}

extension RootContext {
    static let discarded = DataSourceError(
        .pendingDiscarded, "The save was discarded before it reached the store. Save again.")
    static let storeReset = DataSourceError(
        .storeReset, "The store was reset during this call, so nothing of the call is in the new store. Call again.")
    static let closed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")
}
