#if PostgreSQL
internal import RowStore

/// Writes change sets over a separate connection, one transaction for each group.
///
/// The statements of a transaction have this order:
/// 1. The rows and the feed entries.
/// 2. In one message: the mark of this member's transaction, which shows the outcome if an answer is lost; the lock of the
///    feed's row; the check of the leases; the positions; and the commit.
///
/// The feed's row stays locked until the end, so that positions are in the order of the commits. A member that takes over a
/// lease locks the same row first.
final class Writer {
    let opening: StoreOpening
    let schema: PostgreSQLSchema
    let entry: Registry.Entry
    let membership: Membership
    let encoding: ChangeEncoding
    let counters: PostgreSQLCounters
    let trust: TrustKeeper
    /// Nil while the server cannot be reached.
    var connection: Connection?
    /// The open early write: rows of a save that is still being made.
    var openEarlyWrite: EarlyTransaction?
    /// The connection for the next early write; nil before the first early write.
    var spareConnection: Connection?
    /// The server process of a lost connection, which might still have rows locked.
    var abandonedProcess: ServerProcess?
    /// The number of this member's newest transaction.
    var transactionNumber: Int64 = 0
    /// Whether the newest transaction failed because another transaction had locked its rows.
    var lockWaitTimedOut = false
    /// Whether the newest transaction was refused because the server does not know this member or some of its keys.
    var isUnknownToServer = false
    /// A transaction with an unknown outcome.
    var inDoubtTransaction: InDoubtTransaction? { didSet { trust.setInDoubt(inDoubtTransaction != nil) } }
    /// The number of this member's newest transaction that is known to be committed.
    var committedNumber: Int64 = 0
    /// The saves of a transaction that was reported as unknown, and was later found to be committed.
    var alreadyCommitted: Set<SaveNumber> = []
    /// Whether all rows must be reloaded, because the outcome of a transaction was reported as unknown, or because the
    /// server has lost commits.
    var mustReload = false
    /// Whether a call might have committed changes, so that other members must be notified.
    var hasEventsForOthers = false
    var keys = KeyReservations()
    var retention = FeedRetention()
    /// Records the saves; nil if the store keeps no history.
    var history: ServerHistory?
    /// Whether the store is known to have the table of scopes.
    var hasScopes = false

    struct InDoubtTransaction {
        let number: Int64
        let saves: Set<SaveNumber>
    }

    struct ServerProcess {
        let number: Int32
        let start: String
    }

    /// The maximum number of times that a transaction is tried, if the server rolls it back because of conflicts.
    static let attempts = 8

    init(_ opening: StoreOpening, _ opened: StoreOpening.Result, counters: PostgreSQLCounters, trust: TrustKeeper) {
        self.opening = opening
        self.trust = trust
        schema = opened.schema
        entry = opened.entry
        membership = opened.membership
        connection = opened.connection
        encoding = ChangeEncoding(opened.schema.layout)
        self.counters = counters
        connection?.counters = counters
        history = opened.history.map { ServerHistory($0, opened.schema) }
    }

    /// How long to wait for the server to record that this member leaves. After a timeout, other members notice the end
    /// of this member later.
    private static let leaveTimeout = Duration.seconds(5)

    func close() {
        abandonEarlyWrite()
        spareConnection?.close()
        if let connection, connection.isUsable {
            (connection.responseTimeout, connection.silence) = (Writer.leaveTimeout, nil)
            try? leave(connection)
        }
        connection?.close()
        connection = nil
    }

    func leave(_ connection: Connection) throws(DataSourceError) {
        try connection.transaction { () throws(DataSourceError) in
            try Members(connection, schema).lockFeed(membership, opening.options.name)
            try giveUpLeases(connection)
            _ = try connection.rows(
                "DELETE FROM \(schema.qualified(PostgreSQLSchema.tickets)) WHERE member = $1",
                [WireValue(membership.member.number)])
            try Members(connection, schema).remove(membership)
        }
    }

    /// Returns the connection. Replaces a lost connection first.
    func connected() throws(DataSourceError) -> Connection {
        if let connection, connection.isUsable { return connection }
        discardConnection()
        let made = try connect()
        try terminateAbandonedProcess(made)
        connection = made
        return made
    }

    func connect() throws(DataSourceError) -> Connection {
        let made = try Connection(opening.options.target)
        made.counters = counters
        try opening.configureWriter(made)
        made.tracing = opening.options.tracing
        try Members(made, schema).mark(membership)
        history?.didConnect()
        return made
    }

