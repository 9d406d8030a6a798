/// How long leases are kept and waited for.
public struct LeaseTimes: Sendable {
    /// The least time that a lease is kept after it was taken; 5 milliseconds by default.
    public var minimumHold: Duration = .milliseconds(5)
    /// How long a batch waits for its leases. 10 seconds by default.
    public var patience: Duration = .seconds(10)
    /// How long a holder that cannot hand a lease over yet may take to confirm that. After that it counts as stopped; 5 seconds
    /// by default.
    public var answer: Duration = .seconds(5)

    /// The usual times.
    public init() {}
}
