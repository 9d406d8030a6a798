internal import Foundation

/// The kept history of a store in memory.
struct MemoryHistory: Sendable {
    /// A record, and the number of bytes that the record adds to the size of the history.
    struct Entry: Sendable {
        var record: StoredRecord
        let byteCount: Int
    }

    private let layout: ModelLayout
    private let encoding: HistoryEncoding
    let limits: KeptHistory.Limits
    private(set) var id = UUID().uuidString
    /// The IDs of the earlier histories, with the reasons why they ended, oldest first.
    private(set) var ended: [(id: String, reason: String)] = []
    /// The records. The first ``droppedCount`` of them are dropped, and have no values.
    private var records: [StoredRecord] = []
    private var byteCounts: [Int] = []
    private var droppedCount = 0
    /// The bytes of the records that are not dropped.
    private var byteCount = 0
    /// The number of the newest record.
    private var last: Int64 = 0
    var consumers: [String: Int64] = [:]
    private let member: StoreMember

    private var schedule = TrimmingSchedule()

    private static let pageSize = 256
    private static let endedLimit = 16
    /// The maximum number of records that a commit drops, unless twice the number of added records is larger.
    private static let dropLimit = 64

    /// - Parameter name: The name of the container; nil for the name of the program.
    init(_ layout: ModelLayout, _ limits: KeptHistory.Limits, name: String?) {
        let process = ProcessInfo.processInfo
        member = StoreMember(number: 0, processID: process.processIdentifier, name: name ?? process.processName)
        self.layout = layout
        encoding = HistoryEncoding(layout)
        self.limits = limits
    }

    /// Makes the history from the value and the records that a store has written.
    ///
    /// - Parameter records: The records in ascending order, without gaps.
    init(
        _ layout: ModelLayout, _ limits: KeptHistory.Limits, name: String?, stored: StoredHistory,
        records: [StoredRecord]
    ) {
        self.init(layout, limits, name: name)
        (id, consumers) = (stored.id, stored.consumers)
        ended = stored.ended.map { ($0.id, $0.reason) }
        self.records = records
        byteCounts = records.map(byteCount)
        byteCount = byteCounts.reduce(0, +)
        last = records.last?.number ?? 0
    }

    /// All records that are not dropped, the oldest first.
    var all: ArraySlice<StoredRecord> { records[droppedCount...] }

    /// The numbers of the records; nil if there are none.
    var numbers: ClosedRange<Int64>? { all.first.map { $0.number...last } }

    /// Calls the body with the history.
    mutating func use<R>(_ body: (inout MemoryHistory) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try body(&self)
    }

    // MARK: Writing

    mutating func append(_ set: ChangeSet) {
        let entries = entries([set])
        append(entries, look(adding: entries))
    }

    /// Makes the records for some saves, but does not add them to the history.
    func entries(_ sets: [ChangeSet]) -> [Entry] {
        var entries: [Entry] = []
        for set in sets where set.hasRecord {
            let facts = set.facts ?? SaveFacts(.local, dataSourceName: nil, author: nil)
            let names = set.entities.map { layout.entities[$0.entity].historyName }
            var record = record(facts.kind, names, last + Int64(entries.count) + 1)
            (record.dataSourceName, record.author) = (facts.dataSourceName, facts.author)
            (record.undo, record.mark) = (facts.undo, facts.mark)
            record.revertsIncoming = facts.revertsIncoming
            if Int64(set.byteCount) > limits.largestSave {
                record.note = StoredRecord.tooLarge
            } else {
                record.changes = set
                // Do not keep the early write: only the commit needs it.
                record.changes?.earlyWrite = nil
            }
            entries.append(Entry(record: record, byteCount: byteCount(record)))
        }
        return entries
    }

    /// Returns the size of the record in a file, plus the size of the large values that updates have not changed: in memory, the
    /// record has these values, too.
    private func byteCount(_ record: StoredRecord) -> Int {
        guard let changes = record.changes else { return StoredRecord.rowOverhead + record.textByteCount }
        let unchanged = changes.byteCount - encoding.byteCount(changes)
        return encoding.recordedByteCount(changes) + unchanged + record.textByteCount
    }

    /// Drops all records and consumers, and begins a history with a new ID.
    mutating func end(_ reason: String) {
        ended = (ended + [(id, reason)]).suffix(MemoryHistory.endedLimit)
        id = UUID().uuidString
        (records, byteCounts, droppedCount, byteCount, last) = ([], [], 0, 0, 0)
        (consumers, schedule) = ([:], TrimmingSchedule())
        begin(reason)
    }

    /// Adds the first record of a history of a store that has existed before.
    mutating func begin(_ note: String) {
        var record = record(.reset, [], 1)
        record.note = note
        append([Entry(record: record, byteCount: byteCount(record))], nil)
    }

