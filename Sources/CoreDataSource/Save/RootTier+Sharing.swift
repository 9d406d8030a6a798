package import RowStore

/// Applying the saves of the other members that have the store open.
extension RootTier {
    /// Adds the saves of other members to the log, so that all contexts apply them.
    ///
    /// - Parameter wanted: The lowest position to reach; nil for the newest position.
    /// - Throws: Errors of the store.
    package func follow(to wanted: Int64? = nil) throws(DataSourceError) {
        guard let sharing = store.sharing, isBehind(wanted) else { return }
        let requested = ContinuousClock.now
        let known = try newestLeaseVersion.withLockBeforeLimit { leaseVersion throws(DataSourceError) -> Int64? in
            // Another thread may have read the saves already.
            while isBehind(wanted) {
                let (position, generation) = state.withLock { state in
                    state.unrecordedChangeCount += 1
                    return (state.followedPosition, state.log.generation)
                }
                defer { state.withLock { $0.unrecordedChangeCount -= 1 } }
                let page = try sharing.readFeed(after: position)
                leaseVersion = page.leaseVersion
                apply(page, generation)
                if page.isOtherHistory { leases?.acceptAnyVersion() }
                if !page.isMore { break }
            }
            return leaseVersion
        }
        if let known, !store.isReadOnly { leases?.record(known, at: requested) }
    }

    private func isBehind(_ wanted: Int64?) -> Bool {
        guard let wanted else { return true }
        return state.withLock { $0.followedPosition < wanted }
    }

    /// - Parameter generation: The generation of the store when the page was read. A page of an earlier generation is ignored.
    private func apply(_ page: FeedPage, _ generation: Int) {
        let events = page.events.map { event -> (FeedEvent, PendingBlock?) in
            if case .changes(let changes) = event { return (event, PendingRows.block(changes, layout)) }
            return (event, nil)
        }
        // Record the rows before the position is raised: a batch that has followed to this position checks these rows.
        for (event, _) in events { recordForRequests(event) }
        state.withLock { state in
            guard state.log.generation == generation else { return }
            for (event, block) in events { state.apply(event, block) }
            state.followedPosition = page.position
        }
        if !events.isEmpty { scopes.forgetKnown() }
        if page.foundOutsideRows { raiseKeys.withLock { $0 }?(store.firstFreeKey) }
        if page.foundOutsideWrites { didFindOutsideWrites() } else if !events.isEmpty { notifyMainIfListening() }
    }

    private func recordForRequests(_ event: FeedEvent) {
        requests.record(ofOtherMember: {
            switch event {
            case .changes(let changes): SavedRows(ofOtherMember: changes, layout)
            case .unknown(let entities): SavedRows(anyOf: entities ?? Set(layout.entities.indices))
            }
        })
    }

    /// From now on, applies the saves of other members whenever a member sends a notification.
    func listenToOthers() {
        guard let sharing = store.sharing else { return }
        leases?.connect(self)
        sharing.listen { [weak self] in
            try? self?.follow()
            self?.saves.readSoon()
            // A save that changes only scopes is not in the feed.
            self?.scopes.didChange()
        }
    }

    /// Makes all contexts reload rows, after saves were refused because another member has taken over a lease. That member may
    /// have changed the rows.
    func didLoseLease() {
        // Read the leases before callers are notified, so that the next try of a caller requests the lease.
        leases?.acceptAnyVersion()
        _ = try? leases?.current()
        try? follow()
        state.withLock { $0.recordOutsideWrites() }
        notifyMainIfListening()
    }

    /// Whether any pending save deletes objects of an entity or of its sub-entities.
    func hasPendingDeletions(of entity: String) -> Bool {
        state.withLock { state in
            state.log.containsPending { $0.changes.entitiesWithDeletions(layout).contains(entity) }
        }
    }

    /// Whether any pending save was made under the lease of one of the entities.
    func hasPendingSaves(of entities: Set<Int>) -> Bool {
        state.withLock { state in
            state.log.containsPending { save in save.changes.leases.contains { entities.contains($0.entity) } }
        }
    }
}

extension RootTier.State {
    fileprivate mutating func apply(_ event: FeedEvent, _ block: PendingBlock?) {
        switch event {
        case .changes(var changes):
            guard let number = log.append(ofOtherMember: changes, block) else { return forget(nil) }
            changes.saveNumber = number
            feed.append(.changes(changes))
        case .unknown(let entities): forget(entities)
        }
    }

    private mutating func forget(_ entities: Set<Int>?) {
        log.forgetStoredRows()
        dropCount += 1
        feed.append(.unknown(entities))
        log.makeMainReload(.outsideWrites)
        outsideWrites.recordStaleSaves(for: log.pending.last?.changes.saveNumber)
    }
}

