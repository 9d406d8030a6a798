package import RowStore

/// The lowest tier. It writes saves to the store in their order. Small saves that wait are written in one transaction, and a large
/// save is written in a transaction of its own.
///
/// There is one exception to the order: saves that wait for rows locked by another program, and saves that depend on these
/// saves, are written later.
///
/// If the store is idle, a call commits its save at once, on its own thread. During a commit, a call only adds its save to the
/// log. These saves are committed as soon as the running commit has ended. See ``SaveLog/takeForCommit(at:)``.
package final class RootTier: Sendable {
    package let store: any PersistentStore
    /// The store, if it supports early writes.
    let earlyWriteStore: (any EarlyWriteStore)?
    /// The store, if it supports bulk changes. Nil for a shared store, because other members must be notified of each row. Also
    /// nil for a store that keeps a history, because each row is recorded.
    let bulkStore: (any BulkStore)?
    /// Whether the store is on a server.
    package let isRemote: Bool
    /// Whether the store keeps a history.
    let keepsHistory: Bool
    package let layout: ModelLayout
    let state: Guarded<State>
    let queue: any WorkQueue
    let scheduling: WorkScheduling
    /// The largest number of bytes of saves that wait for the main context or for a list. Beyond the limit, the main
    /// context or the list reloads from the store.
    let unmergedByteLimit: Int
    /// The longest wait of the main thread for a server.
    let mainPatience: Duration
    /// The longest wait of a call for rows that another program has locked.
    let lockPatience: Duration
    /// Lets batches begin in the order of their calls. A call waits while too many bytes or values are pending.
    package let admission: Admission
    package let failures: FailureReporter
    /// Notifies loops over `container.saves` of the commits.
    package let saves: SaveBroadcaster
    /// The cache of the store's scopes.
    package let scopes = ScopeCache()
    /// The requests to a server that loads have made and that have not ended yet.
    package let requests = RunningRequests()
    /// Called after a save was logged, to schedule the merge into the main context.
    private let notifyMain: @Sendable () -> Void
    /// Called with the first free key of the store after another program inserted rows.
    let raiseKeys = Guarded<(@Sendable (_ firstFree: Int64) -> Void)?>(nil)
    /// The leases; nil if the store is not shared.
    package let leases: LeaseKeeper?
    /// The version of the leases in the newest page of the store's feed. Lock this value while events of other members are read
    /// and added to the log, so that the events keep their order.
    let newestLeaseVersion = Guarded<Int64?>(nil)

    package init(
        _ layout: ModelLayout, store: any PersistentStore, limits: RootLimits = RootLimits(),
        scheduling: WorkScheduling = .system, notifyMain: @escaping @Sendable () -> Void
    ) {
        self.layout = layout
        self.store = store
        let isExclusive = store.sharing == nil && !store.isReadOnly
        earlyWriteStore = store.isReadOnly ? nil : store as? any EarlyWriteStore
        isRemote = store.isRemote
        keepsHistory = store.recordStore?.keepsHistory ?? false
        bulkStore = isExclusive && !keepsHistory ? store as? any BulkStore : nil
        self.scheduling = scheduling
        self.notifyMain = notifyMain
        unmergedByteLimit = limits.unmergedBytes
        mainPatience = limits.mainPatience
        lockPatience = limits.lockPatience
        state = Guarded(
            State(
                SaveLog(layout, unmergedByteLimit: limits.unmergedBytes),
                followedPosition: store.sharing?.firstPosition ?? 0))
        queue = scheduling.makeQueue("CoreDataSource.root", false)
        admission = Admission(limits, scheduling)
        failures = FailureReporter(scheduling.makeQueue("CoreDataSource.failures", false))
        saves = SaveBroadcaster(store.sharing, scheduling)
        leases = store.sharing.map { LeaseKeeper($0, layout, scheduling) }
        let failures = failures
        store.report { failures.report(StoreFailure(.store, $0, dataSourceName: nil)) }
        layout.damage.connect { failures.report(damage: $1, $0) }
        listenToOthers()
    }

    /// The number of saves that are visible but not in the store yet.
    package var pendingSaveCount: Int { state.withLock { $0.log.pendingCount } }

    /// The number of the newest save.
    package var newestSave: SaveNumber { state.withLock { $0.log.newest } }

    /// The number of pending rows that reads have examined so far. For tests.
    package var examinedPendingRows: Int { state.withLock { $0.log.rows.examined.value } }

    /// The number of rows in the largest part of an entity's pending rows. After a snapshot was taken, adding a row copies one
    /// part. For tests.
    package func pendingRowsCopied(_ entity: Int) -> Int { state.withLock { $0.log.rows.largestPartCount(entity) } }

    /// The number of resets of the store.
    package var generation: Int { state.withLock { $0.log.generation } }

    // MARK: Saving

    /// Accepts a save. Every fetch sees the save from now on, although it is not in the store yet.
    ///
    /// - Parameters:
    ///   - basis: The feed position of the context when it read the rows that the save is based on; nil for the current
    ///     position.
    ///   - isAwaited: Whether the caller takes the outcome.
    /// - Returns: The number of the save.
    /// - Throws: `storeClosed`, `storeReset`, `saveRolledBack`.
    package func accept(
        _ changes: ChangeSet, from source: SaveSource? = nil, basis: FeedPosition? = nil, isAwaited: Bool = true
    ) throws(DataSourceError) -> SaveNumber {
        var save = LoggedSave(changes, from: source, isAwaited: isAwaited)
        let block = PendingRows.block(changes, layout)
        let accepted = try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootTier.closed }
            save.changes.origin = source?.origin ?? 0
            let basis = basis ?? FeedPosition(generation: state.log.generation, number: state.feed.position)
            if let refusal = state.refusal(save.changes.origin, basedOn: basis) { throw refusal }
            let number = state.log.append(save, block)
            state.recordBasis(of: number, basis)
            return (number: number, isMainListening: state.log.merged != nil)
        }
        recordWaiting()
        if accepted.isMainListening { notifyMain() }
        return accepted.number
    }

    /// Replaces origins, so that saves of several origins get a common origin. Also replaces the origins of pending saves.
    ///
    /// - Parameter mergeOrigins: Gives data sources their new origins, and returns a map from each old origin to its new
    ///   origin.
    func mergeOrigins(_ mergeOrigins: () -> [Int: Int]) {
        state.withLock { state in
            let moved = mergeOrigins()
            if moved.isEmpty { return }
            state.log.replaceOrigins(moved)
            state.feed.replaceOrigins(moved)
        }
    }

    /// Reports to the admission how many bytes wait for a commit.
    func recordWaiting() { admission.recordWaiting { state.withLock { $0.log.waitingByteCount } } }

    func notifyMainIfListening() {
        if state.withLock({ $0.log.merged != nil }) { notifyMain() }
    }

    /// Calls the waiter with the outcome of a save. Call this function at most once for each save.
    package func whenCommitted(_ number: SaveNumber, _ waiter: @escaping CommitWaiters.Waiter) {
        let outcome = state.withLock { state -> Result<Void, DataSourceError>? in
            if let outcome = state.takeOutcome(number) { return outcome }
            state.waiters.add(number, .outcome, afterCommit: state.log.commitCount, waiter)
            return nil
        }
        if let outcome { waiter(outcome) }
    }

    /// Rolls back all pending saves after the running commit has ended.
    ///
    /// - Returns: The number of rolled back saves.
    package func discardPending() async -> Int {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.discardPending()
            } then: { count, notifications in
                self.didRollBack()
                for (waiter, result) in notifications { waiter(result) }
                continuation.resume(returning: count)
            }
        }
    }

    // MARK: The main context

    package func startMerging() {
        let isFirst = state.withLock { state in
            defer { state.log.startMerging() }
            return state.log.merged == nil
        }
        if isFirst { followOutsideWrites() }
    }

    package func stopMerging() { state.withLock { $0.log.stopMerging() } }

    /// Takes the saves that the main context has not merged yet. Also returns the current generation and, if the main
    /// context must reload, the reason.
    package func takeForMain() -> (saves: [ChangeSet], lastReset: Int, staleness: SaveLog.Staleness?) {
        state.withLock { ($0.log.takeForMain(), $0.log.generation, $0.log.takeStaleness()) }
    }

    var hasUnmergedSaves: Bool { state.withLock { $0.log.hasUnmergedSaves } }

    // MARK: Fetching

    func hasPendingRows(_ entity: Int) -> Bool { state.withLock { !$0.log.rows.isEmpty(entity) } }

    /// Reads from the store, and then looks up the pending rows that the store might not have yet. Repeats both steps in the
    /// cases in which ``readOnce(_:_:pending:)`` returns nil.
    ///
    /// - Parameter pending: Looks up the pending rows of saves after the given number.
    /// - Returns: Both results, and the number of the newest save that they include.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber) {
        while true {
            if let read = try readOnce(isolation, body, pending: pending) { return read }
        }
    }

    /// Like ``read(_:_:pending:)``, but does not repeat. Returns nil if one of these happened during the read:
    ///
    /// - The store was reset, or the log dropped pending rows. So the log no longer has some rows that the result must include.
    /// - A bulk change began. The pending rows might be older than the rows that the bulk change has changed, so they must not
    ///   replace these rows.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber)? {
        let (start, basis) = state.withLock { ($0.log.beginRead(), $0.readBasis) }
        let result = Result { () throws(DataSourceError) in
            guard isRemote else { return try readAndFollow(isolation, body) }
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
        // Add to the log all saves of other members that the read has seen. Otherwise, an older row in the log would replace
        // a newer row of the store.
        try follow(to: read.position)
        return read.result
    }
}

