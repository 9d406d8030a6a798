internal import Foundation

/// The kept history of a store in memory.
struct MemoryHistory: Sendable {
    /// A record, and the number of bytes with which it counts toward the limit of the history.
    struct Entry: Sendable {
        var record: StoredRecord
        let byteCount: Int
    }

    private let layout: ModelLayout
    let limits: KeptHistory.Limits
    private(set) var id = UUID().uuidString
    /// The IDs of the earlier histories, with the reasons why they ended, oldest first.
    private(set) var ended: [(id: String, reason: String)] = []
    private var records: [StoredRecord] = []
    private var byteCounts: [Int] = []
    private var byteCount = 0
    /// The number of the newest record.
    private var last: Int64 = 0
    var consumers: [String: Int64] = [:]
    private let member: StoreMember

    /// The number and the bytes of the records that were added since the last look for records to drop. The number begins so high
    /// that the first save looks: a custom store that is opened again may have old records, and its program may make few saves.
    private var added = (count: Int.max / 2, bytes: 0)

    private static let pageSize = 256
    private static let endedLimit = 16
    private static let recordOverhead = 160

    /// - Parameter name: The name of the container; nil for the name of the program.
    init(_ layout: ModelLayout, _ limits: KeptHistory.Limits, name: String?) {
        let process = ProcessInfo.processInfo
        member = StoreMember(number: 0, processID: process.processIdentifier, name: name ?? process.processName)
        self.layout = layout
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
        byteCounts = records.map { MemoryHistory.byteCount($0, values: $0.changes?.byteCount ?? 0) }
        byteCount = byteCounts.reduce(0, +)
        last = records.last?.number ?? 0
    }

    /// All records, the oldest first.
    var all: [StoredRecord] { records }

    /// The numbers of the records; nil if there are none.
    var numbers: ClosedRange<Int64>? { records.first.map { $0.number...last } }

    /// Calls the body with the history.
    mutating func use<R>(_ body: (inout MemoryHistory) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try body(&self)
    }

    // MARK: Writing

    mutating func append(_ set: ChangeSet) {
        let entries = entries([set])
        append(entries, dropping: countToDrop(adding: entries))
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
            let bytes = set.byteCount
            if Int64(bytes) > limits.largestSave {
                record.note = StoredRecord.tooLarge
            } else {
                record.changes = set
                // Do not keep the early write: only the commit needs it.
                record.changes?.earlyWrite = nil
            }
            entries.append(
                Entry(
                    record: record,
                    byteCount: MemoryHistory.byteCount(record, values: record.changes == nil ? 0 : bytes)))
        }
        return entries
    }

    /// - Parameter bytes: The bytes of the record's values.
    private static func byteCount(_ record: StoredRecord, values bytes: Int) -> Int {
        bytes + recordOverhead + record.textByteCount
    }

    /// Drops all records and consumers, and begins a history with a new ID.
    mutating func end(_ reason: String) {
        ended = (ended + [(id, reason)]).suffix(MemoryHistory.endedLimit)
        id = UUID().uuidString
        (records, byteCounts, byteCount, last, consumers, added) = ([], [], 0, 0, [:], (0, 0))
        begin(reason)
    }

    /// Adds the first record of a history of a store that has existed before.
    mutating func begin(_ note: String) {
        var record = record(.reset, [], 1)
        record.note = note
        append([Entry(record: record, byteCount: MemoryHistory.recordOverhead)], dropping: 0)
    }

    private func record(_ kind: HistoryKind, _ entities: [String], _ number: Int64) -> StoredRecord {
        StoredRecord(
            number: number, time: Int64(Date().timeIntervalSince1970 * 1000), kind: kind, member: member,
            entityNames: entities)
    }

    /// Adds records, and drops the oldest ones.
    mutating func append(_ entries: [Entry], dropping dropped: Int) {
        let all = unseen(entries)
        added = isLookDue(all) ? (0, 0) : all
        for entry in entries {
            records.append(entry.record)
            byteCounts.append(entry.byteCount)
            byteCount += entry.byteCount
        }
        last = records.last?.number ?? last
        if dropped == 0 { return }
        byteCount -= byteCounts[..<dropped].reduce(0, +)
        records.removeFirst(dropped)
        byteCounts.removeFirst(dropped)
    }

    /// The records since the last look, together with the given ones.
    private func unseen(_ entries: [Entry]) -> (count: Int, bytes: Int) {
        entries.reduce(added) { ($0.count + 1, $0.bytes + $1.byteCount) }
    }

    /// Whether to look for records to drop. A look visits up to an eighth of all records, and readers wait for it. So not every
    /// save makes one.
    private func isLookDue(_ unseen: (count: Int, bytes: Int)) -> Bool {
        unseen.count >= records.count / 64 || Int64(unseen.bytes) >= limits.bytes / 64
    }

    /// Returns how many of the oldest records are dropped when records are added.
    func countToDrop(adding entries: [Entry]) -> Int {
        guard let now = entries.last?.record.time, isLookDue(unseen(entries)) else { return 0 }
        let unread = consumers.values.min() ?? .max
        let ages = HistoryAges(now: now, limits)
        // For a record from the future, use the time of the first later record that is not from the future.
        var next: StoredRecord?
        if let first = records.first, ages.isFuture(first.time) {
            next = records.first { !ages.isFuture($0.time) } ?? entries.last?.record
        }
        var (dropped, kept) = (0, entries.reduce(byteCount) { $0 + $1.byteCount })
        while dropped < records.count {
            let isTooMuch = Int64(kept) > limits.bytes
            if let known = next, known.number <= records[dropped].number { next = nil }
            let isOld = ages.isOld(records[dropped].time, next: next?.time)
            guard isTooMuch || isOld && records[dropped].number <= unread else { break }
            kept -= byteCounts[dropped]
            dropped += 1
        }
        // Each removal moves all later records, so remove many records together.
        return dropped * 8 >= records.count ? dropped : 0
    }

    // MARK: Reading

    /// The position before the oldest record.
    private var start: HistoryPosition {
        HistoryPosition(historyID: id, number: (records.first?.number ?? last + 1) - 1)
    }

    /// The position after the newest record.
    var newest: HistoryPosition { records.last.map(position) ?? start }

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
        let isOther = position.time != 0 && records.indices.contains(index) && records[index].time != position.time
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
        let looked = records[first...].prefix(min(MemoryHistory.pageSize, filter.pageLimit))
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
