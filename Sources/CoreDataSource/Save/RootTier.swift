package import RowStore

/// The last tier: it writes saves to the store, in the order in which they were made, and all waiting ones in one transaction. Only
/// saves that wait for another program, and what follows from them, come later than others.
///
/// A call that saves while the store is idle commits at once, on its own thread. A call that saves while a commit is under way
/// leaves its changes in the log; they are committed together as soon as the store is free.
package final class RootTier: Sendable {
    package let store: any PersistentStore
    /// The store, if rows of a large save can be written to it while its hooks still run.
    let earlyWriteStore: (any EarlyWriteStore)?
    /// The store, if it can change any number of rows itself. In a shared store there is none, because others must be notified
    /// of each row.
    let bulkStore: (any BulkStore)?
    package let layout: ModelLayout
    let state: Guarded<State>
    let queue: any WorkQueue
    let scheduling: WorkScheduling
    /// How many bytes of saves may wait for main, or for a list, before it must reload what it shows from the store.
    let unmergedByteLimit: Int
    /// How long main waits for a server that does not answer.
    private let mainPatience: Duration
    /// How long a call waits for rows that another program keeps locked.
    let lockPatience: Duration
    /// Admits calls, and limits how many wait.
    package let admission: Admission
    /// Notifies the listeners for failures.
    package let failures: FailureReporter
    /// Called after a save was logged, to wake main.
    private let wakeMain: @Sendable () -> Void
    /// Called when the store's keys were moved up, because another program had inserted rows.
    let raiseKeys = Guarded<(@Sendable (_ firstFree: Int64) -> Void)?>(nil)
    /// The leases, in a shared store.
    package let leases: LeaseKeeper?
    /// The version of the leases in the newest news. The lock is held while news of other containers are read and added to the
    /// log, so that they keep their order.
    let following = Guarded<Int64?>(nil)

    package init(
        _ layout: ModelLayout, store: any PersistentStore, limits: RootLimits = RootLimits(),
        scheduling: WorkScheduling = .system, wakeMain: @escaping @Sendable () -> Void
    ) {
        self.layout = layout
        self.store = store
        let isExclusive = store.sharing == nil && !store.isReadOnly
        earlyWriteStore = store.isReadOnly ? nil : store as? any EarlyWriteStore
        bulkStore = isExclusive ? store as? any BulkStore : nil
        self.scheduling = scheduling
        self.wakeMain = wakeMain
        unmergedByteLimit = limits.unmergedBytes
        mainPatience = limits.mainPatience
        lockPatience = limits.lockPatience
        state = Guarded(
            State(
                SaveLog(layout, unmergedByteLimit: limits.unmergedBytes), followed: store.sharing?.firstPosition ?? 0))
        queue = scheduling.makeQueue("CoreDataSource.root", false)
        admission = Admission(limits, scheduling)
        failures = FailureReporter(scheduling.makeQueue("CoreDataSource.failures", false))
        leases = store.sharing.map { LeaseKeeper($0, layout, scheduling) }
        let failures = failures
        store.report { failures.report(StoreFailure(.store, $0, dataSourceName: nil)) }
        layout.damage.connect { failures.report(damage: $1, $0) }
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

    /// Accepts a save: from now on every fetch sees it. It is not in the store yet.
    ///
    /// - Parameters:
    ///   - basis: How far its context had followed the feed when it read the rows that the save is based on; nil for now.
    ///   - isAwaited: Whether the caller asks for its outcome.
    /// - Returns: The number of the save.
    /// - Throws: `storeClosed`, `storeReset`, `saveTakenBack`.
    package func accept(
        _ changes: ChangeSet, from source: SaveSource? = nil, basis: FeedPosition? = nil, isAwaited: Bool = true
    ) throws(DataSourceError) -> Int64 {
        var save = LoggedSave(changes, from: source, isAwaited: isAwaited)
        let block = PendingRows.block(changes, layout)
        let accepted = try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootTier.closed }
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

    /// Gives saves of several origins a common one, including pending saves.
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

    /// Calls back with the outcome of the save with that number. Call it once for each save.
    package func whenCommitted(_ number: Int64, _ waiter: @escaping CommitWaiters.Waiter) {
        let outcome = state.withLock { state -> Result<Void, DataSourceError>? in
            if let outcome = state.takeOutcome(number) { return outcome }
            state.waiters.add(number, .outcome, waiter)
            return nil
        }
        if let outcome { waiter(outcome) }
    }

    /// Takes back the saves that are not in the store, once the commit that is under way has ended.
    ///
    /// - Returns: How many saves were taken back.
    package func discardPending() async -> Int {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.discardPending()
            } then: { count, notifications in
                self.didTakeBack()
                for (waiter, result) in notifications { waiter(result) }
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

    /// Reads the store, and looks up what it may lack; reads once more if the store was reset meanwhile, or began a bulk change.
    ///
    /// - Parameter pending: Looks into the pending rows, of saves after the given number.
    /// - Returns: Both, and the number of the newest save that they take into account.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64) {
        while true {
            if let read = try readOnce(isolation, body, pending: pending) { return read }
        }
    }

    /// The same, but nil if the store was reset meanwhile: the log has forgotten the saves since the read began then, so the
    /// result may lack some of them. It is also nil if a bulk change began meanwhile, because rows of saves before it would be
    /// laid over rows that it has changed.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64)? {
        let (start, basis) = state.withLock { ($0.log.beginRead(), $0.readBasis) }
        let result = Result { () throws(DataSourceError) in
            guard store.isRemote else { return try readAndFollow(isolation, body) }
            return try MainWait.limited(to: mainPatience) { () throws(DataSourceError) in
                try readAndFollow(isolation, body)
            }
        }
        let (found, newest, isOld) = state.withLock { state in
            defer { state.log.endRead(from: start) }
            return (pending(state.log.rows, start), state.log.newest, state.readBasis != basis)
        }
        let read = try result.get()
        return isOld ? nil : (read, found, newest)
    }

    private func readAndFollow<R>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let read = try store.read(isolation) { reader throws(DataSourceError) in
            (result: try body(reader), position: reader.position)
        }
        // Saves of others that were read must be in the log, because later ones are laid over the rows.
        try follow(to: read.position)
        return read.result
    }
}

