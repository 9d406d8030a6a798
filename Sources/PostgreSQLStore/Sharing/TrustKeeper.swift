#if PostgreSQL
internal import RowStore

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
#endif
