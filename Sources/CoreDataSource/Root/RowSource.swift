internal import RowStore

/// Where a context reads its rows: from the root, which always has the newest ones, or from a snapshot of it.
package enum RowSource {
    case root(RootContext)
    case snapshot(RootSnapshot)

    /// The number of the newest save that a read can see.
    var newestSave: Int64 {
        switch self {
        case .root(let root): root.newestSave
        case .snapshot(let snapshot): snapshot.newestSave
        }
    }

    /// How often the store had been reset.
    var generation: Int {
        switch self {
        case .root(let root): root.generation
        case .snapshot(let snapshot): snapshot.generation
        }
    }

    func hasPendingRows(_ entity: Int) -> Bool {
        switch self {
        case .root(let root): root.hasPendingRows(entity)
        case .snapshot(let snapshot): !snapshot.pending.isEmpty(entity)
        }
    }

    /// Reads the store, and looks up what it may lack; reads once more if the store was reset meanwhile.
    ///
    /// - Parameter pending: Looks into the pending rows, of saves after the given number.
    /// - Returns: Both, and the number of the newest save that they take into account.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64) {
        switch self {
        case .root(let root): return try root.read(isolation, body, pending: pending)
        case .snapshot(let snapshot):
            return try snapshot.read(body, pending)
        }
    }

    /// The same, but nil if the store was reset meanwhile.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64)? {
        switch self {
        case .root(let root): return try root.readOnce(isolation, body, pending: pending)
        case .snapshot(let snapshot): return try snapshot.read(body, pending)
        }
    }
}

/// The store and the pending saves as they were at one moment. It is valid during the body of
/// ``RootContext/withSnapshot(_:)`` only.
package struct RootSnapshot {
    fileprivate let reader: any StoreReader
    fileprivate let pending: PendingRows
    /// Pending rows of saves after this number count.
    fileprivate let start: Int64
    fileprivate let newestSave: Int64
    fileprivate let generation: Int

    fileprivate func read<R, P>(
        _ body: (any StoreReader) throws(DataSourceError) -> R, _ pending: (borrowing PendingRows, Int64) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: Int64) {
        let result = try body(reader)
        return (result, pending(self.pending, start), newestSave)
    }
}

extension RootContext {
    /// The newest rows.
    package var rows: RowSource { .root(self) }

    /// Passes a state of all rows to the body that no later save changes.
    ///
    /// Writers continue meanwhile; the write-ahead log cannot be restarted before the body returns.
    func withSnapshot<R>(
        _ body: (RootSnapshot) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        while true {
            if let result = try withSnapshotOnce(body) { return result }
        }
    }

    /// The same, but nil if the store was reset as it began: then the log has forgotten what was pending over the rows that the
    /// store still shows. It is also nil if a bulk change began meanwhile.
    private func withSnapshotOnce<R>(
        _ body: (RootSnapshot) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        let (start, oldest) = state.withLock { ($0.log.beginRead(), $0.readBasis) }
        var isReading = true
        defer { if isReading { state.withLock { $0.log.endRead(from: start) } } }
        return try store.read(.snapshot) { reader throws(DataSourceError) -> R? in
            // A transaction sees the state at its first read. The pending rows are copied after that, so that nothing is
            // missing between the two.
            if let entity = layout.entities.first(where: { !$0.isAbstract }) {
                _ = try reader.row(entity: entity.index, key: 0)
            }
            try follow(to: reader.position)
            let (pending, newest, basis) = state.withLock { state in
                // Before the read ends, because after it rows are forgotten that the store did not have when it began.
                defer { state.log.endRead(from: start) }
                return (state.log.rows, state.log.newest, state.readBasis)
            }
            isReading = false
            guard basis == oldest else { return nil }
            return try body(
                RootSnapshot(
                    reader: reader, pending: pending, start: start, newestSave: newest, generation: basis.generation))
        }
    }
}