/// Events that each context must apply before its next batch or merge.
extension RootTier {
    /// The current position of the feed.
    package var feedPosition: FeedPosition {
        state.withLock { FeedPosition(generation: $0.log.generation, number: $0.feed.position) }
    }

    /// Returns the events since a position; nil if there are none.
    package func events(since known: FeedPosition) -> (position: FeedPosition, events: [FeedEvent])? {
        state.withLock { state in
            let position = FeedPosition(generation: state.log.generation, number: state.feed.position)
            if position == known { return nil }
            let isReset = position.generation != known.generation
            return (position, isReset ? [.unknown(nil)] : state.feed.events(after: known.number))
        }
    }

    /// Checks whether another program has written to the store, and makes all contexts apply its writes.
    ///
    /// A shared store on a server is not checked, because the server sends notifications. In addition, each read applies the
    /// saves up to its own position (``follow(to:)``), and each batch applies the saves before it begins
    /// (``LeaseKeeper/follow(before:)``).
    package func noticeOutsideWrites() {
        if store.isRemote, store.sharing != nil { return }
        if store.sharing != nil {
            // If `follow` fails, the next read or commit throws the error.
            try? follow()
            saves.readSoon()
        } else if store.canBeWrittenOutside {
            state.withLock { $0.unrecordedChangeCount += 1 }
            if store.noticeOutsideWrites() { didFindOutsideWrites() }
            state.withLock { $0.unrecordedChangeCount -= 1 }
        }
    }

    /// Checks for writes of other programs.
    ///
    /// - Returns: Whether all changes that a read can see now are recorded, including changes whose rows are unknown. False if
    ///   the store cannot be checked now, or if another thread may have found a change that it has not recorded yet.
    func recordsAllUnknownChanges() -> Bool {
        let isComplete: Bool
        state.withLock { $0.unrecordedChangeCount += 1 }
        if store.sharing != nil, !store.isRemote {
            // A transaction that reserves keys or changes leases also finds writes of other programs, but does not report them,
            // so ask the store.
            isComplete =
                (try? follow()) != nil && (store as? any SnapshotStore)?.hasUnreportedOutsideWrite == false
        } else {
            let isFound = (store as? any SnapshotStore)?.checkForOutsideWrites()
            if isFound == true { didFindOutsideWrites() }
            isComplete = isFound != nil
        }
        return state.withLock { state in
            state.unrecordedChangeCount -= 1
            // A running commit, too, may have found writes of other programs that are not recorded yet.
            return isComplete && state.unrecordedChangeCount == 0 && state.log.committing == nil
        }
    }

    func didFindOutsideWrites() {
        raiseKeys.withLock { $0 }?(store.firstFreeKey)
        state.withLock { $0.recordOutsideWrites() }
        notifyMainIfListening()
        saves.publish(unknown: .outsideWrites, nil)
        scopes.didChange()
    }

    /// Adds a loop over saves.
    func subscribeToSaves() -> SaveSubscription {
        let subscription = state.withLock { saves.subscribe(after: max($0.followedPosition, $0.newestOwnPosition)) }
        followOutsideWrites()
        return subscription
    }

    /// Follows the writes of other programs, as long as the main context merges saves or a loop waits for saves.
    func followOutsideWrites() {
        guard store.canBeWrittenOutside else { return }
        if state.withLock({ $0.outsideChecks.start() }) { scheduleNextCheck() }
    }

    private func scheduleNextCheck() {
        scheduling.after(OutsideChecks.interval) { [weak self] in self?.checkAgain() }
    }

    private func checkAgain() {
        let isListening = saves.isListening
        let goesOn = state.withLock { state in
            let goesOn = !state.isClosed && (state.log.merged != nil || isListening)
            // There is no watch to end, because a check is running.
            if !goesOn { _ = state.outsideChecks.stop() }
            return goesOn
        }
        guard goesOn else { return }
        noticeOutsideWrites()
        let attempt = state.withLock { state in
            let place = OutsideChecks.Place(
                generation: state.log.generation, save: state.log.newest, event: state.feed.position)
            return state.outsideChecks.didCheck(at: place)
        }
        if let attempt, watchStore(attempt) { return }
        scheduleNextCheck()
    }

    /// - Returns: Whether the store is watched, so that it need not be checked.
    private func watchStore(_ attempt: Int) -> Bool {
        // A shared store is not watched: its members notify each other, and the checks find writes of other programs.
        guard store.sharing == nil, let store = store as? any SnapshotStore else { return false }
        let watch = store.watchForOutsideWrites { [weak self] in self?.didNoticeWrite(attempt) }
        guard let watch else { return false }
        let isKept = state.withLock { $0.outsideChecks.keep(watch, of: attempt) }
        if !isKept { watch.end() }
        return isKept
    }

