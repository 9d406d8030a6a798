internal import CSQLite
internal import RowStore

/// Reads the records of a kept history.
struct HistoryReading {
    let connection: Connection
    private let encoding: HistoryEncoding
    /// The names of entities and columns in layouts other than the current one, by the signature of the layout.
    private var names: [UInt64: HistoryNames] = [:]
    private var entityNames = EntityNames()

    /// A page ends after ``pageSize`` records were read, including records that the filter leaves out. A page also ends after
    /// about ``pageBytes`` bytes of changes and texts.
    private static let pageSize = 1024
    private static let pageBytes = 1 << 20

    init(_ connection: Connection, _ encoding: HistoryEncoding) {
        self.connection = connection
        self.encoding = encoding
    }

    /// Returns the next page of the records after a position. Must run in a transaction.
    mutating func page(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        let start = try start(after: position)
        let filter = filter.entityNames == nil ? filter : filter.including(try HistoryTables.layouts(connection).values)
        var page = HistoryPage(historyID: start.historyID, position: start)
        let statement = try connection.prepare(
            """
            SELECT "key", "last", "time", "kind", "source", "author", "member", "process", "program", "entities", "note", \
            "changes" FROM "_history" WHERE "key" >= ?1 ORDER BY "key"
            """)
        sqlite3_bind_int64(statement.handle, 1, (start.number + 1) << HistoryTables.partBits)
        var (bytes, count) = (0, 0)
        while true {
            let code = statement.step()
            if code == SQLITE_DONE { return page }
            guard code == SQLITE_ROW else { throw connection.error(code, while: "reading") }
            if count == min(HistoryReading.pageSize, filter.pageLimit) || bytes >= HistoryReading.pageBytes {
                page.isMore = true
                return page
            }
            let record = try record(statement, filter, &bytes)
            // A record in the middle can be missing only if another program has deleted it.
            guard record.number == page.position.number + 1 else { throw HistoryTables.damaged(connection) }
            page.position = HistoryPosition(historyID: page.historyID, number: record.number, time: record.time)
            count += 1
            guard filter.includes(record) else { continue }
            page.records.append(record)
            bytes += record.textByteCount
        }
    }

    // MARK: Positions

    /// Checks that a position belongs to the kept history.
    ///
    /// - Returns: The position after which to read: the given position, or the start of the history if the given position is
    ///   nil.
    func start(after position: HistoryPosition?) throws(DataSourceError) -> HistoryPosition {
        let id = try HistoryTables.id(connection)
        let first = HistoryPosition(historyID: id, number: try firstNumber() - 1)
        guard let position else { return first }
        try position.check(start: first) { id throws(DataSourceError) in try HistoryTables.ended(connection)[id] }
        let newest = try connection.values("SELECT max(\"key\") FROM \"_history\"").first?.first
        let last: Int64 = if case .integer(let key)? = newest { key >> HistoryTables.partBits } else { 0 }
        let found = try connection.values(
            "SELECT \"time\" FROM \"_history\" WHERE \"key\" = ?1",
            [.integer(position.number << HistoryTables.partBits)])
        let isOther = position.time != 0 && found.first.map { $0[0] != .integer(position.time) } ?? false
        if position.number > last || isOther {
            throw DataSourceError(historyExpired: "The store was restored from an older copy.", start: first)
        }
        return position
    }

    /// The position after the newest record.
    func end() throws(DataSourceError) -> HistoryPosition {
        let row = try connection.values(
            """
            SELECT "key", "time" FROM "_history" WHERE "key" & \((1 << HistoryTables.partBits) - 1) = 0 \
            ORDER BY "key" DESC LIMIT 1
            """
        ).first
        guard let row else { return try start(after: nil) }
        guard case .integer(let key) = row[0], case .integer(let time) = row[1] else {
            throw HistoryTables.damaged(connection)
        }
        return HistoryPosition(
            historyID: try HistoryTables.id(connection), number: key >> HistoryTables.partBits, time: time)
    }

