internal import Foundation

/// The kept history of a store in memory.
struct MemoryHistory: Sendable {
    private let layout: ModelLayout
    private let limits: KeptHistory.Limits
    private var id = UUID().uuidString
    /// The reasons for the ends of earlier histories, by their IDs, the oldest first.
    private var ended: [(id: String, reason: String)] = []
    private var records: [StoredRecord] = []
    private var byteCounts: [Int] = []
    private var byteCount = 0
    /// The number of the newest record.
    private var last: Int64 = 0
    private var consumers: [String: Int64] = [:]
    private let member: StoreMember

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

    /// Calls the body with the history.
    mutating func use<R>(_ body: (inout MemoryHistory) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try body(&self)
    }

    // MARK: Writing

    mutating func append(_ set: ChangeSet) {
        if set.entities.isEmpty { return }
        let facts = set.facts ?? SaveFacts(.local, dataSourceName: nil, author: nil)
        var record = record(facts.kind, set.entities.map { layout.entities[$0.entity].historyName })
        (record.dataSourceName, record.author, record.undo) = (facts.dataSourceName, facts.author, facts.undo)
        let bytes = set.byteCount
        if Int64(bytes) > limits.largestSave {
            record.note = StoredRecord.tooLarge
        } else {
            record.changes = set
            // The early write belongs to the commit.
            record.changes?.earlyWrite = nil
        }
        append(record, record.changes == nil ? 0 : bytes)
    }

    /// Drops all records and consumers, and begins a history with a new ID.
    mutating func end(_ reason: String) {
        ended = (ended + [(id, reason)]).suffix(MemoryHistory.endedLimit)
        id = UUID().uuidString
        (records, byteCounts, byteCount, last, consumers) = ([], [], 0, 0, [:])
        var record = record(.reset, [])
        record.note = reason
        append(record, 0)
    }

    private func record(_ kind: HistoryKind, _ entities: [String]) -> StoredRecord {
        StoredRecord(
            number: last + 1, time: Int64(Date().timeIntervalSince1970 * 1000), kind: kind, member: member,
            entityNames: entities)
    }

    private mutating func append(_ record: StoredRecord, _ bytes: Int) {
        last += 1
        records.append(record)
        byteCounts.append(bytes + MemoryHistory.recordOverhead)
        byteCount += bytes + MemoryHistory.recordOverhead
        let unread = consumers.values.min() ?? .max
        let ages = HistoryAges(now: record.time, limits)
        // The oldest records may be from the future.
        var next: StoredRecord?
        if let first = records.first, ages.isFuture(first.time) { next = records.first { !ages.isFuture($0.time) } }
        var (dropped, kept) = (0, byteCount)
        while dropped < records.count - 1 {
            let isTooMuch = Int64(kept) > limits.bytes
            if let known = next, known.number <= records[dropped].number { next = nil }
            let isOld = ages.isOld(records[dropped].time, next: next?.time)
            guard isTooMuch || isOld && records[dropped].number <= unread else { break }
            kept -= byteCounts[dropped]
            dropped += 1
        }
        // Each removal moves all later records, so remove many records at once.
        guard dropped * 8 >= records.count else { return }
        byteCount = kept
        records.removeFirst(dropped)
        byteCounts.removeFirst(dropped)
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

    private func check(_ position: HistoryPosition) throws(DataSourceError) {
        guard position.historyID == id else {
            guard let reason = ended.first(where: { $0.id == position.historyID })?.reason else {
                throw DataSourceError.historyOfOtherStore
            }
            throw DataSourceError(historyExpired: reason, start: start)
        }
        guard position.number >= start.number, position.number <= last else {
            throw DataSourceError(
                historyExpired: "The store keeps records for a limited time and in a limited number of bytes.",
                start: start)
        }
    }

    func page(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        if let position { try check(position) }
        var page = HistoryPage(historyID: id, position: position ?? start)
        let first = Int(page.position.number - start.number)
        let looked = records[first...].prefix(min(MemoryHistory.pageSize, filter.pageLimit))
        page.records = looked.filter(filter.includes)
        if let last = looked.last { page.position = self.position(last) }
        page.isMore = looked.endIndex < records.endIndex
        return page
    }

    mutating func changeConsumer(
        _ name: String, _ change: ConsumerChange
    ) throws(DataSourceError) -> HistoryPosition? {
        switch change {
        case .register, .resume:
            if case .resume(id) = change, consumers[name] == nil { throw DataSourceError(unknownConsumer: name) }
            let number = consumers[name] ?? start.number
            consumers[name] = number
            return HistoryPosition(historyID: id, number: number)
        case .move(let position):
            guard let known = consumers[name] else { throw DataSourceError(unknownConsumer: name) }
            guard position.historyID == id else { throw DataSourceError.historyOfOtherStore }
            guard position.number > known else { return HistoryPosition(historyID: id, number: known) }
            try check(position)
            consumers[name] = position.number
            return position
        case .remove:
            consumers[name] = nil
            return nil
        }
    }
}
