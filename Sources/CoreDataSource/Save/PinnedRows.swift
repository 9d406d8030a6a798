package import RowStore

/// The rows of a pinned main context, or of a loop over pages: an open snapshot of the store, and the rows that were pending when it was
/// opened.
///
/// The snapshot ends if the store is reset or closed, or loses the snapshot. From then on, reads return the newest rows, as they do
/// without a snapshot.
package final class PinnedRows: Sendable {
    /// The longest time for which one call can keep rows.
    private static let longestLimit = Duration.seconds(86_400)

    let root: RootTier
    /// Nil after ``end()``.
    private let snapshot: Guarded<(any StoreSnapshot)?>
    private let pending: PendingRows
    /// The store's snapshot has the rows of all saves up to this number. Rows of later saves may be missing.
    private let start: SaveNumber
    private let newestPinnedSave: SaveNumber
    private let pinnedGeneration: Int

    fileprivate init(
        _ root: RootTier, _ snapshot: any StoreSnapshot, _ pending: PendingRows, start: SaveNumber, newest: SaveNumber,
        generation: Int
    ) {
        (self.root, self.snapshot, self.pending) = (root, Guarded(snapshot), pending)
        (self.start, newestPinnedSave, pinnedGeneration) = (start, newest, generation)
    }

    /// Returns the requested time limit, but at least 0 seconds and at most a day.
    static func limit(_ requested: Duration) -> Duration { max(.zero, min(requested, longestLimit)) }

    /// Whether the store was reset or closed, or has lost the snapshot, or ``end()`` was called.
    var hasEnded: Bool { snapshot.withLock { $0 }?.hasEnded ?? true || root.generation != pinnedGeneration }

    /// Releases the snapshot.
    package func end() {
        // The snapshot may wait for a lock, so it is released after this lock.
        _ = snapshot.withLock { snapshot in
            defer { snapshot = nil }
            return snapshot
        }
    }

    /// Whether the store has lost the snapshot, although the store is open and was not reset. False after ``end()``.
    var isLost: Bool {
        guard snapshot.withLock({ $0 })?.hasEnded ?? false else { return false }
        return root.state.withLock { state in
            !state.isClosed && !state.log.isResetting && state.log.generation == pinnedGeneration
        }
    }

    /// The number of the newest save that the rows include.
    package var newestSave: SaveNumber { hasEnded ? root.newestSave : newestPinnedSave }

    var generation: Int { hasEnded ? root.generation : pinnedGeneration }

    func hasPendingRows(_ entity: Int) -> Bool {
        hasEnded ? root.hasPendingRows(entity) : !pending.isEmpty(entity)
    }

    /// Reads from the snapshot; see ``RootTier/read(_:_:pending:)``.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending look: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber) {
        if let result = try readSnapshot(body) { return (result, look(pending, start), newestPinnedSave) }
        return try root.read(isolation, body, pending: look)
    }

    /// Reads from the snapshot; see ``RootTier/readOnce(_:_:pending:)``.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending look: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber)? {
        var hasBegun = false
        let result = try readSnapshot { reader throws(DataSourceError) in
            hasBegun = true
            return try body(reader)
        }
        if let result { return (result, look(pending, start), newestPinnedSave) }
        return hasBegun ? nil : try root.readOnce(isolation, body, pending: look)
    }

    /// Reads what the snapshot knows of a scope.
    ///
    /// - Returns: The scope, or nil if the snapshot knows nothing of it. The outer optional is nil if the snapshot has ended.
    func scope(named name: String) throws(DataSourceError) -> StoredScope?? {
        try readSnapshot { reader throws(DataSourceError) in try (reader as? any ScopeReader)?.scope(named: name) }
    }

    /// Calls the body with the key of each matching row of one entity, in the order of the query, without keeping the rows.
    ///
    /// If the snapshot has ended, some keys are missing.
    func forEachKey(
        _ query: RowQuery, _ layout: EntityLayout, _ body: (Int64) -> Void
    ) throws(DataSourceError) {
        let newer = pending.view(query.entity, after: start)
        if newer.isEmpty {
            _ = try readSnapshot { reader throws(DataSourceError) in try reader.forEachRow(query) { body($0.key) } }
            return
        }
        var (offset, limit) = (query.offset, query.limit ?? .max)
        func pass(_ key: Int64) {
            if offset > 0 {
                offset -= 1
            } else if limit > 0 {
                limit -= 1
                body(key)
            }
        }
        var more = try newer.rows(query, layout).sorted { $1.precedes($0, by: query.sort, layout) }
        _ = try readSnapshot { reader throws(DataSourceError) in
            try reader.forEachRow(query.widened(by: newer.greatestCount)) { stored in
                while let row = more.last, row.precedes(stored, by: query.sort, layout) {
                    pass(row.key)
                    more.removeLast()
                }
                if !newer.replaces(stored.key) { pass(stored.key) }
            }
        }
        for row in more.reversed() { pass(row.key) }
    }

    /// - Returns: Nil if the snapshot has ended.
    private func readSnapshot<R>(
        _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        guard !hasEnded, let snapshot = snapshot.withLock({ $0 }) else { return nil }
        // If this read has lost the snapshot, notify the main context, so that it follows saves again even without another
        // read.
        defer { if snapshot.hasEnded, isLost { root.notifyMainIfListening() } }
        return try snapshot.read(body)
    }
}

