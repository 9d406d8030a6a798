#if PostgreSQL
internal import RowStore

/// A container that has the store open, with a unique token. The number alone is not enough, because a server that has
/// lost its newest commits can give the same number to another member.
struct Membership: Sendable {
    let member: StoreMember
    let token: Int64

    init(_ member: StoreMember) {
        self.member = member
        token = .random(in: .min ... .max)
    }

    var values: [WireValue] { [WireValue(member.number), WireValue(token)] }
}

/// The members that have the store open. Each member reports regularly that it lives.
struct Members {
    private let connection: Connection
    private let table: String
    private let writers: String
    private let saves: String
    private let feed: String
    private let namespace: String

    /// The time between two reports of a member, in milliseconds.
    static let heartbeatInterval: Int32 = 1500
    /// The time without a report after which a member counts as ended, in milliseconds.
    static let silence: Int64 = 6000
    /// The time without a report, by the server's clock, after which the sessions of a member are looked up. Longer than
    /// ``heartbeatInterval``, so that a living member costs no look-up.
    static let lookup: Int64 = 1750
    /// The time between two checks for saves on a server without notifications, in milliseconds.
    static let pollInterval: Int32 = 250
    /// The first time is how long an ended member is kept, so that the member of a save can be named. The second time is how
    /// long the saves of an ended member are kept, so that an outcome can be found out after a long sleep.
    private static let (memory, memoryOfSaves) = ("1 hour", "30 days")

    init(_ connection: Connection, _ schema: PostgreSQLSchema) {
        self.connection = connection
        namespace = schema.name
        table = schema.qualified(PostgreSQLSchema.members)
        writers = schema.qualified(PostgreSQLSchema.writers)
        saves = schema.qualified(PostgreSQLSchema.saves)
        feed = schema.qualified(PostgreSQLSchema.feed)
    }

    /// A member in the store's tables.
    struct Record {
        let member: StoreMember
        /// Changes with each report of the member; nil if the member has left.
        let report: Int64?
        /// The time since the last report by the server's clock, in milliseconds. Only for display, and to decide when to look
        /// up the sessions of the member. No member counts as ended because of this time alone.
        let silence: Int64
        /// Whether the server has run without a restart since the last report.
        let isReportOfThisRun: Bool
    }

    /// Marks a member that has left: this interval is subtracted from the time at which the member left. Adding the interval
    /// gives the time again.
    private static let departureOffset = "interval '1000 years'"
    private static let hasLeftSQL = "seen < '1500-01-01'"

    func all() throws(DataSourceError) -> [Record] {
        let found = try connection.rows(
            """
            SELECT number, process, name, CASE WHEN NOT \(Members.hasLeftSQL) THEN (extract(epoch FROM seen) * 1000000)::bigint END, \
            (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint, \
            (seen > pg_postmaster_start_time())::integer::bigint FROM \(table) ORDER BY number
            """)
        return (0..<found.rowCount).map { row in
            let member = StoreMember(
                number: found.integer(row, 0), processID: Int32(truncatingIfNeeded: found.integer(row, 1)),
                name: found.text(row, 2))
            return Record(
                member: member, report: found.optionalInteger(row, 3), silence: found.integer(row, 4),
                isReportOfThisRun: found.isTrue(row, 5))
        }
    }

    /// The numbers of the members that have ended without leaving the store, for example because their process has ended. The
    /// server ends the sessions of a process as soon as the process ends.
    ///
    /// If a member that has lost all its sessions still lives, it loses its leases early. This is safe, because each save
    /// compares its leases in its own transaction. A server that has restarted has ended the sessions of all members, so
    /// the reports from before the restart do not count. A server or proxy that shows no sessions is recognized by the
    /// missing session of the member that asks.
    ///
    /// - Parameters:
    ///   - known: The members to check.
    ///   - own: The member that asks.
    func endedEarly(_ known: [Record], besides own: Int64) throws(DataSourceError) -> Set<Int64> {
        let silent = known.filter {
            $0.member.number != own && $0.report != nil && $0.isReportOfThisRun && $0.silence > Members.lookup
        }
        if silent.isEmpty { return [] }
        let sessions = try connection.rows(
            """
            SELECT DISTINCT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
            AND classid::bigint = hashtext($1)::bigint & 4294967295
            """, [WireValue(namespace)])
        let present = Set((0..<sessions.rowCount).map { sessions.integer($0, 0) })
        return Heartbeats.ended(silent.map(\.member.number), withSessions: present, besides: own)
    }

