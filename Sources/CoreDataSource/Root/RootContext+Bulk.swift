internal import RowStore

/// Changes that the store makes itself, without anybody holding the rows.
extension RootContext {
    /// Makes a bulk change, and has everyone reload the rows of its entities.
    ///
    /// The caller has the queues of all contexts that may change these entities, so no save of them is made meanwhile. Those that
    /// were made before are committed first, and other data sources save as always.
    ///
    /// - Parameter basis: How far the caller's context had followed the feed when it found out what to change.
    /// - Returns: How many rows changed.
    /// - Throws: `storeClosed`, `storeReset`, what keeps earlier saves of these entities from being committed, and what the store
    ///   throws. Nothing has happened then.
    func make(_ change: BulkChange, in store: any BulkStore, basis: FeedPosition) throws(DataSourceError) -> Int {
        let entities = Set(change.queries.map(\.entity))
        try commitSaves(of: entities)
        try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootContext.closed }
            state.bulkChangeCount += 1
        }
        try checkNotReset(since: basis)
        let count = try store.make(change)
        // A reset while it was made has emptied the store.
        try checkNotReset(since: basis)
        guard count > 0 else { return 0 }
        state.withLock { state in
            state.feed.append(.unknown(entities))
            state.log.forgetForMain(.bulkChange)
        }
        wakeMainIfListening()
        return count
    }

    private func commitSaves(of entities: Set<Int>) throws(DataSourceError) {
        let flushed = Result { () throws(DataSourceError) in try flushAndWait() }
        let isPending = state.withLock { state in
            state.log.pending.contains { $0.changes.entities.contains { entities.contains($0.entity) } }
        }
        // Why saves of other entities were refused is told to those who made them.
        if isPending { try flushed.get() }
    }
}
