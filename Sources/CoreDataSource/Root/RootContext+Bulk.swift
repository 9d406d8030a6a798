internal import RowStore

/// Changes that the store makes itself, without anybody holding the rows.
extension RootContext {
    /// Makes a bulk change, and has everyone reload the rows of its entities.
    ///
    /// The caller has the queues of all contexts that may change these entities, so no save of them is made meanwhile. Those that
    /// were made before are committed first, and other data sources save as always.
    ///
    /// - Parameters:
    ///   - source: The data source that makes the change.
    ///   - basis: How far the caller's context had followed the feed when it found out what to change.
    /// - Returns: How many rows changed.
    /// - Throws: `storeClosed`; `storeReset`; `saveTakenBack` if an earlier save of the data source was refused meanwhile; what keeps
    ///   earlier saves of these entities from being committed, and what the store throws. Nothing has happened then.
    package func make(
        _ change: BulkChange, from source: SaveSource, basis: FeedPosition
    ) throws(DataSourceError) -> Int {
        guard let store = bulkStore else { preconditionFailure("The store makes no bulk changes.") }
        let entities = Set(change.queries.map(\.entity))
        try commitSaves(of: entities)
        try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootContext.closed }
            if let refusal = state.refusal(source.origin, basedOn: basis) { throw refusal }
            state.bulkChangeCount += 1
        }
        let count = try store.make(change)
        // Everybody is notified, whether or not a reset that has begun meanwhile succeeds.
        let isReset = state.withLock { state in
            if count > 0 {
                state.feed.append(.unknown(entities))
                state.log.forgetForMain(.bulkChange)
            }
            return basis.generation < state.log.generation
        }
        wakeMainIfListening()
        if isReset { throw RootContext.storeReset }
        return count
    }

    private func commitSaves(of entities: Set<Int>) throws(DataSourceError) {
        let flushed = Result { () throws(DataSourceError) in try flushAndWait() }
        let isPending = state.withLock { state in
            state.log.pending.contains { $0.changes.entities.contains { entities.contains($0.entity) } }
        }
        // If saves of other entities were refused, those who made them get the reason.
        if isPending { try flushed.get() }
    }
}
