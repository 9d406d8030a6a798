#if PostgreSQL
internal import RowStore

/// Runs the transaction of a group. The rows and the entries of the feed are sent first. The last message gives the saves their
/// positions, checks the leases, writes the scopes, and commits.
///
/// The row of the feed determines the order of all saves. Only the last message locks this row, and the rows of scopes, so a
/// process that is halted in the middle of a save does not block saves of other rows.
extension Writer {
    /// Saves whose rows and feed entries were written in the open transaction.
    struct Written {
        let saves: [ChangeSet]
        /// The number of feed entries. Saves that change only scopes have none.
        var entryCount: Int { saves.count(where: \.hasRecord) }
        /// The temporary position of the first feed entry.
        let firstEntry: Int64
        /// The requests that write the scopes, after the feed is locked.
        let scopes: [Request]
    }

    /// Runs a transaction, and repeats it if the server has rolled it back because of a conflict.
    ///
    /// - Parameter body: Begins the transaction, and writes rows and feed entries.
    func transaction(
        _ body: (Connection) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        var (wasCut, wasForgotten) = (false, false)
        for attempt in 1... {
            do throws(DataSourceError) {
                return try transactionOnce(body)
            } catch {
                // If no transaction is in doubt, this one was rolled back, and can be repeated.
                if error.isConnectionLoss, inDoubtTransaction == nil {
                    // If the server had forgotten this member, the member was added again.
                    if isUnknownToServer, !wasForgotten {
                        wasForgotten = true
                        continue
                    }
                    // The network might have cut an idle connection.
                    if connection?.isUsable != true, !wasCut {
                        wasCut = true
                        continue
                    }
                }
                guard error.isConflict, attempt < Writer.attempts else { throw error }
            }
        }
    }

    private func transactionOnce(
        _ body: (Connection) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        let connection = try connected()
        transactionNumber += 1
        (isUnknownToServer, lockWaitTimedOut) = (false, false)
        let number = transactionNumber
        var saves: [ChangeSet] = []
        var isCommitting = false
        do throws(DataSourceError) {
            let written = try connection.checkingGeneration(schema, opening.options.name) {
                () throws(DataSourceError) in
                try body(connection)
            }
            saves = written.saves
            for set in saves { try checkKeys(set) }
            let requests =
                positionRequests(written, number) + written.scopes + (try feedTrimRequests(saves, connection)) + [
                    Request("COMMIT")
                ]
            isCommitting = true
            hasEventsForOthers = true
            try finish(requests, saves, connection)
            committedNumber = number
            counters.count(rows: saves.reduce(0) { $0 + $1.rowCount })
        } catch {
            // If the server is shutting down, its answer counts as a lost connection, too: the answer does not show the outcome
            // of a commit that waited for a standby.
            if isCommitting, error.isConnectionLoss, !isUnknownToServer {
                inDoubtTransaction = InDoubtTransaction(number: number, saves: Set(saves.map(\.saveNumber)))
                discardConnection()
                if try resolveOutcome(timeout: opening.options.outcomeTimeout) { return }
                throw error
            }
            lockWaitTimedOut = !isCommitting && error.isLockTimeout
            if connection.isUsable { try? connection.run("ROLLBACK") } else { discardConnection() }
            if error.isConnectionLoss { try rejoin() }
            throw error
        }
    }

    /// Sends the last message of a transaction.
    private func finish(
        _ requests: [Request], _ saves: [ChangeSet], _ connection: Connection
    ) throws(DataSourceError) {
        do throws(DataSourceError) {
            let results = try connection.checkingGeneration(schema, opening.options.name) {
                () throws(DataSourceError) in
                try connection.pipeline(requests)
            }
            history?.didCommit(requests, results, results[Self.leaseCheckIndex])
        } catch {
            throw failure(error, connection.failedRequest, saves)
        }
    }

    /// Adds this member again if it was deleted after a long silence, and checks its keys and saves.
    ///
    /// - Throws: `storeReset` if another process has this member's number.
    func rejoin() throws(DataSourceError) {
        guard let connection, connection.isUsable else { return }
        try Members(connection, schema).sendHeartbeat(membership)
        try Members(connection, schema).markSaves(membership)
        try checkKeys(connection)
        try checkHistory(connection)
    }

    // MARK: Position and leases