    private func record(_ kind: HistoryKind, _ entities: [String], _ number: Int64) -> StoredRecord {
        StoredRecord(
            number: number, time: TrimmingSchedule.now, kind: kind, member: member, entityNames: entities)
    }

    /// Adds records, and drops the oldest ones.
    ///
    /// - Parameter look: The result of ``look(adding:)``; nil to drop none.
    mutating func append(_ entries: [Entry], _ look: Look?) {
        schedule = added(entries)
        for entry in entries {
            records.append(entry.record)
            byteCounts.append(entry.byteCount)
            byteCount += entry.byteCount
        }
        last = records.last?.number ?? last
        guard let look else { return }
        schedule.didLook(at: look.time, isBehind: look.isBehind)
        for index in droppedCount..<droppedCount + look.dropped {
            byteCount -= byteCounts[index]
            let record = records[index]
            records[index] = StoredRecord(
                number: record.number, time: record.time, kind: record.kind, member: member, entityNames: [])
        }
        droppedCount += look.dropped
        // Each removal moves all later records, so remove many records together.
        guard droppedCount * 8 >= records.count else { return }
        records.removeFirst(droppedCount)
        byteCounts.removeFirst(droppedCount)
        droppedCount = 0
    }

    /// The schedule after the records are added.
    private func added(_ entries: [Entry]) -> TrimmingSchedule {
        var schedule = schedule
        schedule.add(bytes: entries.reduce(0) { $0 + Int64($1.byteCount) }, records: entries.count)
        return schedule
    }

    /// What a look for old records has found.
    struct Look: Sendable {
        /// The number of records to drop, beginning with the oldest.
        var dropped = 0
        /// Whether old records are left for a later save to drop.
        var isBehind = false
        /// The time of the look, in milliseconds since 1970.
        let time: Int64
    }

    /// Finds the records to drop when records are added. Returns nil if no look is due yet.
    func look(adding entries: [Entry]) -> Look? {
        guard let now = entries.last?.record.time, added(entries).isDue(at: now, limits) else { return nil }
        let unread = consumers.values.min() ?? .max
        let ages = HistoryAges(now: now, limits)
        // For a record from the future, use the time of the first later record that is not from the future.
        var next: StoredRecord?
        if let first = all.first, ages.isFuture(first.time) {
            next = all.first { !ages.isFuture($0.time) } ?? entries.last?.record
        }
        var look = Look(time: now)
        var kept = entries.reduce(byteCount) { $0 + $1.byteCount }
        for (record, bytes) in zip(all, byteCounts[droppedCount...]) {
            if let known = next, known.number <= record.number { next = nil }
            let isOld = ages.isOld(record.time, next: next?.time) && record.number <= unread
            guard Int64(kept) > limits.bytes || isOld else { break }
            if look.dropped == max(MemoryHistory.dropLimit, 2 * entries.count) {
                look.isBehind = true
                break
            }
            kept -= bytes
            look.dropped += 1
        }
        return look
    }

    // MARK: Reading

    /// The position before the oldest record.
    private var start: HistoryPosition {
        HistoryPosition(historyID: id, number: (all.first?.number ?? last + 1) - 1)
    }

    /// The position after the newest record.
    var newest: HistoryPosition { all.last.map(position) ?? start }

    private func position(_ record: StoredRecord) -> HistoryPosition {
        HistoryPosition(historyID: id, number: record.number, time: record.time)
    }

    /// Checks that a position belongs to the history.
    ///
    /// - Returns: The position after which to read: the given position, or the start of the history if the given position is nil.
    private func checked(_ position: HistoryPosition?) throws(DataSourceError) -> HistoryPosition {
        guard let position else { return start }
        try position.check(start: start) { id in ended.first { $0.id == id }?.reason }
        // If the files of a custom store were restored from a copy, the store may have lost the record at the position, or may
        // have made another record with the same number since.
        let index = Int(clamping: position.number) - Int(start.number) - 1
        let isKnown = index >= 0 && index < all.count
        let isOther = position.time != 0 && isKnown && all[droppedCount + index].time != position.time
        if position.number > last || isOther {
            throw DataSourceError(historyExpired: "The store was restored from an older copy.", start: start)
        }
        return position
    }

    func page(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        var page = HistoryPage(historyID: id, position: try checked(position))
        let first = Int(page.position.number - start.number)
        let looked = all.dropFirst(first).prefix(min(MemoryHistory.pageSize, filter.pageLimit))
        page.records = looked.filter(filter.includes)
        if let last = looked.last { page.position = self.position(last) }
        page.isMore = looked.endIndex < records.endIndex
        return page
    }

    /// - Returns: The position of the consumer after the change; nil after a removal.
    mutating func changeConsumer(
        _ name: String, _ change: ConsumerChange
    ) throws(DataSourceError) -> HistoryPosition? {
        let known = consumers[name].map { HistoryPosition(historyID: id, number: $0) }
        let position = try change.position(of: name, after: known, checked: checked)
        consumers[name] = position?.number
        return position
    }
}
