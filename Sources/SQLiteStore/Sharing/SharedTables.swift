internal import CSQLite
internal import Foundation
internal import RowStore

/// The tables through which members share a store. They are additional to the tables of the model.
///
/// - `_feed` has one row: the position of the newest save, the lowest position in `_changes`, the number of writes by members,
///   the number of lease changes, and the number of the newest member. From this row, a reader learns the position of the
///   newest save in its snapshot.
/// - `_changes` has the changes of each save.
/// - `_leases` has the leases of entities, with their holders.
/// - `_tickets` has the members that wait for leases.
/// - `_members` has the members.
enum SharedTables {
    static let names = ["_feed", "_changes", "_leases", "_tickets", "_members"]

    static let leases = LeaseTables(leases: "\"_leases\"", tickets: "\"_tickets\"")

    private static let createSQL = [
        """
        CREATE TABLE "_feed" ("id" INTEGER PRIMARY KEY, "position" INTEGER NOT NULL, "lowest" INTEGER NOT NULL, \
        "writes" INTEGER NOT NULL, "leases" INTEGER NOT NULL, "members" INTEGER NOT NULL)
        """,
        """
        CREATE TABLE "_changes" ("position" INTEGER PRIMARY KEY, "member" INTEGER NOT NULL, "time" INTEGER NOT NULL, \
        "size" INTEGER NOT NULL, "unknown" TEXT, "changes" BLOB)
        """,
        """
        CREATE TABLE "_leases" ("entity" TEXT PRIMARY KEY, "holder" INTEGER, "epoch" INTEGER NOT NULL, \
        "source" TEXT NOT NULL, "since" INTEGER NOT NULL) WITHOUT ROWID
        """,
        """
        CREATE TABLE "_tickets" ("number" INTEGER PRIMARY KEY, "member" INTEGER NOT NULL, "entities" TEXT NOT NULL, \
        "source" TEXT NOT NULL, "since" INTEGER NOT NULL, "answered" TEXT NOT NULL)
        """,
        """
        CREATE TABLE "_members" ("number" INTEGER PRIMARY KEY, "process" INTEGER NOT NULL, "name" TEXT NOT NULL)
        """,
    ]

    static let selectFeedSQL = "SELECT \"position\", \"lowest\", \"writes\", \"leases\", \"members\" FROM \"_feed\""

    /// The contents of the row in `_feed`.
    struct Feed {
        var position: Int64
        var lowest: Int64
        var writes: Int64
        var leases: Int64
        var members: Int64

        fileprivate init(_ statement: OpaquePointer) {
            position = sqlite3_column_int64(statement, 0)
            lowest = sqlite3_column_int64(statement, 1)
            writes = sqlite3_column_int64(statement, 2)
            leases = sqlite3_column_int64(statement, 3)
            members = sqlite3_column_int64(statement, 4)
        }

        /// Whether all numbers are in the range ``SharedTables/numbers``. Numbers in this range can be incremented without an
        /// overflow.
        fileprivate var isSound: Bool {
            let all = UInt64(bitPattern: position | lowest | writes | leases | members)
            return all <= UInt64(SharedTables.numbers.upperBound)
        }
    }

    /// The range of counts, positions and member numbers. The bits of the upper bound are all ones, so one comparison can check
    /// several numbers.
    static let numbers = 0...KeyBound.limit - 1

    /// Reads the row of `_feed`.
    ///
    /// - Parameter statement: The prepared statement for ``selectFeedSQL``.
    /// - Throws: `storeCorrupt` if the row is missing, or if a number in it is out of range: no member has written such a
    ///   row.
    static func feed(_ statement: Statement, _ connection: Connection) throws(DataSourceError) -> Feed {
        let code = statement.step()
        defer { sqlite3_reset(statement.handle) }
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
        guard code == SQLITE_ROW else { throw damaged(connection) }
        let feed = Feed(statement.handle)
        guard feed.isSound else { throw damaged(connection) }
        return feed
    }

