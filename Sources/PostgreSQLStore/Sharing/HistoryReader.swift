#if PostgreSQL
internal import Foundation
internal import ModelMigration
internal import RowStore

/// Reads the records and the state of a kept history, over any connection.
struct HistoryReader {
    let schema: PostgreSQLSchema
    /// Runs a statement.
    let rows: (String, [WireValue]) throws(DataSourceError) -> QueryResult

    init(
        _ schema: PostgreSQLSchema, _ rows: @escaping (String, [WireValue]) throws(DataSourceError) -> QueryResult
    ) {
        self.schema = schema
        self.rows = rows
    }

    init(_ schema: PostgreSQLSchema, _ connection: Connection) {
        self.init(schema) { sql, values throws(DataSourceError) in try connection.rows(sql, values) }
    }

    private static let endedLimit = 16
    private static let pageSize = 256
    /// The largest size in bytes of a page with several records. The same limit applies to the texts of all records that were
    /// read for a page, including records that the filter leaves out. A single record can be larger.
    private static let pageBytes: Int64 = 1 << 20

    private var damaged: DataSourceError {
        DataSourceError(
            .storeCorrupt,
            "The tables of the history in \(schema.name) differ from those that this library made. Open the store once with "
                + "Configuration.history = .none, which drops the history, and then keep a history again.")
    }

    // MARK: State

    /// The history of an open store.
    struct State: Sendable {
        let id: String
        let limits: KeptHistory.Limits
    }

    func state() throws(DataSourceError) -> State { State(id: try id(), limits: try limits()) }

    func set(_ name: String, number: Int64? = nil, text: String? = nil) throws(DataSourceError) {
        _ = try rows(
            """
            INSERT INTO \(schema.historyState) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET number = excluded.number, text = excluded.text
            """, [WireValue(name), number.map { WireValue($0) } ?? .null, text.map { WireValue($0) } ?? .null])
    }

    private func number(_ name: String) throws(DataSourceError) -> Int64? {
        let found = try rows("SELECT number FROM \(schema.historyState) WHERE name = $1", [WireValue(name)])
        return found.rowCount == 0 ? nil : found.optionalInteger(0, 0)
    }

    private func text(_ name: String) throws(DataSourceError) -> String? {
        let found = try rows("SELECT text FROM \(schema.historyState) WHERE name = $1", [WireValue(name)])
        return found.rowCount == 0 || found.isNull(0, 0) ? nil : found.text(0, 0)
    }

    func id() throws(DataSourceError) -> String {
        guard let id = try text("id") else { throw damaged }
        return id
    }

    func limits() throws(DataSourceError) -> KeptHistory.Limits {
        let found = try rows(
            """
            SELECT s.number, b.number FROM \(schema.historyState) s, \(schema.historyState) b \
            WHERE s.name = 'seconds' AND b.name = 'bytes'
            """, [])
        guard found.rowCount == 1, let seconds = found.optionalInteger(0, 0), let bytes = found.optionalInteger(0, 1),
            seconds > 0, seconds < 1 << 40, bytes > 0
        else { throw damaged }
        return KeptHistory.Limits(seconds: seconds, bytes: bytes)
    }

    func set(_ limits: KeptHistory.Limits) throws(DataSourceError) {
        try set("seconds", number: limits.seconds)
        try set("bytes", number: limits.bytes)
    }

    /// The names of all layouts that records use, by the names of their rows in `_history_state`. Damaged names are left out.
    private func layouts() throws(DataSourceError) -> [String: HistoryNames] {
        let found = try rows("SELECT name, text FROM \(schema.historyState) WHERE starts_with(name, 'names ')", [])
        var layouts: [String: HistoryNames] = [:]
        for row in 0..<found.rowCount where !found.isNull(row, 1) {
            layouts[found.text(row, 0)] = HistoryNames(text: found.text(row, 1))
        }
        return layouts
    }