    /// The statements that mark the transaction, lock the feed, check the leases and the history, and give the feed entries
    /// their positions. If the transaction must not be committed, a statement fails on purpose: it divides by zero, or takes
    /// the root of a negative number.
    private func positionRequests(_ written: Written, _ number: Int64) -> [Request] {
        let (saves, feed) = (schema.qualified(PostgreSQLSchema.saves), schema.qualified(PostgreSQLSchema.feed))
        let count = WireValue(Int64(written.entryCount))
        return [
            // Use the usual timeout, because these rows are locked only during one message.
            Connection.lockTimeout,
            Request(
                """
                INSERT INTO \(saves) SELECT member, token, $3, clock_timestamp() FROM \(schema.qualified(PostgreSQLSchema.writers)) \
                WHERE member = $1 AND token = $2 AND refused < $3 AND keys >= $4 \
                AND EXISTS (SELECT FROM \(saves) WHERE member = $1 AND token = $2 AND number = $5) FOR SHARE
                """, membership.values + [WireValue(number), WireValue(keys.bound), WireValue(committedNumber)]),
            Request(
                """
                SELECT 1 / least(count(*), (SELECT count(*) FROM \(saves) WHERE member = $1 AND token = $2 AND number = $3)) \
                FROM (SELECT id FROM \(feed) FOR UPDATE) feed
                """, membership.values + [WireValue(number)]),
            leaseCheckRequest(of: written.saves),
            Request(
                """
                UPDATE \(schema.qualified(PostgreSQLSchema.changes)) SET position = \(schema.position) + 1 + ($2::bigint - position) \
                WHERE position BETWEEN $2::bigint - $1::bigint + 1 AND $2::bigint
                """, [count, WireValue(written.firstEntry)]),
        ] + placeInHistory(written.entryCount, from: written.firstEntry) + [
            Request(
                "DELETE FROM \(saves) WHERE member = $1 AND token = $2 AND number = $3",
                membership.values + [WireValue(committedNumber)])
        ]
    }

    /// The place of ``leaseCheckRequest(of:)`` among the requests of ``positionRequests(_:_:)``.
    private static let leaseCheckIndex = 3

    /// Checks the leases and the history in a separate statement after the lock of the feed. The check must see all commits
    /// that were made before the feed was locked. If the store keeps a history, the third and fourth columns are the
    /// history's limits.
    private func leaseCheckRequest(of saves: [ChangeSet]) -> Request {
        let used = Dictionary(saves.flatMap(\.leases).map { ($0.entity, $0.epoch) }) { first, _ in first }
            .sorted { $0.key < $1.key }
        var names = WireBuffer(.text, count: used.count)
        for (entity, _) in used { names.append(Array(schema.layout.entities[entity].name.utf8)) }
        let history = historySwitch
        return Request(
            """
            SELECT 1 / (NOT EXISTS (SELECT FROM unnest($1::text[], $2::bigint[]) AS used(entity, epoch) \
            LEFT JOIN \(schema.qualified(PostgreSQLSchema.leases)) l ON l.entity = used.entity AND l.epoch = used.epoch \
            AND l.holder = $3 WHERE l.entity IS NULL))::integer, \
            sqrt(-(\(history.sql))::integer)\(historyLimits)
            """,
            [WireValue(names), WireValue(used.map(\.value)), WireValue(membership.member.number)] + history.values)
    }

    /// Returns the reason why the transaction was not committed: see ``positionRequests(_:_:)``.
    private func failure(_ error: DataSourceError, _ requestIndex: Int?, _ saves: [ChangeSet]) -> DataSourceError {
        if requestIndex == Self.leaseCheckIndex, error.cause?.hasPrefix("PostgreSQL 2201F") == true {
            return DataSourceError(historySwitchedIn: opening.options.name)
        }
        guard error.cause?.hasPrefix("PostgreSQL 22012") == true else { return error }
        if requestIndex == 2 {
            isUnknownToServer = true
            return DataSourceError(goneMemberOf: opening.options.name)
        }
        guard requestIndex == Self.leaseCheckIndex, let lease = saves.flatMap(\.leases).first else { return error }
        return DataSourceError(lostLeaseOf: schema.layout.entities[lease.entity].name)
    }

    var epochsRequest: Request {
        Request(
            "SELECT entity, epoch FROM \(schema.qualified(PostgreSQLSchema.leases)) WHERE holder = $1",
            [WireValue(membership.member.number)])
    }

