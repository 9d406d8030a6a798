internal import Foundation

/// The part of a custom store's history besides the records: the limits, the consumers, and all that is needed to read the
/// records. The store encodes and decodes this value, and does not need to know the contents.
public struct StoredHistory: Sendable, Equatable, Codable {
    struct Ended: Sendable, Equatable, Codable {
        let id: String
        let reason: String
    }

    let id: String
    let seconds: Int64
    let bytes: Int64
    /// The earlier histories of the store, the oldest first.
    let ended: [Ended]
    /// For each consumer, the number of the last record that it has read.
    let consumers: [String: Int64]
    /// The names of entities and columns (``HistoryNames/text``) of each layout that records use, by the layout's signature.
    let layouts: [String: String]

    var limits: KeptHistory.Limits {
        KeptHistory.Limits(
            seconds: min(max(1, seconds), KeptHistory.Limits.mostSeconds),
            bytes: max(Int64(KeptHistory.Limits.leastBytes), bytes))
    }

    init(_ history: MemoryHistory, layouts: [String: String]) {
        id = history.id
        (seconds, bytes) = (history.limits.seconds, history.limits.bytes)
        ended = history.ended.map { Ended(id: $0.id, reason: $0.reason) }
        consumers = history.consumers
        self.layouts = layouts
    }
}

/// A record of the history of a custom store. The store encodes and decodes the record, and needs to know only its number.
public struct CodableRecord: Sendable, Codable {
    /// The number of the record. The numbers of a store's records have no gaps.
    public let number: Int64
    private let time: Int64
    private let kind: String
    private let dataSourceName: String?
    private let author: String?
    private let processID: Int32
    private let programName: String
    private let entityNames: [String]
    private let note: String?
    /// The words of the changes, in parts; nil for a record without values.
    private let parts: [Data]?

    init(_ record: StoredRecord, _ encoding: HistoryEncoding) {
        number = record.number
        time = record.time
        kind = record.kindText
        (dataSourceName, author) = (record.dataSourceName, record.author)
        (processID, programName) = (record.member.processID, record.member.name)
        (entityNames, note) = (record.entityNames, record.note)
        parts = record.changes.map { changes in
            var parts: [Data] = []
            encoding.forEachPart(of: changes) { words, _ in parts.append(words.withUnsafeBytes { Data($0) }) }
            return parts
        }
    }

    /// - Returns: Nil if the record is damaged.
    func decoded(_ encoding: HistoryEncoding, _ names: [UInt64: HistoryNames]) -> StoredRecord? {
        var record = StoredRecord(
            number: number, time: time, kindText: kind,
            member: StoreMember(number: 0, processID: processID, name: programName), entityNames: entityNames)
        (record.dataSourceName, record.author, record.note) = (dataSourceName, author, note)
        guard let parts else { return record }
        var changes = ChangeSet(entities: [])
        for part in parts {
            let decoded = try? encoding.changes(part.withUnsafeBytes(ChangeEncoding.words)) { names[$0] }
            guard let decoded else { return nil }
            changes.add(part: decoded)
        }
        record.changes = changes
        return record
    }
}

/// A change of the history that a custom store must write.
public struct StoredHistoryChange: Sendable {
    /// The numbers of the records to remove; nil for none. Remove them before you add records: after a reset, the new record can
    /// have the number of an old one.
    public let removed: ClosedRange<Int64>?
    /// The records to add.
    public let added: [CodableRecord]
    /// The value to store instead of the last one. Nil if the history was switched off: then remove the last value.
    public let stored: StoredHistory?
}