    private func didNoticeWrite(_ attempt: Int) {
        guard let watch = state.withLock({ $0.outsideChecks.didNotice(attempt) }) else { return }
        watch.end()
        scheduleNextCheck()
    }
}

/// What is known about the writes of other programs.
struct OutsideWriteState {
    /// The position of the feed after the last event about writes of other programs.
    fileprivate(set) var position = EventNumber.beforeFirst
    /// The newest pending save whose rows might lack writes of other programs; nil if there is none.
    fileprivate(set) var newestStaleSave: SaveNumber?

    /// Records that the pending saves up to a number might lack the last changes. It is not known which rows have changed.
    mutating func recordStaleSaves(for number: SaveNumber?) {
        if let number { newestStaleSave = number }
    }
}

extension RootTier.State {
    /// Makes all contexts reload the rows that another program may have written.
    ///
    /// A pending save has complete rows, but the store writes only the changed columns. While the save is pending, reads
    /// return its rows instead of the rows that the other program wrote. So all contexts reload the rows once more after the
    /// save was committed or rolled back.
    mutating func recordOutsideWrites() {
        feed.append(.unknown(nil))
        log.makeMainReload(.outsideWrites)
        outsideWrites.position = feed.position
        let newestStaleSave = log.pending.last {
            $0.changes.entities.contains { !$0.updated.isEmpty || !$0.deleted.isEmpty }
        }
        outsideWrites.newestStaleSave = newestStaleSave?.changes.saveNumber
    }

    /// Records that the save might lack writes of other programs, if it is based on rows from before the last event about
    /// such writes.
    mutating func recordBasis(of number: SaveNumber, _ basis: FeedPosition) {
        if basis.number < outsideWrites.position { outsideWrites.newestStaleSave = number }
    }

    /// Makes all contexts reload rows, once every save that might lack the writes of another program was committed or rolled
    /// back.
    mutating func readAgainAfterOutsideWrites() {
        guard let newestStaleSave = outsideWrites.newestStaleSave, log.committed >= newestStaleSave else { return }
        recordOutsideWrites()
    }
}

/// A list of events about changes that were not saves of this container's contexts. Each context applies the new events before
/// its next batch or merge.
///
/// The feed keeps a limited number of events and bytes. If the feed has dropped an event that a context has not applied, the
/// context gets a single event instead: all rows may have changed.
package struct Feed: Sendable {
    /// The number of the newest event.
    package private(set) var position = EventNumber.beforeFirst
    /// The newest events, the oldest first.
    private var events: [(event: FeedEvent, byteCount: Int)] = []
    /// The memory of the events, in bytes.
    package private(set) var byteCount = 0
    /// For each origin, the position after the last event that rolled back saves of this origin.
    private var rollbacks: [Int: EventNumber] = [:]

    /// The largest number of events.
    package static let limit = 64
    /// The largest memory of the events, in bytes. A larger event contains only the affected entities.
    package static let byteLimit = 16 << 20
    /// The largest number of rows in an event that rolls back saves. A larger event contains only the affected entities.
    package static let rowLimit = 4096

    package init() {}

    package mutating func append(_ event: FeedEvent) {
        var (event, bytes) = (event, 0)
        if case .changes(let changes) = event {
            bytes = changes.byteCount
            if bytes > Feed.byteLimit { (event, bytes) = (.unknown(Set(changes.entities.map(\.entity))), 0) }
        }
        position = position.advanced(by: 1)
        events.append((event, bytes))
        byteCount += bytes
        while events.count > Feed.limit || byteCount > Feed.byteLimit { byteCount -= events.removeFirst().byteCount }
    }

    /// Adds an event that undoes saves.
    package mutating func append(rollback changes: ChangeSet, ofOrigins origins: Set<Int>) {
        let isLarge = changes.rowCount > Feed.rowLimit
        append(isLarge ? .unknown(Set(changes.entities.map(\.entity))) : .changes(changes))
        for origin in origins { rollbacks[origin] = position }
    }

    /// Replaces origins with new origins.
    ///
    /// - Parameter moved: A map from each old origin to its new origin.
    mutating func replaceOrigins(_ moved: [Int: Int]) {
        for (old, new) in moved {
            guard let position = rollbacks.removeValue(forKey: old) else { continue }
            rollbacks[new] = max(position, rollbacks[new] ?? .beforeFirst)
        }
    }

    /// Returns the events after a position.
    package func events(after start: EventNumber) -> [FeedEvent] {
        let count = start.distance(to: position)
        return count <= events.count ? events.suffix(count).map(\.event) : [.unknown(nil)]
    }

    /// Whether saves of an origin were rolled back after a position.
    package func hasRolledBack(_ origin: Int, after start: EventNumber) -> Bool {
        rollbacks[origin].map { $0 > start } ?? false
    }
}
