internal import CSQLite
internal import Foundation
internal import RowStore

/// Writes the records of a kept history, each in the transaction of its save.
///
/// Guarded by: the writer.
final class HistoryWriter {
    /// The end of the history.
    struct Place {
        /// The number of the last record; 0 if there was none.
        var number: Int64 = 0
        /// The bytes of all rows so far, dropped rows included.
        var end: Int64 = 0
    }

    private let connection: Connection
    private let encoding: HistoryEncoding
    private let member: StoreMember
    /// Whether other members may write, too.
    private let isShared: Bool
    /// The limits of the history in the current transaction.
    private var limits: KeptHistory.Limits
    /// The end of the history in the current transaction. If a save is rolled back, the writer restores the place from before
    /// that save.
    var place = Place()
    /// The end of the history after the last commit of this writer; nil before its first commit.
    private var committed: Place?
    /// Whether another program has written, and no record says so yet.
    var foundOutsideWrites = false
    /// Whether the store has the names of the layout's entities and columns.
    private var hasNames = false
    /// Whether the records in the current transaction say that another program has written.
    private var hasNotedOutsideWrites = false
    private var insertion: Statement?
    private var trimming = HistoryTrimming()

    init(
        _ connection: Connection, _ layout: ModelLayout, member: StoreMember, isShared: Bool
    ) throws(DataSourceError) {
        self.connection = connection
        self.member = member
        self.isShared = isShared
        encoding = HistoryEncoding(layout)
        limits = try HistoryTables.limits(connection)
    }

    /// Records an event that happens when a store is opened, such as a reset. Must run in a transaction.
    static func note(
        _ kind: HistoryKind, _ note: String, on connection: Connection, _ layout: ModelLayout
    ) throws(DataSourceError) {
        let writer = try HistoryWriter(connection, layout, member: .alone(), isShared: false)
        try writer.begin(isByMember: false)
        try writer.append(kind, note: note)
    }

    func end() { insertion = nil }

    // MARK: Transactions

    /// Called at the start of a transaction.
    ///
    /// - Parameter isByMember: Whether another member has written since the last transaction.
    func begin(isByMember: Bool) throws(DataSourceError) {
        hasNotedOutsideWrites = false
        trimming.begin()
        // Another member can have opened the store with other limits, which counts as a write.
        if isByMember {
            let new = try HistoryTables.limits(connection)
            trimming.schedule.limitsChanged(from: limits, to: new)
            limits = new
        }
        let name = HistoryEncoding.namesKey(encoding.signature)
        if !hasNames, try HistoryTables.value(name, connection) == nil {
            try HistoryTables.set(name, .text(encoding.names.text), connection)
        }
        if let committed, !isShared {
            place = committed
        } else {
            place = try HistoryWriter.readPlace(connection)
        }
        if foundOutsideWrites {
            try append(.outsideWrites, note: "Another program has written to the store.")
            hasNotedOutsideWrites = true
        }
    }

    /// Drops old records. Called before the commit of a transaction.
    func finish() throws(DataSourceError) {
        try trimming.trim(connection, limits, end: place)
    }

    /// Called after the commit of a transaction.
    func didCommit() {
        (committed, hasNames) = (place, true)
        if hasNotedOutsideWrites { foundOutsideWrites = false }
    }

    private static func readPlace(_ connection: Connection) throws(DataSourceError) -> Place {
        let rows = try connection.values(
            "SELECT \"key\", \"start\" + \"size\" FROM \"_history\" ORDER BY 1 DESC LIMIT 1")
        guard let row = rows.first else { return Place() }
        guard case .integer(let key) = row[0], case .integer(let end) = row[1], end >= 0, end < 1 << 60,
            HistoryTables.numbers.contains(key >> HistoryTables.partBits)
        else { throw HistoryTables.damaged(connection) }
        return Place(number: key >> HistoryTables.partBits, end: end)
    }

    // MARK: Records