    /// The members that have reported recently by the server's clock. Only for display.
    func recent() throws(DataSourceError) -> [StoreMember] {
        try all().filter { $0.report != nil && $0.silence < Members.silence }.map(\.member)
    }

    /// The last reports of the members that have not left.
    func reports(besides own: Int64?) throws(DataSourceError) -> [Int64: Int64] {
        var reports: [Int64: Int64] = [:]
        for known in try all() where known.member.number != own { reports[known.member.number] = known.report }
        return reports
    }

    /// Finds out which members live. A member that reports or joins during the wait lives. If no member reports or
    /// joins, the wait ends when every member has been silent for long enough.
    ///
    /// - Returns: The living members, and the last report of each member.
    func living(
        besides own: Int64?, _ wait: (Duration) -> Void
    ) throws(DataSourceError) -> (living: [StoreMember], reports: [Int64: Int64]) {
        let heartbeats = Heartbeats()
        let first = try reports(besides: own)
        while true {
            let reports = try reports(besides: own)
            let living = try changed(from: first, besides: own)
            if !living.isEmpty { return (living, reports) }
            let silence = heartbeats.record(reports, []).silence
            if silence.values.allSatisfy({ $0 > .milliseconds(Members.silence) }) { return ([], reports) }
            wait(.milliseconds(100))
        }
    }

    /// The members that have reported since the given reports.
    func changed(from reports: [Int64: Int64], besides own: Int64?) throws(DataSourceError) -> [StoreMember] {
        try all().filter { known in
            known.member.number != own && known.report != nil && known.report != reports[known.member.number]
        }.map(\.member)
    }

    func add(_ membership: Membership) throws(DataSourceError) {
        let member = membership.member
        _ = try connection.rows(
            "INSERT INTO \(table) VALUES ($1, $2::bigint::integer, $3, clock_timestamp(), $4)",
            [
                WireValue(member.number), WireValue(Int64(member.processID)), WireValue(member.name),
                WireValue(membership.token),
            ])
        try markSaves(membership)
    }

    /// Deletes members that ended long ago, and the rows of their saves.
    func forgetOld() throws(DataSourceError) {
        // Keep the rows of a living member, even if it has made no save for a long time.
        let isGone = "(member, token) NOT IN (SELECT number, token FROM \(table))"
        for (name, condition) in [
            (
                table,
                """
                CASE WHEN \(Members.hasLeftSQL) THEN seen + \(Members.departureOffset) ELSE seen END \
                < clock_timestamp() - interval '\(Members.memory)'
                """
            ),
            (
                writers,
                """
                \(isGone) AND NOT EXISTS (SELECT FROM \(saves) s WHERE s.member = w.member AND s.token = w.token \
                AND s.made > clock_timestamp() - interval '\(Members.memoryOfSaves)')
                """
            ), (saves, "NOT EXISTS (SELECT FROM \(writers) s WHERE s.member = w.member AND s.token = w.token)"),
        ] {
            try connection.run(
                """
                DELETE FROM \(name) WHERE ctid IN (SELECT ctid FROM \(name) w WHERE \(condition) FOR UPDATE SKIP LOCKED)
                """)
        }
    }

    func contains(_ membership: Membership) throws(DataSourceError) -> Bool {
        try connection.rows("SELECT 1 FROM \(table) WHERE number = $1 AND token = $2", membership.values).rowCount == 1
    }

    /// Reports that a member lives. Adds the member again if it was deleted after a long silence.
    ///
    /// - Throws: `storeReset` if another member has this member's number.
    func sendHeartbeat(_ membership: Membership) throws(DataSourceError) {
        let beaten = try connection.rows(
            "UPDATE \(table) SET seen = clock_timestamp() WHERE number = $1 AND token = $2", membership.values)
        if beaten.changedRows == 1 { return }
        do throws(DataSourceError) {
            try add(membership)
        } catch  where error.code == .uniquenessViolated {
            throw DataSourceError(numberGivenAgain: ())
        }
    }

    /// Adds the rows that show the outcome of a transaction after a lost answer, if these rows are missing.
    func markSaves(_ membership: Membership) throws(DataSourceError) {
        _ = try connection.pipeline([
            Request("INSERT INTO \(writers) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING", membership.values),
            Request(
                """
                INSERT INTO \(saves) SELECT $1::bigint, $2::bigint, 0, clock_timestamp() \
                WHERE NOT EXISTS (SELECT FROM \(saves) WHERE member = $1 AND token = $2) ON CONFLICT DO NOTHING
                """, membership.values),
        ])
    }