extension RootTier {
    static let discarded = DataSourceError(
        .pendingDiscarded, "The save was discarded before it reached the store. Save again.")
    static let storeReset = DataSourceError(
        .storeReset, "The store was reset during this call, so none of its changes are in the new store. Call again.")
    static let closed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")
}

/// How much may wait in a container.
package struct RootLimits: Sendable {
    /// How many bytes of saves may wait for the store before callers are held.
    package var pendingBytes: Int
    /// How many values may wait for their batch before callers are held.
    package var queuedValues: Int
    /// How many bytes of saves may wait for main before it must reload what it shows from the store.
    package var unmergedBytes: Int
    /// How long a call is held before it is refused.
    package var patience: Duration
    /// How long a call waits for rows that another program keeps locked.
    package var lockPatience: Duration
    /// How long main waits for a server.
    package var mainPatience: Duration

    package init(
        pendingBytes: Int = 64 << 20, queuedValues: Int = 1_000_000, unmergedBytes: Int = 32 << 20,
        patience: Duration = .seconds(10), lockPatience: Duration = .seconds(10),
        mainPatience: Duration = .seconds(10)
    ) {
        self.pendingBytes = pendingBytes
        self.queuedValues = queuedValues
        self.unmergedBytes = unmergedBytes
        self.patience = patience
        self.lockPatience = lockPatience
        self.mainPatience = mainPatience
    }
}

/// Closing.
extension RootTier {
    /// Closes the store, once the commit that is under way has ended. It is for a container that is still there, and takes no
    /// more saves.
    func closeStore() async {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.log.committing == nil ? true : nil
            } then: { _ in
                self.store.close()
                continuation.resume()
            }
        }
    }

    /// Writes what is pending, and closes the store.
    ///
    /// It is called where the last reference to a container is released, which may be on any thread, and inside a commit, a
    /// read or a hook. So it waits for nothing. What it cannot do at once is done on the root's queue.
    package func shutDown() {
        stopAccepting()
        store.willClose()
        failures.finish()
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            // No caller is left to report a failure to.
            guard commit(group).isWritten else { break }
        }
        if !isCommitting, store.closeIfIdle() { return }
        betweenCommits {
            $0.log.committing == nil ? true : nil
        } then: { _ in
            self.commitLast()
            self.store.close()
        }
    }

    /// Commits what can be committed. Saves that wait for another program are tried as long as a call would wait.
    private func commitLast() {
        var isMore = true
        while isMore {
            while let group = state.withLock({ $0.log.takeForCommit() }) {
                guard commit(group).isWritten else { return }
            }
            isMore = state.withLock { $0.failure == nil && $0.log.resume() }
        }
    }

    /// Whether a commit is under way, or has to be tried again.
    private var isCommitting: Bool { state.withLock { $0.log.committing != nil || $0.log.isPostponing } }
}

/// Emptying the store while the app runs.
extension RootTier {
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
            throw RootTier.storeReset
        }
    }
}
