/// What a workload came to.
struct Outcome: Sendable {
    var id: String
    var n: Int
    /// The highest ratio to be content with, or the largest time, size or number of ours: the workload says of what.
    var aim: String
    var oursNanoseconds: UInt64
    var rawNanoseconds: UInt64
    /// The lowest and the highest ratio of a round, where each round has measured both sides.
    var ratios: ClosedRange<Double>?
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
        ratios = Outcome.ratios(ours, raw)
        let median = oursNanoseconds
        sample = ours.first { $0.nanoseconds == median } ?? Sample(nanoseconds: median)
        sample.latencies = ours.flatMap(\.latencies)
        sample.peakBytes = ours.map(\.peakBytes).max() ?? 0
    }

    /// The range of the ratios of the rounds; nil if there are fewer than two rounds, or if the sides had different numbers of rounds.
    private static func ratios(_ ours: [Sample], _ raw: [Sample]) -> ClosedRange<Double>? {
        let ratios = zip(ours, raw).map { Double($0.nanoseconds) / Double(max(1, $1.nanoseconds)) }
        guard ours.count == raw.count, ratios.count > 1, let least = ratios.min(), let greatest = ratios.max() else {
            return nil
        }
        return least...greatest
    }

    var ratio: Double {
        if let (ours, raw) = bytes ?? wakeUps { return Double(ours) / Double(max(1, raw)) }
        return Double(oursNanoseconds) / Double(max(1, rawNanoseconds))
    }
}
