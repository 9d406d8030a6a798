/// What a workload came to.
struct Outcome: Sendable {
    var id: String
    var n: Int
    /// The highest ratio to be content with.
    var aim: String
    var oursNanoseconds: UInt64
    var rawNanoseconds: UInt64
    /// A run of ours: the one with the median time, but all latencies.
    var sample: Sample
    /// Bytes of a live object, where that is what was measured, ours and raw.
    var bytes: (ours: Int, raw: Int)?
    /// How often threads wake up in a minute, where that is what was measured, ours and raw.
    var wakeUps: (ours: Int, raw: Int)?

    init(_ id: String, n: Int, aim: String, ours: [Sample], raw: [Sample]) {
        self.id = id
        self.n = n
        self.aim = aim
        oursNanoseconds = ours.map(\.nanoseconds).median
        rawNanoseconds = raw.map(\.nanoseconds).median
        let median = oursNanoseconds
        sample = ours.first { $0.nanoseconds == median } ?? Sample(nanoseconds: median)
        sample.latencies = ours.flatMap(\.latencies)
        sample.peakBytes = ours.map(\.peakBytes).max() ?? 0
    }

    var ratio: Double {
        if let (ours, raw) = bytes ?? wakeUps { return Double(ours) / Double(max(1, raw)) }
        return Double(oursNanoseconds) / Double(max(1, rawNanoseconds))
    }
}