    /// The number of the oldest complete record. If there is none, the number of the next record.
    private func firstNumber() throws(DataSourceError) -> Int64 {
        // The first parts of the oldest record may already be dropped. Then the record is incomplete, and the next one counts.
        let rows = try connection.values("SELECT \"key\" FROM \"_history\" ORDER BY \"key\" LIMIT 1")
        guard let row = rows.first else { return 1 }
        guard case .integer(let key) = row[0], HistoryTables.numbers.contains(key >> HistoryTables.partBits) else {
            throw HistoryTables.damaged(connection)
        }
        let isComplete = key & (1 << HistoryTables.partBits - 1) == 0
        return key >> HistoryTables.partBits + (isComplete ? 0 : 1)
    }

    // MARK: Records

    /// Reads a record whose first row is the current row of the statement.
    private mutating func record(
        _ statement: Statement, _ filter: HistoryFilter, _ bytes: inout Int
    ) throws(DataSourceError) -> StoredRecord {
        guard case .integer(let first) = statement.value(0), var record = StoredRecord(statement, &entityNames),
            first & (1 << HistoryTables.partBits - 1) == 0
        else { throw HistoryTables.damaged(connection) }
        let hasValues = record.note == nil && filter.includesValues && filter.includes(record)
        var key = first
        if hasValues { record.changes = ChangeSet(entities: []) }
        while true {
            if hasValues {
                guard let part = try part(statement, &bytes) else { throw HistoryTables.damaged(connection) }
                record.changes?.add(part: part)
            }
            if statement.value(1) == .integer(1) { return record }
            let code = statement.step()
            guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
            key += 1
            guard code == SQLITE_ROW, statement.value(0) == .integer(key) else {
                throw HistoryTables.damaged(connection)
            }
        }
    }

    private mutating func part(_ statement: Statement, _ bytes: inout Int) throws(DataSourceError) -> ChangeSet? {
        let start = sqlite3_column_blob(statement.handle, 11)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement.handle, 11))
        bytes += count
        let words = ChangeEncoding.words(UnsafeRawBufferPointer(start: start, count: count))
        return try encoding.changes(words) { signature throws(DataSourceError) in try names(signature) }
    }

    private mutating func names(_ signature: UInt64) throws(DataSourceError) -> HistoryNames? {
        if let known = names[signature] { return known }
        guard case .text(let text)? = try HistoryTables.value(HistoryEncoding.namesKey(signature), connection) else {
            return nil
        }
        names[signature] = HistoryNames(text: text)
        return names[signature]
    }
}

/// Splits the names of a record's entities. Keeps the last result, because most records have the same names as the record
/// before them.
private struct EntityNames {
    private var last = (text: "", names: [String]())

    /// - Parameter text: One name in each line.
    mutating func names(in text: String) -> [String] {
        if text != last.text { last = (text, text.split(separator: "\n").map(String.init)) }
        return last.names
    }
}

extension StoredRecord {
    /// Reads a record without its changes, from its first row.
    fileprivate init?(_ statement: Statement, _ entityNames: inout EntityNames) {
        guard case .integer(let key) = statement.value(0), case .integer(let time) = statement.value(2),
            case .text(let kind) = statement.value(3), case .integer(let member) = statement.value(6),
            case .integer(let process) = statement.value(7), case .text(let program) = statement.value(8),
            case .text(let entities) = statement.value(9)
        else { return nil }
        self.init(
            number: key >> HistoryTables.partBits, time: time, kindText: kind,
            member: StoreMember(number: member, processID: Int32(truncatingIfNeeded: process), name: program),
            entityNames: entityNames.names(in: entities))
        if case .text(let source) = statement.value(4) { dataSourceName = source }
        if case .text(let name) = statement.value(5) { author = name }
        if case .text(let text) = statement.value(10) { note = text }
    }
}
