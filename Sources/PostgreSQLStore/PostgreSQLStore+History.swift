#if PostgreSQL
package import RowStore

extension PostgreSQLStore: HistoryStore {
    package func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try readingHistory { desk throws(DataSourceError) in try desk.page(after: position, filter) }
    }

    package func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try readingHistory { desk throws(DataSourceError) in try desk.end() }
    }

    package func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try changeHistory { desk throws(DataSourceError) in try desk.change(name, change) }
    }

    private func readingHistory<R>(
        _ body: (HistoryDesk) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try follower.read { reader throws(DataSourceError) in
            guard let reader = reader as? Reader else { throw DataSourceError.historyNotKept }
            return try body(reader.historyDesk)
        }
    }
}
#endif