    /// Stores the names that the parts of all layouts have after a migration to this schema, and drops the names of layouts without
    /// records.
    func follow(_ names: MigratedNames) throws(DataSourceError) {
        let found = try rows("SELECT min(number), max(number) FROM \(schema.history) WHERE number > 0", [])
        let records = found.optionalInteger(0, 0).flatMap { first in
            found.optionalInteger(0, 1).map { first...max(first, $0) }
        }
        let followed = HistoryEncoding(schema.layout).followed(try layouts(), through: names, records: records)
        for (name, followed) in followed {
            if let followed {
                try set(name, text: followed.text)
            } else {
                _ = try rows("DELETE FROM \(schema.historyState) WHERE name = $1", [WireValue(name)])
            }
        }
    }

    /// The history that a reset ends.
    struct Ended {
        let limits: KeptHistory.Limits
        /// The reasons why this history and earlier histories ended, by the IDs of the histories; at most ``endedLimit``.
        let reasons: [String: String]
    }

    /// - Parameter reason: The reason for the end, as a sentence.
    func ended(_ reason: String) throws(DataSourceError) -> Ended {
        var reasons = try endedReasons()
        while reasons.count >= HistoryReader.endedLimit, let any = reasons.keys.min() { reasons[any] = nil }
        reasons[try id()] = reason
        return Ended(limits: try limits(), reasons: reasons)
    }

    private func endedReasons() throws(DataSourceError) -> [String: String] {
        let found = try rows("SELECT name, text FROM \(schema.historyState) WHERE starts_with(name, 'ended ')", [])
        var reasons: [String: String] = [:]
        for row in 0..<found.rowCount { reasons[String(found.text(row, 0).dropFirst(6))] = found.text(row, 1) }
        return reasons
    }

    /// Fills the empty tables of a new history.
    func begin(_ limits: KeptHistory.Limits, _ ended: Ended?) throws(DataSourceError) {
        try set("id", text: UUID().uuidString)
        try set(limits)
        for (id, reason) in ended?.reasons ?? [:] { try set("ended \(id)", text: reason) }
        if ended != nil { try record(.reset, "The store was reset.") }
    }

    func record(_ kind: HistoryKind, _ note: String) throws(DataSourceError) {
        _ = try rows(
            schema.recordingEvent(kind, program: "$1::text", entities: "''", note: note),
            [WireValue(ProcessInfo.processInfo.processName)])
    }

    // MARK: Positions

    /// Returns the number of a record. Only another program can have written a number that is too large.
    private func checked(_ number: Int64) throws(DataSourceError) -> Int64 {
        guard PostgreSQLSchema.historyNumbers.contains(number) else { throw damaged }
        return number
    }

    /// Checks that a position belongs to the kept history.
    ///
    /// - Returns: The position after which to read: the given position, or the start of the history if the given position is
    ///   nil.
    func start(after position: HistoryPosition?) throws(DataSourceError) -> HistoryPosition {
        let id = try id()
        // The first parts of the oldest record might already be dropped. Then the record is incomplete, so begin with the next
        // record.
        let oldest = try rows(
            "SELECT number, part FROM \(schema.history) WHERE number > 0 ORDER BY number, part LIMIT 1", [])
        let number =
            try oldest.rowCount == 0 ? 1 : checked(oldest.integer(0, 0)) + (oldest.integer(0, 1) == 0 ? 0 : 1)
        let first = HistoryPosition(historyID: id, number: number - 1)
        guard let position else { return first }
        try position.check(start: first) { id throws(DataSourceError) in try endedReasons()[id] }
        let found = try rows(
            "SELECT time FROM \(schema.history) WHERE number = $1 AND part = 0", [WireValue(position.number)])
        let isOther = position.time != 0 && found.rowCount > 0 && found.integer(0, 0) != position.time
        if try position.number > end().number || isOther {
            throw DataSourceError(historyExpired: "The server has lost saves.", start: first)
        }
        return position
    }

