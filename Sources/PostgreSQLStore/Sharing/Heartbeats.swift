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
#endif
