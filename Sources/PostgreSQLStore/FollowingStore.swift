#if PostgreSQL
internal import RowStore

/// A store that reads its rows, its history and the saves of members with a ``StoreFollower``.
protocol FollowingStore: RecordStore, SnapshotStore, StoreSharing {
    var follower: StoreFollower { get }
}

extension FollowingStore {
    package var longestValue: Int { PostgreSQLOptions.longestValue }
    package var isRemote: Bool { true }
    package var sharing: (any StoreSharing)? { self }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try follower.read(body)
    }

    package func report(to handler: @escaping @Sendable (DataSourceError) -> Void) { follower.report(to: handler) }

    // MARK: Snapshots

    package func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot {
        try follower.openSnapshot()
    }

    package var logByteCount: Int? { nil }

    // MARK: Members

    package var leaseTimes: LeaseTimes { follower.options.leaseTimes }

    package func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage {
        try follower.readSaves(after: position)
    }

    package func listen(_ handler: @escaping @Sendable () -> Void) { follower.listen(handler) }

    // MARK: History

    package func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try readingHistory { history throws(DataSourceError) in try history.page(after: position, filter) }
    }

    package func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try readingHistory { history throws(DataSourceError) in try history.end() }
    }

    func readingHistory<R>(
        _ body: (HistoryReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try follower.read { reader throws(DataSourceError) in
            guard let reader = reader as? Reader else { throw DataSourceError.historyNotKept }
            return try body(reader.historyReader)
        }
    }
}
#endif