    /// Records a save.
    func append(_ set: ChangeSet) throws(DataSourceError) {
        if !set.hasRecord { return }
        let facts = set.facts ?? SaveFacts(.local, dataSourceName: nil, author: nil)
        let entities = encoding.entityNames(set)
        guard encoding.byteCount(set) <= limits.largestSave else {
            return try append(facts.kind, facts, entities, note: StoredRecord.tooLarge)
        }
        try beginRecord()
        var part: Int64 = 0
        try encoding.forEachPart(of: set) { words, isLast throws(DataSourceError) in
            let key = place.number << HistoryTables.partBits | part
            try insert(
                key, isLast: isLast, facts: part == 0 ? (facts.kind, facts, entities, nil) : nil, words: words)
            part += 1
        }
    }

    /// Records an event without values.
    func append(
        _ kind: HistoryKind, _ facts: SaveFacts? = nil, _ entities: [String] = [], note: String
    ) throws(DataSourceError) {
        try beginRecord()
        try insert(
            place.number << HistoryTables.partBits, isLast: true, facts: (kind, facts, entities, note), words: nil)
    }

    private func beginRecord() throws(DataSourceError) {
        place.number += 1
        guard HistoryTables.numbers.contains(place.number) else { throw HistoryTables.damaged(connection) }
    }

    private typealias Facts = (kind: HistoryKind, save: SaveFacts?, entities: [String], note: String?)

    private func insert(
        _ key: Int64, isLast: Bool, facts: Facts?, words: ContiguousArray<UInt64>?
    ) throws(DataSourceError) {
        let statement = try insertionStatement()
        defer { statement.clear() }
        let entities = facts?.entities.joined(separator: "\n")
        let texts = [facts?.save?.dataSourceName, facts?.save?.author, member.name, entities, facts?.note]
        let textBytes = facts == nil ? 0 : StoredRecord.byteCount(ofTexts: texts)
        let size = Int64((words?.count ?? 0) * 8 + StoredRecord.rowOverhead + textBytes)
        var code = statement.bind(.integer(key), 1)
        code |= statement.bind(.integer(place.end), 2)
        code |= statement.bind(.integer(size), 3)
        code |= statement.bind(.integer(isLast ? 1 : 0), 4)
        code |= statement.bind(.integer(TrimmingSchedule.now), 5)
        if let facts {
            code |= statement.bind(.text(facts.save?.kindText ?? facts.kind.rawValue), 6)
            code |= statement.bind(facts.save?.dataSourceName.map { .text($0) } ?? .null, 7)
            code |= statement.bind(facts.save?.author.map { .text($0) } ?? .null, 8)
            code |= statement.bind(.integer(member.number), 9)
            code |= statement.bind(.integer(Int64(member.processID)), 10)
            code |= statement.bind(.text(member.name), 11)
            code |= statement.bind(.text(entities ?? ""), 12)
            code |= statement.bind(facts.note.map { .text($0) } ?? .null, 13)
        }
        if let words {
            // The words must stay in memory until the statement has run.
            code = words.withUnsafeBytes { bytes in
                code |= sqlite3_bind_blob64(statement.handle, 14, bytes.baseAddress, UInt64(bytes.count), nil)
                return code == SQLITE_OK ? statement.step() : code
            }
        } else if code == SQLITE_OK {
            code = statement.step()
        }
        // Only members assign keys. A row with this key therefore comes from another program.
        if code & 0xFF == SQLITE_CONSTRAINT { throw HistoryTables.damaged(connection) }
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
        place.end += size
        trimming.record(size, isFirst: facts != nil)
    }

    private func insertionStatement() throws(DataSourceError) -> Statement {
        if let insertion { return insertion }
        let statement = try connection.prepare(
            "INSERT INTO \"_history\" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")
        insertion = statement
        return statement
    }
}

extension StoreMember {
    /// The member that stands for a container whose store is not shared.
    static func alone(_ name: String = ProcessInfo.processInfo.processName) -> StoreMember {
        StoreMember(number: 0, processID: getpid(), name: name)
    }
}
