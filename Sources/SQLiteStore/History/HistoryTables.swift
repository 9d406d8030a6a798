internal import CSQLite
internal import Foundation
internal import ModelMigration
internal import RowStore

/// The tables of a kept history. They are additional to the tables of the model.
///
/// - `_history` has the records. A record has a row for each of its parts; only the first row has the columns from `kind` to
///   `note`. The key of a row is the number of the record, followed by 20 bits for the number of the part. `start` is the
///   number of bytes of all rows that were ever written before the row, so the size of the kept rows is known without adding up
///   their sizes.
/// - `_history_state` has the limits, the ID of the history, the IDs of earlier histories of the store, the names of layouts,
///   and the positions of consumers.
enum HistoryTables {
    static let names = ["_history", "_history_state"]

    private static let createSQL = [
        """
        CREATE TABLE "_history" ("key" INTEGER PRIMARY KEY, "start" INTEGER NOT NULL, "size" INTEGER NOT NULL, \
        "last" INTEGER NOT NULL, "time" INTEGER NOT NULL, "kind" TEXT, "source" TEXT, "author" TEXT, "member" INTEGER, \
        "process" INTEGER, "program" TEXT, "entities" TEXT, "note" TEXT, "changes" BLOB)
        """,
        "CREATE TABLE \"_history_state\" (\"name\" TEXT PRIMARY KEY, \"value\") WITHOUT ROWID",
    ]

    static let partBits: Int64 = 20
    /// The possible numbers of records. In practice, no store has so many records.
    static let numbers: Range<Int64> = 0..<1 << 40

    static let setSQL = "INSERT OR REPLACE INTO \"_history_state\" VALUES (?1, ?2)"

    /// The maximum number of ended histories whose IDs are kept.
    private static let endedLimit = 16

    // MARK: Opening

    /// Begins, keeps or drops the history of a store, as the parameter `wanted` says.
    ///
    /// - Parameters:
    ///   - metadata: The store's metadata.
    ///   - ended: The history of the store that this store has replaced; nil if there was no such store or history.
    /// - Returns: Whether the store keeps a history now.
    static func settle(
        _ connection: Connection, _ wanted: KeptHistory, _ metadata: StoreMetadata, replacing ended: EndedHistory? = nil
    ) throws(DataSourceError) -> Bool {
        switch wanted.choice {
        case .unchanged:
            if let ended { try begin(connection, ended.limits, metadata, replacing: ended) }
            return ended != nil || metadata.keepsHistory
        case .none:
            guard metadata.keepsHistory else { return false }
            for name in names { try connection.run("DROP TABLE IF EXISTS \(name.quoted)") }
            try setFormat(connection, metadata, false)
            return false
        case .kept(let limits):
            if metadata.keepsHistory {
                try set(limits, connection)
            } else {
                try begin(connection, limits, metadata, replacing: ended)
            }
            return true
        }
    }

    private static func begin(
        _ connection: Connection, _ limits: KeptHistory.Limits, _ metadata: StoreMetadata,
        replacing ended: EndedHistory?
    ) throws(DataSourceError) {
        for sql in createSQL { try connection.run(sql) }
        try set("id", .text(UUID().uuidString), connection)
        try set(limits, connection)
        for (id, reason) in ended?.reasons ?? [:] { try set("ended \(id)", .text(reason), connection) }
        try setFormat(connection, metadata, true)
    }

    static func set(_ limits: KeptHistory.Limits, _ connection: Connection) throws(DataSourceError) {
        try set("seconds", .integer(limits.seconds), connection)
        try set("bytes", .integer(limits.bytes), connection)
    }

    private static func setFormat(
        _ connection: Connection, _ metadata: StoreMetadata, _ keepsHistory: Bool
    ) throws(DataSourceError) {
        var metadata = metadata
        metadata.keepsHistory = keepsHistory
        _ = try connection.values(
            "UPDATE \"_metadata\" SET \"value\" = ?1 WHERE \"name\" = 'format'", [.integer(metadata.storedFormat)])
    }

    /// Checks that no table of the model has the same name as one of these tables.
    static func check(_ schema: StoreSchema) throws(DataSourceError) {
        try schema.requireFree(names, "a kept history needs a table with that name")
    }

    // MARK: State

    static func set(_ name: String, _ value: RowValue, _ connection: Connection) throws(DataSourceError) {
        _ = try connection.values(setSQL, [.text(name), value])
    }

    static func value(_ name: String, _ connection: Connection) throws(DataSourceError) -> RowValue? {
        try connection.values("SELECT \"value\" FROM \"_history_state\" WHERE \"name\" = ?1", [.text(name)]).first?
            .first
    }

    static func damaged(_ connection: Connection) -> DataSourceError {
        DataSourceError(
            .storeCorrupt,
            "The tables of the history in \(connection.path) differ from those that this library made. Open the store once with "
                + "Configuration.history = .none, which drops the history, and then keep a history again.")
    }

    static func id(_ connection: Connection) throws(DataSourceError) -> String {
        guard case .text(let id)? = try value("id", connection) else { throw damaged(connection) }
        return id
    }

