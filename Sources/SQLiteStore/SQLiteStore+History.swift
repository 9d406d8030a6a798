internal import Foundation
package import RowStore

extension SQLiteStore: RecordStore {
    static func makeHistory(
        _ opened: StoreOpening.Result, _ schema: StoreSchema, _ access: SharedAccess?, named name: String
    ) throws(DataSourceError) -> sending HistoryWriter? {
        guard opened.metadata.keepsHistory else { return nil }
        return try HistoryWriter(
            opened.connection, schema.layout, member: access?.member ?? .alone(name), isShared: access != nil)
    }

    package func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try readingHistory { (reading) throws(DataSourceError) in
            var reading = reading
            return try reading.page(after: position, filter)
        }
    }

    package func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try readingHistory { (reading) throws(DataSourceError) in try reading.end() }
    }

    package func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        switch change {
        case .register, .resume: if let known = try consumer(name) { return known }
        case .move, .remove: break
        }
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try writer.withLock { (writer) throws(DataSourceError) in
            let writer = try openWriter(&writer)
            return try writer.transaction { () throws(DataSourceError) in
                try HistoryReading(writer.connection, HistoryEncoding(schema.layout)).change(name, change)
            }
        }
    }

    private func consumer(_ name: String) throws(DataSourceError) -> HistoryPosition? {
        try readingHistory { (reading) throws(DataSourceError) in try reading.consumer(name) }
    }

    private func readingHistory<R>(
        _ body: (HistoryReading) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        let reader = try readers.take { () throws(DataSourceError) in
            try reopenIfLost()
            try checkUnchanged()
        }
        defer { readers.give(back: reader) }
        return try reader.run(.snapshot) { _ throws(DataSourceError) in
            try body(HistoryReading(reader.connection, HistoryEncoding(schema.layout)))
        }
    }
}
