#if PostgreSQL
internal import RowStore

/// Writes change sets, one transaction for a group, over a connection of its own.
///
/// The statements of a transaction come in this order: the rows, and their notes for followers; then, in one message, the mark
/// of this member's transaction, by which a lost answer is settled; the lock of the feed's row, which is held until the end, so
/// that positions are in the order of the commits; under that lock, each in a statement of its own, the epochs of the leases and the
/// positions; and the commit. A takeover locks the same row first.
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
    /// What is written of a save that is still being made.
    var early: EarlyTransaction?
    /// The connection for the next such save, once there was one.
    var spare: Connection?
    /// The server's process of a lost connection, which may still keep rows locked.
    var abandoned: ServerProcess?
    /// The number of this member's newest transaction.
    var transactionNumber: Int64 = 0
    /// Whether the newest transaction failed because another one kept rows locked that it changes.
    var metLock = false
    /// Whether the newest transaction was refused because the server does not know this member, or not all of its keys.
    var isForgotten = false
    /// A transaction with an unknown outcome, and the server's process that had it.
    var unsettled: Unsettled? { didSet { trust.setUnsettled(unsettled != nil) } }
    /// The newest transaction of this member that is known to be committed.
    var committedNumber: Int64 = 0
    /// The saves of a transaction that was reported as unknown, and turned out to be committed.
    var landed: Set<Int64> = []
    /// Whether a transaction was reported as unknown, so that everything must be reloaded once it is settled.
    var hasNews = false
    /// Whether something was committed, or may have been, that others have to be notified of.
    var hasNewsForOthers = false
    var keys = KeyReservations()
    var retention = FeedRetention()

    struct Unsettled {
        let number: Int64
        let saves: Set<Int64>
    }

    struct ServerProcess {
        let number: Int32
        let start: String
    }

    /// How often a transaction is tried that the server ends in favour of others.
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
    }

    /// How long the server may take to learn that this member has left. If it does not, others notice after a while.
    private static let leavingPatience = Duration.seconds(5)

    func close() {
        abandonEarlyWrite()
        spare?.close()
        if let connection, connection.isUsable {
            (connection.patience, connection.silence) = (Writer.leavingPatience, nil)
            try? leave(connection)
        }
        connection?.close()
        connection = nil
    }

    func leave(_ connection: Connection) throws(DataSourceError) {
        try connection.transaction { () throws(DataSourceError) in
            try Members(connection, schema).lockFeed(membership, opening.options.name)
            try giveUpLeases(connection)
            try Members(connection, schema).remove(membership)
        }
    }

    /// The connection; made again if it was lost.
    func connected() throws(DataSourceError) -> Connection {
        if let connection, connection.isUsable { return connection }
        giveUpConnection()
        let made = try connect()
        try endAbandoned(made)
        connection = made
        return made
    }

    /// Makes a connection that writes.
    func connect() throws(DataSourceError) -> Connection {
        let made = try Connection(opening.options.target)
        made.counters = counters
        try opening.settleWriter(made)
        made.tracing = opening.options.tracing
        try Members(made, schema).mark(membership)
        return made
    }

    /// The connection cannot be used any more.
    func giveUpConnection() {
        if let connection {
            abandoned = ServerProcess(number: connection.serverProcess, start: connection.serverProcessStart)
        }
        connection?.close()
        connection = nil
        trust.end()
    }

    /// Ends the server's process of a lost connection, if it waits for something that will never come.
    private func endAbandoned(_ connection: Connection) throws(DataSourceError) {
        guard let process = abandoned else { return }
        try connection.transaction { () throws(DataSourceError) in
            try connection.runAsSessionUser(
                Request(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::bigint::integer \
                    AND backend_start::text = $2 AND usename = session_user AND state <> 'idle' AND wait_event = 'ClientRead'
                    """, [WireValue(Int64(process.number)), WireValue(process.start)]))
        }
        abandoned = nil
    }

    /// Runs the body with the connection, and once more if that was lost.
    func reconnecting<R>(_ body: (Connection) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        func once() throws(DataSourceError) -> R {
            let connection = try connected()
            return try connection.ofGeneration(schema, opening.options.name) { () throws(DataSourceError) in
                try body(connection)
            }
        }
        do throws(DataSourceError) { return try once() } catch {
            guard error.isLoss || error.isConflict else { throw error }
            return try once()
        }
    }

    /// Whether there is something that others have to be notified of; false from then on.
    func takeNewsForOthers() -> Bool {
        defer { hasNewsForOthers = false }
        return hasNewsForOthers
    }

    // MARK: Saves

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        do throws(DataSourceError) { try settle(patience: .zero) } catch {
            // An outcome that will never be known is news for all contexts, but no reason to refuse later saves.
            if unsettled != nil { throw error }
        }
        // A save that was tried again and is already there.
        let group = group.map { landed.contains($0.number) ? ChangeSet(landed: $0) : $0 }
        guard group.contains(where: { !$0.isEmpty }) else { return outcome(CommitOutcome()) }
        metLock = false
        var early = takeEarlyWrite(of: group)
        let hasEarlyWrite = early != nil
        do throws(DataSourceError) {
            let saves = group.filter { !$0.isEmpty }
            try transaction { (connection) throws(DataSourceError) in
                var rows: RowWriter
                if let written = early, written.connection === connection {
                    // If it fails, all rows are written next time.
                    early = nil
                    rows = RowWriter(connection, schema, first: [Connection.rowLockTimeout])
                    try rows.write(written.rows.remainder(of: saves[0]))
                } else {
                    rows = RowWriter(connection, schema, first: [Request("BEGIN"), Connection.rowLockTimeout])
                    try write(saves, &rows)
                }
                let first = firstNote
                try rows.finish(note(saves, from: first))
                return Written(saves: saves, firstNote: first)
            }
        } catch {
            guard error.isOfOneSave || metLock else { throw error }
            // Without the early write, what failed may succeed.
            return outcome(try commitSome(group, failure: hasEarlyWrite ? nil : error))
        }
        return outcome(CommitOutcome())
    }

    func write(_ saves: [ChangeSet], _ rows: inout RowWriter) throws(DataSourceError) {
        for (place, run) in try SaveRun.runs(of: saves, schema).enumerated() {
            // A later save of the group must not make room for an earlier one.
            if place > 0 { rows.check() }
            try rows.write(run.entities)
        }
    }

    private func outcome(_ found: CommitOutcome) -> CommitOutcome {
        defer { (hasNews, landed) = (false, []) }
        return CommitOutcome(refused: found.refused, postponed: found.postponed, foundOutsideWrites: hasNews)
    }

    // MARK: Resetting

    /// Replaces the open generation by an empty one.
    func reset() throws(DataSourceError) -> (StoreStartup, StoreOpening.Result) {
        // It would wait for that transaction.
        abandonEarlyWrite()
        try settle(patience: .zero)
        let connection = try connected()
        // Large tables may be counted and dropped, for as long as the server works on it.
        connection.patience = nil
        defer { connection.patience = opening.options.patience }
        let registry = try Registry(connection)
        var startup = StoreStartup(reason: .requested)
        do throws(DataSourceError) {
            return try registry.holding(opening.options.name) { () throws(DataSourceError) in
                guard let found = try registry.entry(opening.options.name), found == entry else {
                    throw DataSourceError(resetElsewhere: opening.options.name)
                }
                startup.rowsDropped = try opening.count(connection, found)
                let new = try opening.replace(registry, found, .requested, besides: membership)
                return (startup, try opening.rejoined(connection, new, membership))
            }
        } catch {
            guard error.isLoss, let opened = try resetAfterAll() else { throw error }
            return (startup, opened)
        }
    }

    /// The state after a reset whose answer was lost, if it happened; nil if it did not.
    private func resetAfterAll() throws(DataSourceError) -> StoreOpening.Result? {
        let connection = try connected()
        let registry = try Registry(connection)
        return try registry.holding(opening.options.name) { () throws(DataSourceError) in
            guard let found = try registry.entry(opening.options.name), found != entry else { return nil }
            let schema = try PostgreSQLSchema(opening.options.layout, name: found.schema)
            // Another process may have done it meanwhile, or opened it since.
            guard try Members(connection, schema).isThere(membership) else { return nil }
            return try opening.rejoined(connection, found, membership)
        }
    }
}

extension ChangeSet {
    /// A save that was already written, so that nothing is left to write.
    fileprivate init(landed other: ChangeSet) {
        self = other
        entities = []
    }
}

/// Rows of a save that is still being made.
///
/// They are in a transaction that stays open, on a connection of its own: keys are reserved and leases are kept over the other
/// one meanwhile. The commit of the save ends it, and then the two connections have changed places.
extension Writer {
    struct EarlyTransaction {
        var rows: EarlyRows
        let connection: Connection
    }

    /// Nobody waits for an attempt for longer, and others may have locked a table.
    private static let earlyPatience = Duration.seconds(2)
    private static let earlyLockTimeout = "100ms"

    /// Writes rows of a save that is still being made.
    ///
    /// - Returns: Whether the rest may follow.
    func write(_ new: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        guard unsettled == nil, connection?.isUsable == true else { return false }
        do throws(DataSourceError) {
            if early == nil, earlyWrite.begin() {
                // If that fails, the early write is over.
                defer { if early == nil { earlyWrite.close() } }
                early = try begin(earlyWrite)
            }
            guard let early, early.rows.earlyWrite === earlyWrite else { return false }
            var rows = RowWriter(early.connection, schema)
            try rows.insert(new)
            self.early?.rows.add(new)
            return true
        } catch {
            // Whatever it was, the commit of the save reports it if it is still so.
            abandonEarlyWrite()
            return false
        }
    }

    private func begin(_ earlyWrite: EarlyWrite) throws(DataSourceError) -> EarlyTransaction {
        let connection: Connection
        if let spare, spare.isUsable { connection = spare } else { connection = try connect() }
        spare = nil
        connection.patience = Writer.earlyPatience
        _ = try connection.pipeline([
            Request("BEGIN"), Request("SET LOCAL lock_timeout = '\(Writer.earlyLockTimeout)'"),
        ])
        return EarlyTransaction(rows: EarlyRows(earlyWrite), connection: connection)
    }

    /// Rolls back what was written early, if anything was.
    func abandonEarlyWrite() {
        guard let early else { return }
        self.early = nil
        early.rows.earlyWrite.close()
        try? early.connection.run("ROLLBACK")
        if early.connection.isUsable { spare = early.connection }
    }

    /// Makes the connection with the rows that were written early the one that writes, if they are those of the group. Otherwise
    /// they are rolled back.
    ///
    /// - Returns: These rows; nil if there are none.
    func takeEarlyWrite(of group: [ChangeSet]) -> EarlyTransaction? {
        guard let found = early, found.rows.isOf(group), found.connection.isUsable else {
            abandonEarlyWrite()
            return nil
        }
        early = nil
        found.rows.earlyWrite.close()
        found.connection.patience = opening.options.patience
        (connection, spare) = (found.connection, connection)
        return found
    }
}
#endif
