#if PostgreSQL
internal import RowStore

/// Records the reports by which other members show that they live. For each report, also records the time at which this process
/// first saw the report, by the monotonic clock of this process.
///
/// A member lives as long as its reports change. The clocks of the server and of other members are not used, because
/// these clocks can be set at any time. If this process did not check for a while, the measurement starts again.
package final class Heartbeats: Sendable {
    private struct Observation: Sendable {
        let report: Int64
        let since: ContinuousClock.Instant
    }

    private struct State {
        var last: ContinuousClock.Instant?
        var members: [Int64: Observation] = [:]
        /// When leases and tickets were first seen.
        var firstSeen: [String: ContinuousClock.Instant] = [:]
    }

    /// After a longer pause between two checks, this process does not know how long other members have been silent.
    package static let pause = Duration.seconds(3)

    private let start = ContinuousClock.now
    private let state = Guarded(State())

    package init() {}

    /// Records the current state of the store.
    ///
    /// - Parameters:
    ///   - reports: The last report of each member that has not left.
    ///   - names: The names of the current leases and tickets.
    /// - Returns: How long each member has been silent; when each lease and each ticket was first seen; and the current time.
    ///   The two kinds of times are in milliseconds of this process's clock.
    package func record(
        _ reports: [Int64: Int64], _ names: [String], at now: ContinuousClock.Instant = .now
    ) -> (silence: [Int64: Duration], firstSeen: [String: Int64], now: Int64) {
        state.withLock { state in
            if let last = state.last, now - last > Heartbeats.pause { (state.members, state.firstSeen) = ([:], [:]) }
            state.last = now
            let (members, firstSeen) = (state.members, state.firstSeen)
            state.members = Dictionary(
                uniqueKeysWithValues: reports.map { number, report in
                    if let known = members[number], known.report == report { return (number, known) }
                    return (number, Observation(report: report, since: now))
                })
            state.firstSeen = Dictionary(names.map { ($0, firstSeen[$0] ?? now) }) { first, _ in first }
            return (
                state.members.mapValues { now - $0.since }, state.firstSeen.mapValues { milliseconds($0) },
                milliseconds(now)
            )
        }
    }

    /// Returns the members that have no session on the server. Returns none if the server does not show even the session of
    /// the member that asks.
    ///
    /// - Parameters:
    ///   - silent: Members without a recent report.
    ///   - present: The lower 31 bits of the numbers of the members with sessions.
    ///   - own: The member that asks.
    package static func ended(_ silent: [Int64], withSessions present: Set<Int64>, besides own: Int64) -> Set<Int64> {
        let mask: Int64 = 0x7FFF_FFFF
        guard present.contains(own & mask) else { return [] }
        return Set(silent.filter { !present.contains($0 & mask) })
    }

    private func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        // In a test, instants can be earlier than the start.
        max(0, Int64((instant - start) / .milliseconds(1)))
    }
}

/// Determines how long the container can rely on rows that it has read.
final class TrustKeeper: Sendable {
    private struct State {
        var number = 0
        /// When this member last reached the server; nil if that is unknown.
        var lastHeartbeat: ContinuousClock.Instant?
        /// Whether there is a save with an unknown outcome.
        var isInDoubt = false
    }

    private let state = Guarded(State())

    /// Three quarters of the time after which other members take this member's leases.
    private static let silence = Duration.milliseconds(Members.silence) * 3 / 4

    var trust: LeaseTrust? {
        state.withLock { state in
            guard let lastHeartbeat = state.lastHeartbeat, !state.isInDoubt else { return nil }
            return LeaseTrust(number: state.number, end: lastHeartbeat + TrustKeeper.silence)
        }
    }

    /// Records that a message of this member has reached the server.
    ///
    /// - Parameter time: When the message was sent.
    func didBeat(at time: ContinuousClock.Instant) { state.withLock { $0.lastHeartbeat = time } }

    /// Ends the trust in earlier reads, because a connection was lost or a save was not written as expected.
    func end() { state.withLock { $0.number += 1 } }

    /// Ends the trust in earlier reads until the next heartbeat, because the connection for heartbeats was lost.
    func endUntilNextHeartbeat() {
        state.withLock { state in
            state.lastHeartbeat = nil
            state.number += 1
        }
    }

    func setInDoubt(_ isInDoubt: Bool) { state.withLock { $0.isInDoubt = isInDoubt } }
}

/// Looks for transactions in the database that have been open for a long time. During such a transaction, the server keeps the
/// old versions of all rows that are changed or deleted, and every read must skip these versions.
struct OldTransactions {
    /// The age from which an open transaction is reported.
    let age: Duration
    private var nextCheck: ContinuousClock.Instant
    /// The transaction that was last reported.
    private var reported: String?

    init(age: Duration) {
        self.age = age
        nextCheck = .now + age / OldTransactions.checksPerAge
    }

    /// How many times to look for transactions during the time `age`.
    private static let checksPerAge = 10

    /// Returns a report of the oldest open transaction; nil if it is too early to look again, if no transaction is old
    /// enough, or if the last report was about the same transaction.
    ///
    /// A role sees transactions of other roles only if it is a superuser or a member of `pg_read_all_stats`.
    mutating func findOldTransaction(_ connection: Connection) throws(DataSourceError) -> DataSourceError? {
        guard ContinuousClock.now >= nextCheck else { return nil }
        nextCheck = .now + age / OldTransactions.checksPerAge
        let found = try connection.rows(
            """
            SELECT pid::bigint, coalesce(nullif(application_name, ''), 'a program'), coalesce(usename::text, ''), xact_start::text \
            FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
            AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) \
            AND xact_start < clock_timestamp() - $1::bigint * interval '1 millisecond' ORDER BY xact_start LIMIT 1
            """, [WireValue(Int64(age / .milliseconds(1)))])
        guard found.rowCount == 1 else { return nil }
        let name = "\(found.text(0, 1)) (process \(found.integer(0, 0)) of \(found.text(0, 2)))"
        let start = found.text(0, 3)
        if reported == "\(name) \(start)" { return nil }
        reported = "\(name) \(start)"
        return DataSourceError(
            .readerBlocksCheckpoint,
            "A transaction of \(name) has been open in the database since \(start). Until that transaction ends, "
                + "the server keeps all rows that are changed or deleted, so tables grow, and saves of the same objects get "
                + "slower. End the transaction, and keep transactions short."
        )
    }
}
#endif