    /// - Throws: `leaseLost` if another member has got a lease of the save, or keys that the save uses.
    func check(_ changes: ChangeSet, _ epochs: [Int: Int64]) throws(DataSourceError) {
        try checkKeys(changes)
        try changes.checkLeases(epochs, schema.layout)
    }

    // MARK: The feed

    /// A random temporary position for feed entries, below zero. Final positions are above zero.
    var firstEntry: Int64 { -.random(in: (1 << 60)...(1 << 62)) }

    /// The statements that write saves into the feed, with descending temporary positions.
    func record(_ saves: [ChangeSet], from first: Int64) -> [Request] {
        let saves = saves.filter(\.hasRecord)
        let entries = saves.enumerated().map { index, set in
            let words = encoding.words(set)
            return FeedEntry(
                position: first - Int64(index), entities: encoding.names(set),
                bytes: words.map { words in words.withUnsafeBytes { Array($0) } })
        }
        var requests: [Request] = []
        var (start, size) = (0, 0)
        for (index, entry) in entries.enumerated() {
            size += entry.bytes?.count ?? 0
            guard size >= Writer.entryLimit || index == entries.count - 1 else { continue }
            requests.append(request(entries[start...index]))
            (start, size) = (index + 1, 0)
        }
        for request in requests { retention.record(bytes: request.parameters.last?.bytes?.count ?? 0) }
        return requests + recordInHistory(saves, from: first)
    }

    /// A feed entry of a save.
    private struct FeedEntry {
        let position: Int64
        /// The names of the changed entities. They are written only if `bytes` is nil.
        let entities: String
        /// The encoded changes; nil if the save has too many rows or bytes for the feed.
        let bytes: [UInt8]?
    }

    /// The approximate number of bytes of feed entries in one statement.
    private static let entryLimit = 4 << 20

    private func request(_ entries: ArraySlice<FeedEntry>) -> Request {
        var names = WireBuffer(.text, count: entries.count)
        var bytes = WireBuffer(.blob, count: entries.count)
        for entry in entries {
            names.append(entry.bytes == nil ? Array(entry.entities.utf8) : nil)
            bytes.append(entry.bytes)
        }
        return Request(
            """
            INSERT INTO \(schema.qualified(PostgreSQLSchema.changes)) \
            SELECT position, $2::bigint, clock_timestamp(), size, names, bytes \
            FROM unnest($1::bigint[], $3::bigint[], $4::text[], $5::bytea[]) AS saves(position, size, names, bytes)
            """,
            [
                WireValue(entries.map(\.position)), WireValue(membership.member.number),
                WireValue(entries.map { Int64($0.bytes?.count ?? 0) }), WireValue(names), WireValue(bytes),
            ])
    }

    /// The statements that delete saves from the feed if the saves in the feed are too old or too many. A member that
    /// has not read the deleted saves reloads all rows.
    private func feedTrimRequests(_ saves: [ChangeSet], _ connection: Connection) throws(DataSourceError) -> [Request] {
        retention.record(saves: saves.count, bytes: 0)
        guard retention.takeTurn() else { return [] }
        let (changes, feed) = (schema.qualified(PostgreSQLSchema.changes), schema.qualified(PostgreSQLSchema.feed))
        let found = try connection.rows(
            """
            SELECT greatest((SELECT max(position) FROM (SELECT position, sum(size) OVER (ORDER BY position DESC) AS total \
            FROM \(changes) WHERE position >= lowest) sizes WHERE total > \(FeedRetention.byteLimit)), \
            (SELECT max(position) FROM \(changes) WHERE position >= lowest \
            AND made < clock_timestamp() - interval '\(FeedRetention.ageLimit) seconds'), 0), lowest FROM \(feed)
            """)
        guard found.rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
        return [
            Request(
                """
                UPDATE \(feed) SET lowest = greatest(lowest, least($1::bigint + 1, \(schema.position)), \
                \(schema.position) - \(FeedRetention.saveLimit - 1))
                """, [WireValue(found.integer(0, 0))]),
            Request(
                "DELETE FROM \(changes) WHERE position BETWEEN $1 AND (SELECT lowest - 1 FROM \(feed))",
                [WireValue(found.integer(0, 1))]),
        ]
    }
}

extension DataSourceError {
    /// Whether the wait for locked rows timed out.
    var isLockTimeout: Bool { cause?.hasPrefix("PostgreSQL 55P03") == true }
}
#endif