extension RootTier {
    static let discarded = DataSourceError(
        .pendingDiscarded, "The save was discarded before it reached the store. Save again.")
    static let storeReset = DataSourceError(
        .storeReset, "The store was reset during this call, and the changes of the call are lost. Call again.")
    static let closed = DataSourceError(
        .storeClosed, "The store was closed. Open the store again.")
}

/// The limits of a container.
package struct RootLimits: Sendable {
    /// A new call waits while the saves that wait for a commit have this number of bytes, or more.
    package var pendingBytes: Int
    /// A new call waits while the admitted calls whose batch has not begun have this number of values, or more.
    package var queuedValues: Int
    /// The largest number of bytes of saves that wait for the main context. Beyond the limit, the main context reloads
    /// from the store.
    package var unmergedBytes: Int
    /// The longest wait of a call for admission.
    package var patience: Duration
    /// The longest wait of a call for rows that another program has locked.
    package var lockPatience: Duration
    /// The longest wait of the main thread for a server.
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

/// Closing the store.
extension RootTier {
    /// Closes the store after the running commit has ended. Call ``stopAccepting()`` before.
    func closeStore() async {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.log.committing == nil ? true : nil
            } then: { _ in
                self.saves.finish {
                    self.store.close()
                    continuation.resume()
                }
            }
        }
    }

    /// Commits the pending saves, and closes the store.
    ///
    /// The deinitializer of a container calls this function on any thread, maybe inside a commit, a read or a hook. So the
    /// function does not wait. Work that cannot be done at once is done later on the root's queue.
    package func shutDown() {
        stopAccepting()
        store.willClose()
        failures.finish()
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            // No caller is left that could receive a failure.
            guard commit(group).isWritten else { break }
        }
        if !isCommitting, store.closeIfIdle() { return saves.end() }
        betweenCommits {
            $0.log.committing == nil ? true : nil
        } then: { _ in
            self.commitLast()
            self.saves.end()
            self.store.close()
        }
    }

    /// Commits all saves that can be committed. Tries saves with locked rows again for as long as a call would wait for these
    /// saves.
    private func commitLast() {
        var isMore = true
        while isMore {
            while let group = state.withLock({ $0.log.takeForCommit() }) {
                guard commit(group).isWritten else { return }
            }
            isMore = state.withLock { $0.failure == nil && $0.log.resume() }
        }
    }

    /// Whether a commit is running, or saves are postponed.
    private var isCommitting: Bool { state.withLock { $0.log.committing != nil || $0.log.isPostponing } }
}

/// Emptying the store while the app runs.
extension RootTier {
    /// Empties the store after the running commit has ended. Pending saves are lost. Later saves that are based on rows from
    /// before the reset are refused.
    ///
    /// - Throws: Errors of the store. If the call throws, it changes nothing.
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
            // Empty the log while reads wait, so that no read of the new store replaces new rows with older rows.
            try store.reset {
                ended = state.withLock { $0.empty() }
                saves.didReset()
                scopes.forgetAll()
                leases?.forget()
            }
        }
        state.withLock { $0.log.endReset() }
        for (waiter, result) in ended.notifications { waiter(result) }
        for report in ended.reports { failures.report(report) }
        didRollBack()
        scopes.didChange()
        if pendingSaveCount > 0 { commitSoon() }
        return result
    }

    /// - Throws: `storeReset` if the store was reset after the position, or is being reset.
    package func checkNotReset(since basis: FeedPosition) throws(DataSourceError) {
        if state.withLock({ $0.log.isResetting || basis.generation < $0.log.generation }) {
            throw RootTier.storeReset
        }
    }
}
