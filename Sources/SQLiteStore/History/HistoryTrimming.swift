internal import CSQLite
internal import RowStore

/// Decides which records a transaction drops. Each transaction drops only a few records, so that no save waits long.
struct HistoryTrimming {
    /// The maximum number of rows that a transaction drops, and the maximum number of their bytes. The limits are higher for a
    /// transaction that adds many rows: it drops up to twice as many rows and bytes as it adds.
    private static let rowLimit = 64
    private static let byteLimit: Int64 = 2 << 20

    var schedule = TrimmingSchedule()
    /// The bytes and rows that the current transaction has added.
    private var added: Int64 = 0
    private var addedRows = 0

    mutating func begin() { (added, addedRows) = (0, 0) }

    /// - Parameter isFirst: Whether the row is the first one of its record.
    mutating func record(_ bytes: Int64, isFirst: Bool) {
        schedule.add(bytes: bytes, records: isFirst ? 1 : 0)
        added += bytes
        addedRows += 1
    }

    mutating func trim(
        _ connection: Connection, _ limits: KeptHistory.Limits, end: HistoryWriter.Place
    ) throws(DataSourceError) {
        guard added > 0 else { return }
        let now = TrimmingSchedule.now
        guard schedule.isDue(at: now, limits) else { return }
        let rowLimit = max(HistoryTrimming.rowLimit, 2 * addedRows)
        let rows = try connection.values(
            """
            SELECT "key", "start", "size", "time" FROM "_history" WHERE "key" < ?1 \
            ORDER BY "key" LIMIT \(rowLimit + 1)
            """, [.integer(end.number << HistoryTables.partBits)])
        let old = HistoryTables.Oldness(
            bytes: limits.bytes, end: end.end, ages: HistoryAges(now: now, limits),
            next: try HistoryTrimming.next(after: rows.first, connection, HistoryAges(now: now, limits)),
            unread: try HistoryTables.oldestUnread(connection))
        var (dropped, bytes): (Int64?, Int64) = (nil, 0)
        schedule.didLook(at: now, isBehind: false)
        for (index, row) in rows.enumerated() {
            guard case .integer(let key) = row[0], case .integer(let start) = row[1], case .integer(let size) = row[2],
                case .integer(let time) = row[3]
            else { throw HistoryTables.damaged(connection) }
            guard old.includes(key, start: start, time: time) else { break }
            let (sum, isOverflow) = bytes.addingReportingOverflow(size)
            bytes = isOverflow ? .max : sum
            if index == rowLimit
                || index > 0 && bytes > max(HistoryTrimming.byteLimit, added &* 2)
            {
                schedule.didLook(at: now, isBehind: true)
                break
            }
            dropped = key
        }
        guard let dropped else { return }
        _ = try connection.values("DELETE FROM \"_history\" WHERE \"key\" <= ?1", [.integer(dropped)])
    }

    /// If the oldest row is from the future, returns the first row that is not from the future; otherwise nil.
    private static func next(
        after row: [RowValue]?, _ connection: Connection, _ ages: HistoryAges
    ) throws(DataSourceError) -> (key: Int64, time: Int64)? {
        guard case .integer(let time)? = row?[3], ages.isFuture(time) else { return nil }
        let found = try connection.values(
            "SELECT \"key\", \"time\" FROM \"_history\" WHERE \"time\" <= ?1 ORDER BY \"key\" LIMIT 1",
            [.integer(ages.times.upperBound)])
        guard case .integer(let key)? = found.first?[0], case .integer(let time)? = found.first?[1] else { return nil }
        return (key, time)
    }
}

extension HistoryTables {
    /// Determines which rows are too old, or exceed the byte limit.
    struct Oldness {
        /// The byte limit of the history.
        let bytes: Int64
        /// The bytes of all rows so far, dropped rows included.
        let end: Int64
        let ages: HistoryAges
        /// If the oldest row is from the future, the first row that is not from the future. Nil in all other cases, and if
        /// all rows are from the future.
        let next: (key: Int64, time: Int64)?
        /// The number of the oldest record that a registered consumer has not read; nil without consumers.
        let unread: Int64?

        func includes(_ key: Int64, start: Int64, time: Int64) -> Bool {
            let (kept, isOverflow) = end.subtractingReportingOverflow(start)
            if isOverflow || kept > bytes { return true }
            guard ages.isOld(time, next: next.flatMap { key < $0.key ? $0.time : nil }) else { return false }
            return unread.map { key >> HistoryTables.partBits < $0 } ?? true
        }
    }

    /// The number of the oldest record that a registered consumer has not read; nil without consumers.
    static func oldestUnread(_ connection: Connection) throws(DataSourceError) -> Int64? {
        let found = try connection.values(
            "SELECT min(\"value\") FROM \"_history_state\" WHERE \"name\" >= 'consumer ' AND \"name\" < 'consumer!'")
        guard case .integer(let number)? = found.first?.first, number < Int64.max else { return nil }
        return number + 1
    }
}