/// The purpose of a snapshot that stays open. Errors and reports name this purpose.
package enum SnapshotUse: Sendable {
    case pin, pages

    /// The name of the reader in the report about a log that cannot be emptied.
    fileprivate var name: String {
        switch self {
        case .pin: "the pinned main context"
        case .pages: "a loop over pages"
        }
    }

    fileprivate var notKept: DataSourceError {
        let consequence =
            switch self {
            case .pin: "so the main context cannot be pinned. Use a store of this package, or read in container.read."
            case .pages:
                "so its pages cannot all show the same state. Use a store of this package, or fetch pages with ObjectRequest.after, which show the state at each fetch."
            }
        return DataSourceError(.snapshotsNotKept, "This kind of store cannot keep a snapshot, \(consequence)")
    }

    fileprivate func busy(tries: Int) -> DataSourceError {
        let cause = "because large changes of the store began during each of \(tries) tries."
        return switch self {
        case .pin:
            DataSourceError(.storeBusy, "The main context was not pinned, \(cause) Pin the context later.")
        case .pages: DataSourceError(.storeBusy, "The first page was not read, \(cause) Begin the loop later.")
        }
    }
}

extension RootTier {
    private static let pinTries = 8

    /// The bytes of the store's log; nil for a store without a log.
    package var logByteCount: Int? { (store as? any SnapshotStore)?.logByteCount }

    /// The memory of the saves that wait for the main context, in bytes.
    package var unmergedByteCount: Int { state.withLock { $0.log.unmergedByteCount } }

    /// Opens a snapshot of all rows, which stays open until it is released.
    ///
    /// - Throws: `snapshotsNotKept`; `storeClosed`; `storeBusy` if large changes of the store begin during each try; errors
    ///   of the store.
    package func pinnedRows(for use: SnapshotUse = .pin) throws(DataSourceError) -> PinnedRows {
        guard let store = store as? any SnapshotStore else { throw use.notKept }
        guard store.isRemote else { return try pinnedRows(store, use) }
        return try MainWait.limited(to: mainPatience) { () throws(DataSourceError) in try pinnedRows(store, use) }
    }

    private func pinnedRows(_ store: any SnapshotStore, _ use: SnapshotUse) throws(DataSourceError) -> PinnedRows {
        for _ in 0..<RootTier.pinTries {
            if let rows = try pinnedRowsOnce(store, use) { return rows }
        }
        throw use.busy(tries: RootTier.pinTries)
    }

    /// Returns nil if a reset or a bulk change began, or pending rows were dropped, before the snapshot was complete.
    private func pinnedRowsOnce(_ store: any SnapshotStore, _ use: SnapshotUse) throws(DataSourceError) -> PinnedRows? {
        let (start, oldest) = state.withLock { ($0.log.beginRead(), $0.readBasis) }
        var isReading = true
        defer { if isReading { state.withLock { $0.log.endRead(from: start) } } }
        let snapshot = try store.openSnapshot(named: use.name)
        let first = layout.entities.first { !$0.isAbstract }
        // A snapshot sees the state at its first read. Copy the pending rows after this read, so that each save is in the
        // snapshot or in the copy.
        let found = try snapshot.read { reader throws(DataSourceError) in
            if let first { _ = try reader.row(entity: first.index, key: 0) }
            return reader.position
        }
        guard let position = found else { return nil }
        try follow(to: position)
        let (pending, newest, basis) = state.withLock { state in
            // Copy the rows first, and then end the read in the log. From then on, the log may drop rows that the snapshot
            // needs.
            defer { state.log.endRead(from: start) }
            return (state.log.rows, state.log.newest, state.readBasis)
        }
        isReading = false
        guard basis == oldest else { return nil }
        return PinnedRows(self, snapshot, pending, start: start, newest: newest, generation: basis.generation)
    }

    /// Lets the store empty its log, after the main context has moved to a newer snapshot and has released the older one.
    ///
    /// For this, the store restarts the transactions of the snapshots. If a restart fails, the snapshot is lost. The main
    /// context then follows saves again, even if nobody reads.
    ///
    /// - Parameter rows: The rows of the main context.
    func emptyLogSoon(beside rows: PinnedRows?) {
        guard let store = store as? any SnapshotStore, store.logByteCount != nil else { return }
        // A strong reference would keep the snapshot open after the context has moved on.
        queue.async { [weak rows] in
            store.emptyLogBesideSnapshots()
            if let rows, rows.isLost { rows.root.notifyMainIfListening() }
        }
    }

    typealias SavesForMain = (saves: [ChangeSet], lastReset: Int, staleness: SaveLog.Staleness?)

    /// Takes the saves that a pinned main context shows and has not merged yet. Also returns the current generation and, if
    /// the context must reload, the reason. The log keeps this reason, because it may be newer than the pinned rows.
    ///
    /// - Returns: The saves, and ``SaveLog/unknownChangeCount``.
    func takeForMain(through last: SaveNumber) -> (taken: SavesForMain, unknownChangeCount: Int) {
        state.withLock { state in
            let saves = state.log.takeForMain(through: last)
            return ((saves, state.log.generation, state.log.staleness), state.log.unknownChangeCount)
        }
    }

    /// See ``SaveLog/unknownChangeCount``.
    var unknownChangeCount: Int { state.withLock { $0.log.unknownChangeCount } }

    /// Removes and returns the reason why the main context must reload.
    package func takeStaleness() -> SaveLog.Staleness? { state.withLock { $0.log.takeStaleness() } }

    /// Makes the main context reload later, if there is a reason.
    package func makeMainReload(_ reason: SaveLog.Staleness?) {
        if let reason { state.withLock { $0.log.makeMainReload(reason) } }
    }
}