    /// Makes the tables, or empties existing tables, and joins as the only member.
    ///
    /// Nothing may read saves from the store during the call. The old contents are deleted for two reasons: they may belong to
    /// another model, and a container that did not share the store may have saved without recording the saves.
    ///
    /// - Parameter number: The number that the member already has; nil to assign a new number.
    static func prepare(
        _ connection: Connection, as name: String, number: Int64? = nil
    ) throws(DataSourceError) -> (member: StoreMember, feed: Feed) {
        let there = Set(try StoreProbe(connection).contents.map(\.name))
        return try connection.transaction { () throws(DataSourceError) in
            for (table, sql) in zip(names, createSQL) where !there.contains(table) { try connection.run(sql) }
            for table in names.dropFirst() { try connection.run("DELETE FROM \(table.quoted)") }
            if number == nil { try repairFeed(connection) }
            try connection.run("INSERT OR IGNORE INTO \"_feed\" VALUES (1, 0, 1, 0, 0, \(number ?? 0))")
            try connection.run("UPDATE \"_feed\" SET \"lowest\" = \"position\" + 1, \"leases\" = \"leases\" + 1")
            return try join(connection, name, number)
        }
    }

    /// Removes the row of `_feed` if a number in it is out of range: no member has written such a row. When this function
    /// runs, no member uses the numbers of the feed.
    private static func repairFeed(_ connection: Connection) throws(DataSourceError) {
        do throws(DataSourceError) { _ = try feed(connection) } catch  where error.code == .storeCorrupt {
            try connection.run("DELETE FROM \"_feed\"")
        }
    }

    /// Joins the members that have the store open.
    ///
    /// - Parameter number: The number that the member already has; nil to assign a new number.
    static func join(
        _ connection: Connection, as name: String, number: Int64? = nil, _ notifier: MemberNotifier
    ) throws(DataSourceError) -> (member: StoreMember, feed: Feed) {
        return try connection.transaction { () throws(DataSourceError) in
            for member in try members(connection).dropLast(endedLimit) where !notifier.isAlive(member.number) {
                try connection.run("DELETE FROM \"_members\" WHERE \"number\" = \(member.number)")
            }
            return try join(connection, name, number)
        }
    }

    /// Sets the limits of the kept history. A change counts as a write, so that the other members read the limits again.
    ///
    /// - Returns: The row of `_feed` after the change.
    static func set(_ limits: KeptHistory.Limits, _ connection: Connection) throws(DataSourceError) -> Feed {
        try connection.transaction { () throws(DataSourceError) in
            if try HistoryTables.limits(connection) != limits {
                try HistoryTables.set(limits, connection)
                try connection.run("UPDATE \"_feed\" SET \"writes\" = \"writes\" + 1")
            }
            return try feed(connection)
        }
    }

    /// How many of the newest members remain listed after they have ended, so that the member of each save can still be named.
    private static let endedLimit = 100

    private static func join(
        _ connection: Connection, _ name: String, _ number: Int64?
    ) throws(DataSourceError) -> (StoreMember, Feed) {
        try connection.run(
            number == nil
                ? "UPDATE \"_feed\" SET \"members\" = \"members\" + 1, \"writes\" = \"writes\" + 1"
                : "UPDATE \"_feed\" SET \"writes\" = \"writes\" + 1")
        let feed = try feed(connection)
        let member = StoreMember(number: number ?? feed.members, processID: getpid(), name: name)
        _ = try connection.values(
            "INSERT OR REPLACE INTO \"_members\" VALUES (?1, ?2, ?3)",
            [.integer(member.number), .integer(Int64(member.processID)), .text(name)])
        return (member, feed)
    }

    static func feed(_ connection: Connection) throws(DataSourceError) -> Feed {
        try feed(connection.prepare(selectFeedSQL), connection)
    }

    static func damaged(_ connection: Connection) -> DataSourceError {
        DataSourceError(
            .storeCorrupt,
            "The tables by which processes share \(connection.path) differ from those that this library made. Close the store in "
                + "all processes, and open the store again.")
    }

    /// Returns the listed members. They include the members that have the store open, and some members that have ended.
    static func members(_ connection: Connection) throws(DataSourceError) -> [StoreMember] {
        try connection.values("SELECT \"number\", \"process\", \"name\" FROM \"_members\" ORDER BY 1").compactMap {
            row in
            guard case .integer(let number) = row[0], numbers.contains(number), case .integer(let process) = row[1],
                case .text(let name) = row[2]
            else { return nil }
            return StoreMember(number: number, processID: Int32(truncatingIfNeeded: process), name: name)
        }
    }

    /// Checks that no table of the model has the same name as one of these tables.
    static func check(_ schema: StoreSchema) throws(DataSourceError) {
        try schema.requireFree(names, "processes need a table with that name to share a store")
    }
}