    /// The position after the newest record.
    func end() throws(DataSourceError) -> HistoryPosition {
        let found = try rows(
            """
            SELECT number, time FROM \(schema.history) WHERE number > 0 AND part = 0 ORDER BY number DESC LIMIT 1
            """, [])
        guard found.rowCount > 0 else { return HistoryPosition(historyID: try id(), number: 0) }
        return HistoryPosition(
            historyID: try id(), number: try checked(found.integer(0, 0)), time: found.integer(0, 1))
    }

    // MARK: Records

    /// Returns the next page of the records after a position. Must run in a transaction that sees one state.
    func page(after position: HistoryPosition?, _ filter: HistoryFilter) throws(DataSourceError) -> HistoryPage {
        let start = try start(after: position)
        let filter = filter.entityNames == nil ? filter : filter.including(try layouts().values)
        let pageSize = min(HistoryReader.pageSize, filter.pageLimit)
        var page = HistoryPage(historyID: start.historyID, position: start)
        let found = try heads(after: start.number, atMost: pageSize + 1)
        // If the result has fewer records than were found, the limit of bytes has cut off the others.
        page.isMore = found.rowCount > 0 && Int64(found.rowCount) < found.integer(0, 11)
        var bytes: Int64 = 0
        for row in 0..<found.rowCount {
            let record = StoredRecord(found, row)
            let isWanted = filter.includes(record)
            let size = filter.includesValues ? found.integer(row, 10) : 0
            if row == pageSize
                || isWanted && !page.records.isEmpty && size > HistoryReader.pageBytes - bytes
            {
                page.isMore = true
                break
            }
            // A record in the middle can be missing only if another program has deleted it.
            guard record.number == page.position.number + 1 else { throw damaged }
            page.position = HistoryPosition(historyID: page.historyID, number: record.number, time: record.time)
            guard isWanted else { continue }
            page.records.append(record)
            bytes = size > HistoryReader.pageBytes - bytes ? HistoryReader.pageBytes : bytes + max(size, 0)
        }
        if filter.includesValues { try readChanges(&page.records) }
        return page
    }

    /// Reads records without their changes. The eleventh column has the size of the record with all of its parts. The twelfth
    /// column has the number of records that the result would have without the limit of bytes.
    private func heads(after number: Int64, atMost count: Int) throws(DataSourceError) -> QueryResult {
        let texts = ["source", "author", "program", "entities", "note"]
        let byteCount = texts.map { "coalesce(octet_length(\($0)), 0)::bigint" }.joined(separator: " + ")
        // The size of a record with all of its parts is the distance from its start to the start of the next record.
        return try rows(
            """
            SELECT number, time, kind, source, author, member, process, program, entities, note, size, found FROM \
            (SELECT heads.*, count(*) OVER () AS found, row_number() OVER (ORDER BY number) AS place, \
            sum(\(byteCount)) OVER (ORDER BY number) AS texts FROM \
            (SELECT number, time, kind, source, author, member, process, program, entities, note, coalesce((SELECT next.start \
            FROM \(schema.history) next WHERE next.number = least(record.number, \(Int64.max - 1)) + 1 AND next.part = 0), \
            \(schema.historyEnd.bytes)) - start AS size FROM \(schema.history) record \
            WHERE number > $1 AND part = 0 ORDER BY number LIMIT \(count)) heads) counted \
            WHERE place = 1 OR texts <= \(HistoryReader.pageBytes) ORDER BY number
            """, [WireValue(number)])
    }

