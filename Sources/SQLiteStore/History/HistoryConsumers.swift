internal import RowStore

/// The registered consumers of a history. The store keeps the number of the last record that each consumer has read.
extension HistoryReading {
    /// All consumers, with the numbers of the last records that they have read.
    private func consumers() throws(DataSourceError) -> [(name: String, number: Int64)] {
        let rows = try connection.values(
            """
            SELECT "name", "value" FROM "_history_state" WHERE "name" >= 'consumer ' AND "name" < 'consumer!' ORDER BY 1
            """)
        return rows.compactMap { row in
            guard case .text(let name) = row[0], case .integer(let number) = row[1] else { return nil }
            return (String(name.dropFirst(HistoryReading.key("").count)), number)
        }
    }

    /// - Parameter layout: The layout with which the rows are decoded; nil to leave the rows undecoded.
    func inspection(_ layout: ModelLayout?, tail: Int) throws(DataSourceError) -> InspectedHistory {
        let (start, end) = (try start(after: nil), try end())
        let last = HistoryPosition(historyID: start.historyID, number: max(start.number, end.number - Int64(tail)))
        var reading = self
        let records = try InspectedHistory.newest(tail, after: last) { position, filter throws(DataSourceError) in
            try reading.page(after: position, filter)
        }
        let bytes = try connection.values("SELECT total(\"size\") FROM \"_history\"").first?.first
        let count: Int64 = if case .real(let number)? = bytes { Int64(min(max(number, 0), 1e15)) } else { 0 }
        return InspectedHistory(
            limits: try HistoryTables.limits(connection), numbers: (start.number + 1, end.number), byteCount: count,
            consumers: try consumers(), records: records, layout: layout)
    }

    private static func key(_ name: String) -> String { "consumer \(name)" }

    /// The position of a consumer; nil if it is not registered.
    func consumer(_ name: String) throws(DataSourceError) -> HistoryPosition? {
        guard let value = try HistoryTables.value(HistoryReading.key(name), connection) else { return nil }
        guard case .integer(let number) = value, HistoryTables.numbers.contains(number) else {
            throw HistoryTables.damaged(connection)
        }
        return HistoryPosition(historyID: try HistoryTables.id(connection), number: number)
    }

    /// Registers, moves or removes a consumer, as the change says. Must run in a transaction.
    func change(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        let (key, known) = (HistoryReading.key(name), try consumer(name))
        let position = try change.position(of: name, after: known, checked: start)
        if let position {
            if position != known { try HistoryTables.set(key, .integer(position.number), connection) }
        } else {
            _ = try connection.values("DELETE FROM \"_history_state\" WHERE \"name\" = ?1", [.text(key)])
        }
        return position
    }
}