    /// Marks the session of this connection as a session of the member. A member marks each session in which it writes or
    /// reports that it lives. A member without a marked session has ended, see ``endedEarly(_:besides:)``.
    func mark(_ membership: Membership) throws(DataSourceError) {
        _ = try connection.rows(
            "SELECT pg_advisory_lock_shared(hashtext($1), ($2::bigint & 2147483647)::integer)",
            [WireValue(namespace), WireValue(membership.member.number)])
    }

    /// Locks the feed. Until the end of the transaction, nobody else can take over a lease or give a save a position.
    ///
    /// - Throws: `storeReset` if another process has this member's number.
    func lockFeed(_ membership: Membership, _ store: String) throws(DataSourceError) {
        let found = try connection.rows(
            """
            SELECT EXISTS (SELECT FROM \(table) WHERE number = $1 AND token <> $2)::integer::bigint FROM \(feed) FOR UPDATE
            """, membership.values)
        guard found.rowCount == 1 else { throw DataSourceError(damagedSharing: store) }
        if found.isTrue(0, 0) { throw DataSourceError(numberGivenAgain: ()) }
    }

    /// Ends the sessions in which a member writes to tables. If a process was halted in the middle of a transaction, its
    /// session would keep rows locked and unique values reserved.
    ///
    /// Other sessions of the member stay open. A session of another role is ended only if the current role has the right to end
    /// it, for example as a member of `pg_signal_backend`.
    ///
    /// - Parameter tables: The names of the tables; nil for all tables of the store.
    func endTransactions(of member: Int64, writing tables: [String]? = nil) throws(DataSourceError) {
        let names = tables.map { tables in
            var names = WireBuffer(.text, count: tables.count)
            for name in tables { names.append(Array(name.utf8)) }
            return WireValue(names)
        }
        try connection.runAsSessionUser(
            Request(
                """
                SELECT pg_terminate_backend(a.pid) FROM pg_locks m JOIN pg_stat_activity a ON a.pid = m.pid \
                JOIN pg_roles r ON r.oid = a.usesysid WHERE m.locktype = 'advisory' AND m.objsubid = 2 \
                AND m.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                AND m.classid::bigint = hashtext($1)::bigint & 4294967295 AND m.objid::bigint = $2::bigint & 2147483647 \
                AND a.pid <> pg_backend_pid() AND CASE WHEN r.rolsuper THEN pg_has_role(current_user, r.oid, 'USAGE') \
                ELSE pg_has_role(current_user, r.oid, 'USAGE') OR pg_has_role(current_user, 'pg_signal_backend', 'USAGE') END \
                AND EXISTS (SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n \
                ON n.oid = c.relnamespace WHERE l.pid = m.pid AND l.database = m.database AND n.nspname = $1 \
                AND ($3::text[] IS NULL OR c.relname = ANY ($3::text[])) AND l.mode <> 'AccessShareLock')
                """, [WireValue(namespace), WireValue(member), names ?? .null]))
    }

    /// Records that the member has left.
    func remove(_ membership: Membership) throws(DataSourceError) {
        _ = try connection.pipeline([
            Request(
                "UPDATE \(table) SET seen = clock_timestamp() - \(Members.departureOffset) WHERE number = $1 AND token = $2",
                membership.values),
            Request("DELETE FROM \(saves) WHERE member = $1 AND token = $2", membership.values),
            Request("DELETE FROM \(writers) WHERE member = $1 AND token = $2", membership.values),
        ])
    }
}

extension Connection {
    /// Runs a statement of the open transaction as the role that has logged in. A group role can lack the right to end
    /// sessions of the role that has logged in.
    func runAsSessionUser(_ request: Request) throws(DataSourceError) {
        _ = try pipeline([
            Request(
                "SELECT set_config('coredatasource.role', current_setting('role'), true), set_config('role', 'none', true)"
            ),
            request,
            Request("SELECT set_config('role', current_setting('coredatasource.role'), true)"),
        ])
    }
}

extension DataSourceError {
    /// The error if another process has the member's number.
    init(numberGivenAgain: Void) {
        self.init(
            .storeReset,
            "The server has lost its newest commits, including the commit by which this process opened the store. Open the store again."
        )
    }
}
#endif
