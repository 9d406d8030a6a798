#if PostgreSQL
internal import RowStore

/// What a process has seen of the others, and when, by its own clock, which never goes back.
///
/// Neither the server's clock nor those of others decide who lives: they may be set at any time. A member lives as long as its
/// reports change. Whoever did not look for a while counts anew.
package final class Heartbeats: Sendable {
    private struct Sight: Sendable {
        let report: Int64
        let since: ContinuousClock.Instant
    }

    private struct State {
        var last: ContinuousClock.Instant?
        var members: [Int64: Sight] = [:]
        /// When leases and tickets were first seen.
        var firsts: [String: ContinuousClock.Instant] = [:]
    }

    /// After that long without a look, it is unknown how long the others have been silent.
    package static let pause = Duration.seconds(3)

    private let start = ContinuousClock.now
    private let state = Guarded(State())

    package init() {}

    /// Notes what the store shows now.
    ///
    /// - Parameters:
    ///   - reports: What each member that has not left has reported last.
    ///   - names: The names of the leases and tickets that are there.
    /// - Returns: How long each of them has been silent; and when each lease and ticket was first seen, in milliseconds of this
    ///   process, which it is now, too.
    package func note(
        _ reports: [Int64: Int64], _ names: [String], at now: ContinuousClock.Instant = .now
    ) -> (silence: [Int64: Duration], firsts: [String: Int64], now: Int64) {
        state.withLock { state in
            if let last = state.last, now - last > Heartbeats.pause { (state.members, state.firsts) = ([:], [:]) }
            state.last = now
            let (members, firsts) = (state.members, state.firsts)
            state.members = Dictionary(
                uniqueKeysWithValues: reports.map { number, report in
                    if let known = members[number], known.report == report { return (number, known) }
                    return (number, Sight(report: report, since: now))
                })
            state.firsts = Dictionary(names.map { ($0, firsts[$0] ?? now) }) { first, _ in first }
            return (
                state.members.mapValues { now - $0.since }, state.firsts.mapValues { milliseconds($0) },
                milliseconds(now)
            )
        }
    }

    private func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        // Instants that a test makes may be earlier.
        max(0, Int64((instant - start) / .milliseconds(1)))
    }
}

/// What the parts of a store find out about how far its container may rely on what it has read.
final class TrustKeeper: Sendable {
    private struct State {
        var number = 0
        /// When this member last reached the server, as far as is known; nil if it is not known.
        var beat: ContinuousClock.Instant?
        /// Whether there is a save of which nobody knows whether it is stored.
        var isUnsettled = false
    }

    private let state = Guarded(State())

    /// The part of the time after which others take this member's leases.
    private static let silence = Duration.milliseconds(Members.silence) * 3 / 4

    var trust: LeaseTrust? {
        state.withLock { state in
            guard let beat = state.beat, !state.isUnsettled else { return nil }
            return LeaseTrust(number: state.number, end: beat + TrustKeeper.silence)
        }
    }

    /// A message of this member has reached the server.
    ///
    /// - Parameter time: When the message was sent.
    func didBeat(at time: ContinuousClock.Instant) { state.withLock { $0.beat = time } }

    /// Nothing that was read before is relied on: a connection was lost, or a save was not written as it should have been.
    func end() { state.withLock { $0.number += 1 } }

    /// The connection by which this member reaches the server was lost.
    func endBeats() {
        state.withLock { state in
            state.beat = nil
            state.number += 1
        }
    }

    func setUnsettled(_ isUnsettled: Bool) { state.withLock { $0.isUnsettled = isUnsettled } }
}

/// Looks for transactions in the database that have been open for long. While they are, the server keeps all rows that were changed or
/// deleted since, and has to pass by them.
struct OldTransactions {
    /// How long one may be open until it is reported.
    let age: Duration
    private var nextLook: ContinuousClock.Instant
    /// The one that was reported last.
    private var reported: String?

    init(age: Duration) {
        self.age = age
        nextLook = .now + age / OldTransactions.looks
    }

    /// How often it looks in that time.
    private static let looks = 10

    /// What to report; nil if there is nothing new.
    ///
    /// A role sees transactions of other roles if it is a superuser or a member of `pg_read_all_stats`.
    mutating func look(_ connection: Connection) throws(DataSourceError) -> DataSourceError? {
        guard ContinuousClock.now >= nextLook else { return nil }
        nextLook = .now + age / OldTransactions.looks
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
            "A transaction of \(name) has been open in the database since \(start). Until it ends, the server keeps all rows that "
                + "are changed or deleted, so that its tables grow and saves of the same objects get slower. Keep transactions short."
        )
    }
}
#endif
