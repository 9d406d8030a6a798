#if PostgreSQL
package import RowStore

extension PostgreSQLStore: RecordStore {
    package func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try readingHistory { history throws(DataSourceError) in try history.page(after: position, filter) }
    }

    package func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try readingHistory { history throws(DataSourceError) in try history.end() }
    }

    package func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try changeHistory { history throws(DataSourceError) in try history.change(name, change) }
    }

    private func readingHistory<R>(
        _ body: (HistoryReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try follower.readHistory(body)
    }
}

extension StoreFollower {
    /// Reads the kept history.
    func readHistory<R>(_ body: (HistoryReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try read { reader throws(DataSourceError) in
            guard let reader = reader as? Reader else { throw DataSourceError.historyNotKept }
            return try body(reader.historyReader)
        }
    }
}
#endif