    /// Closes the connection, which can no longer be used.
    func discardConnection() {
        if let connection {
            abandonedProcess = ServerProcess(number: connection.serverProcess, start: connection.serverProcessStart)
        }
        connection?.close()
        connection = nil
        trust.end()
    }

    /// Ends the server process of a lost connection, if the process waits for the client.
    private func terminateAbandonedProcess(_ connection: Connection) throws(DataSourceError) {
        guard let process = abandonedProcess else { return }
        try connection.transaction { () throws(DataSourceError) in
            try connection.runAsSessionUser(
                Request(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::bigint::integer \
                    AND backend_start::text = $2 AND usename = session_user AND state <> 'idle' AND wait_event = 'ClientRead'
                    """, [WireValue(Int64(process.number)), WireValue(process.start)]))
        }
        abandonedProcess = nil
    }

    /// Runs the body with the connection, and once more after a loss or a conflict.
    func withReconnect<R>(_ body: (Connection) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        func runOnce() throws(DataSourceError) -> R {
            let connection = try connected()
            return try connection.checkingGeneration(schema, opening.options.name) { () throws(DataSourceError) in
                try body(connection)
            }
        }
        do throws(DataSourceError) { return try runOnce() } catch {
            guard error.isConnectionLoss || error.isConflict else { throw error }
            return try runOnce()
        }
    }

    /// Whether other members must be notified. Resets the flag.
    func takeEventsForOthers() -> Bool {
        defer { hasEventsForOthers = false }
        return hasEventsForOthers
    }

    // MARK: Saves

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        do throws(DataSourceError) { try resolveOutcome(timeout: .zero) } catch {
            // If the server has forgotten this member, the outcome can never be found out, and `inDoubtTransaction` is nil
            // now. All contexts then reload, but this save is not refused.
            if inDoubtTransaction != nil { throw error }
        }
        // A save that is tried again might already be in the store.
        let group = group.map { alreadyCommitted.contains($0.saveNumber) ? ChangeSet(alreadyCommitted: $0) : $0 }
        guard group.contains(where: { !$0.isEmpty }) else { return outcome(CommitOutcome()) }
        lockWaitTimedOut = false
        var openEarlyWrite = takeEarlyWrite(of: group)
        let hasEarlyWrite = openEarlyWrite != nil
        do throws(DataSourceError) {
            let saves = group.filter { !$0.isEmpty }
            try transaction { (connection) throws(DataSourceError) in
                var rows: RowWriter
                if let written = openEarlyWrite, written.connection === connection {
                    // If the commit fails, the next try writes all rows.
                    openEarlyWrite = nil
                    rows = RowWriter(connection, schema, first: [Connection.rowLockTimeout])
                    try rows.write(written.rows.remainder(of: saves[0]))
                } else {
                    rows = RowWriter(connection, schema, first: [Request("BEGIN"), Connection.rowLockTimeout])
                    try write(saves, &rows)
                }
                let first = firstEntry
                let scopes = try scopeRequests(saves, connection)
                try readHistoryLimits(before: saves, connection)
                try rows.finish(record(saves, from: first))
                return Written(saves: saves, firstEntry: first, scopes: scopes)
            }
        } catch {
            guard error.concernsOneSave || lockWaitTimedOut else { throw error }
            // If there was an early write, do not pass the error: the save might succeed without the early write.
            return outcome(try commitSome(group, failure: hasEarlyWrite ? nil : error))
        }
        return outcome(CommitOutcome())
    }

    func write(_ saves: [ChangeSet], _ rows: inout RowWriter) throws(DataSourceError) {
        for (index, run) in try SaveRun.runs(of: saves, schema).enumerated() {
            // Check unique values now, because a later save of the group must not free values for an earlier save.
            if index > 0 { rows.check() }
            try rows.write(run.entities)
        }
    }

    private func outcome(_ found: CommitOutcome) -> CommitOutcome {
        defer { (mustReload, alreadyCommitted) = (false, []) }
        return CommitOutcome(refused: found.refused, postponed: found.postponed, foundOutsideWrites: mustReload)
    }

    // MARK: Resetting

    /// Replaces the open generation with an empty one.
    func reset() throws(DataSourceError) -> (StoreStartup, StoreOpening.Result) {
        // The reset would wait for the transaction of the early write.
        abandonEarlyWrite()
        try resolveOutcome(timeout: .zero)
        let connection = try connected()
        // Set no limit for responses, because counting and dropping large tables can take a long time.
        connection.responseTimeout = nil
        defer { connection.responseTimeout = opening.options.responseTimeout }
        let registry = try Registry(connection)
        var startup = StoreStartup(reason: .requested)
        do throws(DataSourceError) {
            return try registry.withLock(opening.options.name) { () throws(DataSourceError) in
                guard let found = try registry.entry(opening.options.name), found == entry else {
                    throw DataSourceError(resetElsewhere: opening.options.name)
                }
                startup.rowsDropped = try opening.count(connection, found)
                let new = try opening.replace(registry, found, .requested, besides: membership)
                return (startup, try opening.rejoined(connection, new, membership))
            }
        } catch {
            guard error.isConnectionLoss, let opened = try resultOfUnansweredReset() else { throw error }
            return (startup, opened)
        }
    }

    /// The state after a reset whose answer was lost; nil if the reset did not happen.
    private func resultOfUnansweredReset() throws(DataSourceError) -> StoreOpening.Result? {
        let connection = try connected()
        let registry = try Registry(connection)
        return try registry.withLock(opening.options.name) { () throws(DataSourceError) in
            guard let found = try registry.entry(opening.options.name), found != entry else { return nil }
            let schema = try PostgreSQLSchema(opening.options.layout, name: found.schema)
            // If another process has reset the store, the new generation does not contain this member.
            guard try Members(connection, schema).contains(membership) else { return nil }
            return try opening.rejoined(connection, found, membership)
        }
    }
}

extension ChangeSet {
    /// Makes a change set without rows for a save that is already in the store.
    fileprivate init(alreadyCommitted other: ChangeSet) {
        self = other
        entities = []
        scopes = []
        facts = nil
    }
}

/// Writes rows of a save early, while the save is still being made.
///
/// The early rows are in an open transaction of a second connection. Meanwhile, the first connection reserves keys. The commit
/// of the save ends the transaction, and the two connections exchange their roles.
extension Writer {
    struct EarlyTransaction {
        var rows: EarlyRows
        let connection: Connection
    }

    /// The limits are short, because an early write is optional, and another member can have the table locked.
    private static let earlyWriteTimeout = Duration.seconds(2)
    private static let earlyLockTimeout = "100ms"

    /// Writes rows of a save that is still being made.
    ///
    /// - Returns: Whether more rows can follow.
    func write(_ new: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        guard inDoubtTransaction == nil, connection?.isUsable == true else { return false }
        do throws(DataSourceError) {
            if openEarlyWrite == nil, earlyWrite.begin() {
                // If the transaction cannot begin, the early write ends.
                defer { if openEarlyWrite == nil { earlyWrite.close() } }
                openEarlyWrite = try begin(earlyWrite)
            }
            guard let openEarlyWrite, openEarlyWrite.rows.earlyWrite === earlyWrite else { return false }
            var rows = RowWriter(openEarlyWrite.connection, schema)
            try rows.insert(new)
            self.openEarlyWrite?.rows.add(new)
            return true
        } catch {
            // If the error persists, the commit of the save reports it.
            abandonEarlyWrite()
            return false
        }
    }

    private func begin(_ earlyWrite: EarlyWrite) throws(DataSourceError) -> EarlyTransaction {
        let connection: Connection
        if let spareConnection, spareConnection.isUsable {
            connection = spareConnection
        } else {
            connection = try connect()
        }
        spareConnection = nil
        connection.responseTimeout = Writer.earlyWriteTimeout
        _ = try connection.pipeline([
            Request("BEGIN"), Request("SET LOCAL lock_timeout = '\(Writer.earlyLockTimeout)'"),
        ])
        return EarlyTransaction(rows: EarlyRows(earlyWrite), connection: connection)
    }

    /// Rolls back the early write, if there is one.
    func abandonEarlyWrite() {
        guard let openEarlyWrite else { return }
        self.openEarlyWrite = nil
        openEarlyWrite.rows.earlyWrite.close()
        try? openEarlyWrite.connection.run("ROLLBACK")
        if openEarlyWrite.connection.isUsable { spareConnection = openEarlyWrite.connection }
    }

    /// If the group consists of the save with the early rows, makes the connection of these rows the writing
    /// connection. Otherwise, rolls the early rows back.
    ///
    /// - Returns: The early rows; nil if there are none for the group.
    func takeEarlyWrite(of group: [ChangeSet]) -> EarlyTransaction? {
        guard let found = openEarlyWrite, found.rows.belongsTo(group), found.connection.isUsable else {
            abandonEarlyWrite()
            return nil
        }
        openEarlyWrite = nil
        found.rows.earlyWrite.close()
        found.connection.responseTimeout = opening.options.responseTimeout
        (connection, spareConnection) = (found.connection, connection)
        return found
    }
}
#endif
