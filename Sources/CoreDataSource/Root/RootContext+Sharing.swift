package import RowStore

/// Following the other containers that have the store open.
extension RootContext {
    /// Adds the saves of others to the log, so that all contexts take them in.
    ///
    /// - Parameter wanted: How far at least; nil for as far as possible.
    /// - Throws: What the store throws.
    package func follow(to wanted: Int64? = nil) throws(DataSourceError) {
        guard let sharing = store.sharing, isBehind(wanted) else { return }
        let asked = ContinuousClock.now
        let known = try following.withLockInTime { leaseVersion throws(DataSourceError) -> Int64? in
            // Another thread may have done it meanwhile.
            while isBehind(wanted) {
                let (position, generation) = state.withLock { ($0.followed, $0.log.generation) }
                let news = try sharing.news(after: position)
                leaseVersion = news.leaseVersion
                take(news, generation)
                if news.isOtherHistory { leases?.doubt() }
                if !news.isMore { break }
            }
            return leaseVersion
        }
        if let known, !store.isReadOnly { leases?.note(known, at: asked) }
    }

    private func isBehind(_ wanted: Int64?) -> Bool {
        guard let wanted else { return true }
        return state.withLock { $0.followed < wanted }
    }

    /// - Parameter generation: The generation of the store when they were read. News of an earlier generation are ignored.
    private func take(_ news: SharedNews, _ generation: Int) {
        let events = news.events.map { event -> (FeedEvent, PendingBlock?) in
            if case .changes(let changes) = event { return (event, PendingRows.block(changes, layout)) }
            return (event, nil)
        }
        state.withLock { state in
            guard state.log.generation == generation else { return }
            for (event, block) in events { state.take(event, block) }
            state.followed = news.position
        }
        if news.foundOutsideRows { raiseKeys.withLock { $0 }?(store.firstFreeKey) }
        if news.foundOutsideWrites { didFindOutsideWrites() } else if !events.isEmpty { wakeMainIfListening() }
    }

    /// Notifies everyone who follows the writes of others.
    func listenToOthers() {
        guard let sharing = store.sharing else { return }
        leases?.connect(self)
        sharing.listen { [weak self] in try? self?.follow() }
    }

    /// Saves were refused because another container has taken over a lease. Rows may differ from what they were before these
    /// saves, so they are reloaded.
    func didLoseLease() {
        // Before callers are notified, so that the next try asks for the lease.
        leases?.doubt()
        _ = try? leases?.current()
        try? follow()
        state.withLock { $0.noteOutsideWrites() }
        wakeMainIfListening()
    }

    /// Whether saves are pending that were made under the lease of one of those entities.
    func hasPendingSaves(of entities: Set<Int>) -> Bool {
        state.withLock { state in
            state.log.containsPending { save in save.changes.leases.contains { entities.contains($0.entity) } }
        }
    }
}

extension RootContext: LeaseKeeperDelegate {
    func report(_ failure: StoreFailure) { failures.report(failure) }
}

extension RootContext.State {
    fileprivate mutating func take(_ event: FeedEvent, _ block: PendingBlock?) {
        switch event {
        case .changes(var changes):
            guard let number = log.append(madeElsewhere: changes, block) else { return forget(nil) }
            changes.number = number
            feed.append(.changes(changes))
        case .unknown(let entities): forget(entities)
        }
    }

    private mutating func forget(_ entities: Set<Int>?) {
        log.forgetStoredRows()
        feed.append(.unknown(entities))
        log.forgetForMain(.outsideWrites)
        outsideWrites.wait(for: log.pending.last?.changes.number)
    }
}
