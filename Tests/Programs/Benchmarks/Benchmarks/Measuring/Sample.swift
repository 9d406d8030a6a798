/// One measured run of one side.
struct Sample: Sendable {
    var nanoseconds: UInt64
    /// Of single operations, in nanoseconds.
    var latencies: [UInt64] = []
    var statements = 0
    var rowsWritten = 0
    var walBytes = 0
    var peakBytes = 0
    /// How long a server used its processors, and how often it was asked and waited for.
    var server: (nanoseconds: UInt64, roundTrips: Int)?

    init(nanoseconds: UInt64, latencies: [UInt64] = []) {
        self.nanoseconds = nanoseconds
        self.latencies = latencies
    }
}

extension [UInt64] {
    /// The value below which that part of the values is; 0 of none.
    func quantile(_ part: Double) -> UInt64 {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }

    var median: UInt64 { quantile(0.5) }
}