    static func limits(_ connection: Connection) throws(DataSourceError) -> KeptHistory.Limits {
        let statement = try connection.statement(
            .selectHistoryLimits,
            """
            SELECT s."value", b."value" FROM "_history_state" s, "_history_state" b \
            WHERE s."name" = 'seconds' AND b."name" = 'bytes'
            """)
        defer { statement.clear() }
        let row = try connection.rows(of: statement).first
        guard case .integer(let seconds)? = row?[0], case .integer(let bytes)? = row?[1], seconds > 0,
            seconds < 1 << 40, bytes > 0
        else { throw damaged(connection) }
        return KeptHistory.Limits(seconds: seconds, bytes: bytes)
    }

    /// The reasons why earlier histories of the store ended, by the IDs of the histories.
    static func ended(_ connection: Connection) throws(DataSourceError) -> [String: String] {
        let rows = try connection.values(
            "SELECT \"name\", \"value\" FROM \"_history_state\" WHERE \"name\" >= 'ended ' AND \"name\" < 'ended!'")
        var reasons: [String: String] = [:]
        for row in rows {
            if case .text(let name) = row[0], case .text(let reason) = row[1] {
                reasons[String(name.dropFirst("ended ".count))] = reason
            }
        }
        return reasons
    }

    // MARK: Layouts

    /// The names of all layouts that records use, by the names of their rows in `_history_state`. Damaged names are left out.
    static func layouts(_ connection: Connection) throws(DataSourceError) -> [String: HistoryNames] {
        let rows = try connection.values(
            "SELECT \"name\", \"value\" FROM \"_history_state\" WHERE \"name\" >= 'names ' AND \"name\" < 'names!'")
        var layouts: [String: HistoryNames] = [:]
        for row in rows {
            if case .text(let name) = row[0], case .text(let text) = row[1] { layouts[name] = HistoryNames(text: text) }
        }
        return layouts
    }

    /// Stores the names that the parts of all layouts have after a migration, and drops the names of layouts without records.
    ///
    /// - Parameter layout: The layout of the new model.
    static func follow(
        _ names: MigratedNames, to layout: ModelLayout, _ connection: Connection
    ) throws(DataSourceError) {
        let (layouts, records) = (try layouts(connection), try recordNumbers(connection))
        for (name, followed) in HistoryEncoding(layout).followed(layouts, through: names, records: records) {
            if let followed {
                try set(name, .text(followed.text), connection)
            } else {
                _ = try connection.values("DELETE FROM \"_history_state\" WHERE \"name\" = ?1", [.text(name)])
            }
        }
    }

    /// The numbers of the kept records; nil if there are none.
    private static func recordNumbers(_ connection: Connection) throws(DataSourceError) -> ClosedRange<Int64>? {
        let row = try connection.values("SELECT min(\"key\"), max(\"key\") FROM \"_history\"").first
        guard case .integer(let first)? = row?[0], case .integer(let last)? = row?[1] else { return nil }
        return first >> partBits...last >> partBits
    }

    // MARK: The end

    /// Drops all records and consumers, and gives the history a new ID. The limits stay. Used for a reset that keeps the file.
    ///
    /// - Parameter reason: The reason, as a sentence.
    static func end(_ connection: Connection, reason: String) throws(DataSourceError) {
        let ended = try EndedHistory(connection, reason: reason)
        for name in names { try connection.run("DELETE FROM \(name.quoted)") }
        try set("id", .text(UUID().uuidString), connection)
        try set(ended.limits, connection)
        for (id, reason) in ended.reasons { try set("ended \(id)", .text(reason), connection) }
    }

    /// Gives the history of a restored copy a new ID. The copy and the original store can give the same number to different
    /// records, so their histories need different IDs. The records stay. This call adds a record of the restore, and each
    /// consumer continues with that record.
    ///
    /// - Parameters:
    ///   - reason: The reason, as a sentence.
    ///   - replaced: The reasons why the histories of the replaced store ended, by the IDs of the histories.
    static func renew(
        _ connection: Connection, _ layout: ModelLayout, reason: String, replaced: [String: String]
    ) throws(DataSourceError) {
        let ended = try EndedHistory(connection, reason: reason)
        try connection.run(
            "DELETE FROM \"_history_state\" WHERE \"name\" >= 'ended ' AND \"name\" < 'ended!'")
        try set("id", .text(UUID().uuidString), connection)
        for (id, reason) in ended.reasons.merging(replaced, uniquingKeysWith: { first, _ in first }) {
            try set("ended \(id)", .text(reason), connection)
        }
        try connection.run(
            """
            UPDATE "_history_state" SET "value" = (SELECT coalesce(max("key") >> \(partBits), 0) FROM "_history") \
            WHERE "name" >= 'consumer ' AND "name" < 'consumer!'
            """)
        try HistoryWriter.note(.reset, reason, on: connection, layout)
    }

    /// The history that a reset or a restore ends.
    struct EndedHistory: Sendable {
        let limits: KeptHistory.Limits
        /// The reasons why this history and earlier histories ended, by the IDs of the histories.
        let reasons: [String: String]

        /// - Parameter reason: The reason, as a sentence.
        init(_ connection: Connection, reason: String) throws(DataSourceError) {
            limits = try HistoryTables.limits(connection)
            var reasons = try HistoryTables.ended(connection)
            // At the limit, forget any of the earlier histories, because the order of their ends is not known.
            while reasons.count >= HistoryTables.endedLimit, let any = reasons.keys.min() { reasons[any] = nil }
            reasons[try HistoryTables.id(connection)] = reason
            self.reasons = reasons
        }
    }
}