    private func readChanges(_ records: inout [StoredRecord]) throws(DataSourceError) {
        let encoding = HistoryEncoding(schema.layout)
        var names: [UInt64: HistoryNames] = [:]
        let wanted = records.filter { $0.note == nil }.map(\.number)
        if wanted.isEmpty { return }
        let found = try rows(
            """
            SELECT number, part, last, changes FROM \(schema.history) WHERE number = ANY($1::bigint[]) ORDER BY number, part
            """, [WireValue(wanted)])
        var row = 0
        for index in records.indices where records[index].note == nil {
            var (changes, part, isLast) = (ChangeSet(entities: []), Int64(0), false)
            while !isLast {
                guard row < found.rowCount, found.integer(row, 0) == records[index].number,
                    found.integer(row, 1) == part
                else { throw damaged }
                let words = ChangeEncoding.words(found.bytes(row, 3))
                let decoded = try encoding.changes(words) { signature throws(DataSourceError) in
                    if let known = names[signature] { return known }
                    let text = try text(HistoryEncoding.namesKey(signature))
                    names[signature] = text.flatMap { HistoryNames(text: $0) }
                    return names[signature]
                }
                guard let decoded else { throw damaged }
                changes.add(part: decoded)
                isLast = found.isTrue(row, 2)
                (row, part) = (row + 1, part + 1)
            }
            records[index].changes = changes
        }
    }

    // MARK: Inspection

    /// Must run in a transaction that sees one state.
    ///
    /// - Parameters:
    ///   - layout: The layout with which the rows are decoded; nil to leave the rows undecoded.
    ///   - tail: The maximum number of records. The newest records are returned.
    func inspection(_ layout: ModelLayout?, tail: Int) throws(DataSourceError) -> InspectedHistory {
        let (start, end) = (try start(after: nil), try end())
        let last = HistoryPosition(historyID: start.historyID, number: max(start.number, end.number - Int64(tail)))
        let records = try InspectedHistory.newest(tail, after: last) { position, filter throws(DataSourceError) in
            try page(after: position, filter)
        }
        let sizes = try rows(
            "SELECT least(coalesce(sum(size), 0), 1e15)::bigint FROM \(schema.history) WHERE number > 0", [])
        return InspectedHistory(
            limits: try limits(), numbers: (start.number + 1, end.number), byteCount: sizes.integer(0, 0),
            consumers: try consumers(), records: records, layout: layout)
    }

    /// All consumers, with the numbers of the last records that they have read.
    private func consumers() throws(DataSourceError) -> [(name: String, number: Int64)] {
        let prefix = HistoryReader.consumerKey("")
        let found = try rows(
            "SELECT name, number FROM \(schema.historyState) WHERE starts_with(name, $1) AND number IS NOT NULL ORDER BY 1",
            [WireValue(prefix)])
        return (0..<found.rowCount).map { row in
            (String(found.text(row, 0).dropFirst(prefix.count)), found.integer(row, 1))
        }
    }

    // MARK: Consumers

    private static func consumerKey(_ name: String) -> String { "consumer \(name)" }

    /// The position of a consumer; nil if it is not registered.
    func consumer(_ name: String) throws(DataSourceError) -> HistoryPosition? {
        guard let number = try number(HistoryReader.consumerKey(name)) else { return nil }
        return HistoryPosition(historyID: try id(), number: try checked(number))
    }

    /// Registers, moves or removes a consumer, as the change says. Must run in a transaction.
    func change(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        let (key, known) = (HistoryReader.consumerKey(name), try consumer(name))
        let position = try change.position(of: name, after: known, checked: start)
        if let position {
            if position != known { try set(key, number: position.number) }
        } else {
            _ = try rows("DELETE FROM \(schema.historyState) WHERE name = $1", [WireValue(key)])
        }
        return position
    }
}

extension StoredRecord {
    fileprivate init(_ found: QueryResult, _ row: Int) {
        func text(_ column: Int) -> String? { found.isNull(row, column) ? nil : found.text(row, column) }
        let member = StoreMember(
            number: found.integer(row, 5), processID: Int32(truncatingIfNeeded: found.integer(row, 6)),
            name: found.text(row, 7))
        self.init(
            number: found.integer(row, 0), time: found.integer(row, 1), kindText: found.text(row, 2),
            member: member, entityNames: found.text(row, 8).split(separator: "\n").map(String.init))
        (dataSourceName, author, note) = (text(3), text(4), text(9))
    }
}
#endif
