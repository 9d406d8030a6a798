#if PostgreSQL
internal import RowStore

/// Reads the saves of other members, or of all members. The feed reader has its own connection: a reader of the pool
/// can wait for the feed, so the feed must not wait for a reader of the pool.
///
/// Guarded by: ``StoreFollower``.
final class FeedReader {
    private let options: PostgreSQLOptions
    private let schema: PostgreSQLSchema
    private var decoder: FeedDecoder
    /// The number of this member, whose saves are left out; nil to read the saves of all members.
    private let own: Int64?
    private let heartbeats: Heartbeats
    private var connection: Connection?
    /// The position up to which the feed was read, and the token of the save at this position. If the server has lost
    /// its newest saves, another save can get the same position, but with another token.
    private var last: (position: Int64, token: [UInt8])?

    /// The largest number of saves to read at a time, and the approximate limit of their bytes.
    private static let pageSize = 256
    private static let pageBytes = 8 << 20

    init(_ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, own: Int64?, _ heartbeats: Heartbeats) {
        self.options = options
        self.schema = schema
        self.own = own
        self.heartbeats = heartbeats
        decoder = FeedDecoder(schema.layout)
    }

    func close() {
        connection?.close()
        connection = nil
    }

    /// Runs the work with the connection. If the connection was lost, runs the work once more, with a new connection.
    private func reading<R>(_ work: (Connection) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        func body(_ connection: Connection) throws(DataSourceError) -> R {
            try connection.checkingGeneration(schema, options.name) { () throws(DataSourceError) in try work(connection)
            }
        }
        if let connection {
            do throws(DataSourceError) { return try body(connection) } catch {
                guard !connection.isUsable else { throw error }
                self.connection = nil
            }
        }
        let made = try Connection(options.target)
        // The server plans the statements while the feed is small, and keeps the plans. Exclude plans that suit only a small
        // feed.
        for setting in ["enable_seqscan", "enable_bitmapscan"] { try made.run("SET \(setting) = off") }
        connection = made
        return try body(made)
    }

    // MARK: Saves

    func readFeed(after start: Int64) throws(DataSourceError) -> FeedPage {
        try reading { (connection) throws(DataSourceError) in try readFeed(after: start, connection) }
    }

    private func readFeed(after start: Int64, _ connection: Connection) throws(DataSourceError) -> FeedPage {
        let found = try saves(after: start, connection)
        guard found.rowCount > 0 else { throw DataSourceError(damagedSharing: options.name) }
        let (position, lowest) = (found.integer(0, 0), found.integer(0, 1))
        var page = FeedPage(
            position: start, events: [], isMore: false, foundOutsideWrites: false, leaseVersion: found.integer(0, 2)
        )
        var isOther = position < start
        if let last, last.position == start, !found.isNull(0, 8) { isOther = isOther || found.copy(0, 8) != last.token }
        page.isOtherHistory = isOther
        guard position != start || isOther else {
            // The first read at this position records the token of the save at this position.
            if last == nil, !found.isNull(0, 8) { last = (start, found.copy(0, 8)) }
            return page
        }
        guard !isOther, start &+ 1 >= lowest, !found.isNull(0, 3) else {
            last = nil
            page.skip(to: position)
            // Another program may have made some of the skipped saves.
            page.foundOutsideRows = true
            return page
        }
        for row in 0..<found.rowCount {
            let member = found.integer(row, 4)
            if member == 0 { page.foundOutsideRows = true }
            page.add(
                member == own ? nil : try event(in: found, at: row, by: member, on: connection),
                at: found.integer(row, 3)
            )
        }
        last = (page.position, found.copy(found.rowCount - 1, 7))
        page.isMore = page.position < position
        return page
    }

    /// The state of the feed, and at most one page of the saves after a position.
    private func saves(after start: Int64, _ connection: Connection) throws(DataSourceError) -> QueryResult {
        // Use one statement, so that all results are from one state.
        return try connection.rows(
            """
            SELECT \(schema.position), f.lowest, f.leases, c.position, c.member, c.unknown, c.changes, c.token, \
            (SELECT token FROM \(schema.qualified(PostgreSQLSchema.changes)) WHERE position = $1) \
            FROM \(schema.qualified(PostgreSQLSchema.feed)) f LEFT JOIN LATERAL (SELECT p.position, p.member, p.unknown, p.token, \
            CASE WHEN p.member = $2 THEN NULL ELSE p.changes END AS changes FROM (SELECT *, \
            sum(size) OVER (ORDER BY position) - size AS before FROM \(schema.qualified(PostgreSQLSchema.changes)) \
            WHERE position > $1 ORDER BY position LIMIT \(FeedReader.pageSize)) p \
            WHERE p.before < \(FeedReader.pageBytes)) c ON true ORDER BY c.position
            """, [WireValue(start), own.map { WireValue($0) } ?? .null])
    }

    private func event(
        in found: QueryResult, at row: Int, by member: Int64, on connection: Connection
    ) throws(DataSourceError) -> FeedEvent {
        try decoder.event(
            by: member, unknown: found.isNull(row, 5) ? nil : found.text(row, 5), changes: found.bytes(row, 6)
        ) { () throws(DataSourceError) in try Members(connection, schema).all().map(\.member) }
    }

    // MARK: Leases

    func leases() throws(DataSourceError) -> LeaseSnapshot {
        try reading { (connection) throws(DataSourceError) in
            try connection.withSnapshot { () throws(DataSourceError) in
                try LeaseSnapshot(connection, schema, heartbeats, own: own)
            }
        }
    }
}
#endif
