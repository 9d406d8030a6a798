internal import CSQLite
internal import Foundation
internal import RowStore

/// Reads the saves of other members, or of all members, on a separate connection. A reader of rows may need these saves
/// before it can continue, so this reader must not wait for a reader of the pool.
///
/// Guarded by: ``SharedAccess``.
final class FeedReader {
    private let connection: Connection
    private var decoder: FeedDecoder
    /// The number of the member whose saves are left out; nil to read the saves of all members.
    private let own: Int64?
    private let isAlive: @Sendable (Int64) -> Bool
    /// SQLite's data version of the file at the last check, and the number of writes by members at the last check.
    private var version: UInt32 = 0
    private var knownWrites: Int64 = -1
    /// The number of writes by members when the last page was read; nil if the feed has more saves after that page.
    private(set) var readWrites: Int64?

    /// Whether another program has made a write that was not reported yet.
    private var foundOutsideWrites = false

    /// The maximum number of saves in a page, and the approximate maximum number of their bytes.
    private static let pageSize = 256
    private static let pageBytes = 8 << 20

    /// - Parameter isAlive: Returns whether the member with the given number has the store open.
    init(
        _ files: StoreFiles, _ layout: ModelLayout, own: Int64?, isAlive: @escaping @Sendable (Int64) -> Bool
    ) throws(DataSourceError) {
        guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        connection = try Connection(path: files.main, isReader: true, vfs: files.calls.sqliteVFS)
        do throws(DataSourceError) {
            try connection.configure()
            try connection.configureReader()
        } catch {
            connection.close()
            throw error
        }
        self.own = own
        self.isAlive = isAlive
        decoder = FeedDecoder(layout)
        _ = try snapshot { _ throws(DataSourceError) in }
    }

    func close() { connection.close() }

    /// Runs the body with one consistent state of the file, and records whether another program has written to the file.
    private func snapshot<R>(
        _ body: (SharedTables.Feed) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try connection.beginReading()
        defer { connection.rollBack() }
        let feed = try SharedTables.feed(connection.statement(.selectFeed, SharedTables.selectFeedSQL), connection)
        var found: UInt32 = 0
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_DATA_VERSION, &found)
        // If the file has changed but no member has counted a write, a program that is not a member has written.
        if knownWrites >= 0 && found != version && feed.writes == knownWrites { foundOutsideWrites = true }
        (version, knownWrites) = (found, feed.writes)
        return try body(feed)
    }

    // MARK: Saves

    func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        var page = try snapshot { feed throws(DataSourceError) in
            let page = try readPage(feed, after: position)
            readWrites = page.isMore ? nil : feed.writes
            return page
        }
        page.foundOutsideWrites = foundOutsideWrites
        foundOutsideWrites = false
        return page
    }

    private func readPage(_ feed: SharedTables.Feed, after start: Int64) throws(DataSourceError) -> FeedPage {
        var page = FeedPage(
            position: start, events: [], isMore: false, foundOutsideWrites: false, leaseVersion: feed.leases)
        guard feed.position > start else { return page }
        guard start + 1 >= feed.lowest else {
            page.skip(to: feed.position)
            return page
        }
        let statement = try connection.statement(
            .selectSaves,
            """
            SELECT "position", "member", "unknown", CASE WHEN "member" = ?2 THEN NULL ELSE "changes" END FROM "_changes" \
            WHERE "position" > ?1 AND "position" <= ?3 ORDER BY "position" LIMIT \(FeedReader.pageSize)
            """)
        defer { statement.clear() }
        sqlite3_bind_int64(statement.handle, 1, start)
        // If parameter 2 is null, it is equal to no member, so the changes of all saves are read.
        if let own { sqlite3_bind_int64(statement.handle, 2, own) } else { sqlite3_bind_null(statement.handle, 2) }
        sqlite3_bind_int64(statement.handle, 3, feed.position)
        var byteCount = 0
        while byteCount < FeedReader.pageBytes {
            let code = statement.step()
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw connection.error(code, while: "reading") }
            let position = sqlite3_column_int64(statement.handle, 0)
            let member = sqlite3_column_int64(statement.handle, 1)
            byteCount += member == own ? 0 : Int(sqlite3_column_bytes(statement.handle, 3))
            page.add(member == own ? nil : try event(statement, by: member), at: position)
        }
        if page.position == start { page.skip(to: feed.position) }
        page.isMore = page.position < feed.position
        return page
    }

    private func event(_ statement: Statement, by member: Int64) throws(DataSourceError) -> FeedEvent {
        let unknown: String? = if case .text(let names) = statement.value(2) { names } else { nil }
        let start = sqlite3_column_blob(statement.handle, 3)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement.handle, 3))
        return try decoder.event(
            by: member, unknown: unknown, changes: UnsafeRawBufferPointer(start: start, count: count)
        ) { () throws(DataSourceError) in try SharedTables.members(connection) }
    }

    // MARK: Leases

    func leases() throws(DataSourceError) -> LeaseSnapshot {
        try snapshot { feed throws(DataSourceError) in
            try LeaseSnapshot(connection, version: feed.leases, isAlive: isAlive)
        }
    }
}
