import TestSupport

/// What the records of one task may be, as far as the outcomes of its saves are known.
///
/// A save that was acknowledged as stored is there; one that threw is not, unless its outcome is unknown. A save that was promised to main only is there
/// until something may have taken it back: then it and those after it may be gone. A reset may have come before or after.
struct PossibleStates {
    /// What has happened to the store so far.
    struct Moment: Sendable {
        /// How often something began, and ended, by which a save that was promised to main only may be rolled back.
        var risksBegun = 0
        var risksEnded = 0
        var resetsBegun = 0
        var resetsEnded = 0
    }

    private(set) var states: Set<Ledger.Cells> = [[:]]
    /// Every state since the last one that is known to be stored.
    private var sinceStored: Set<Ledger.Cells> = [[:]]
    /// When that was known.
    private var stored = Moment()
    private var last = Moment()

    /// One of them.
    var any: Ledger.Cells { states.min { ($0[0]?.revision ?? 0, $0.count) < ($1[0]?.revision ?? 0, $1.count) } ?? [:] }
    var count: Int { states.count }

    enum Outcome {
        case stored, shown, threw, unknown
    }

    /// A save has come to an end.
    mutating func recordOutcome(_ operation: Operation, _ outcome: Outcome, _ now: Moment) {
        advance(now)
        guard outcome != .threw else { return }
        let after = Set(states.map { operation.applied(to: $0) })
        states = outcome == .unknown ? states.union(after) : after
        if hasReset(now) {
            // It came before the reset, or after it.
            states.formUnion([[:], operation.applied(to: [:])])
        }
        if outcome == .stored {
            sinceStored = states
            stored = now
        } else {
            sinceStored.formUnion(states)
        }
        last = now
    }

    /// The records were seen, at some time between the two moments.
    ///
    /// - Returns: Whether they can be.
    mutating func observe(
        _ records: [RecordData], _ ledger: Ledger, between before: Moment, and now: Moment
    ) -> Bool {
        advance(now)
        let found = Set(records)
        guard found.count == records.count else { return false }
        states = states.filter { ledger.values($0) == found }
        let isPossible = !states.isEmpty
        // What has happened since they were seen may come yet.
        last = before
        advance(now)
        last = now
        return isPossible
    }

    private mutating func advance(_ now: Moment) {
        if now.risksBegun > stored.risksEnded { states.formUnion(sinceStored) }
        if hasReset(now) {
            states.insert([:])
            sinceStored.insert([:])
        }
    }

    /// Whether a reset was under way at any time since the last moment.
    private func hasReset(_ now: Moment) -> Bool { now.resetsBegun > last.resetsEnded }
}
