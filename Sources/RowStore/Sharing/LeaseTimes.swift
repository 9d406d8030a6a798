/// How long leases are kept and waited for.
public struct LeaseTimes: Sendable {
    /// How long a holder that saves again and again keeps a lease while others wait for it; 20 milliseconds by default.
    public var turn: Duration = .milliseconds(20)
    /// How long a holder may save nothing before it hands over a lease for which others wait; 2 milliseconds by default.
    public var pause: Duration = .milliseconds(2)
    /// How long a batch waits for its leases. 10 seconds by default.
    public var patience: Duration = .seconds(10)
    /// How long a holder that cannot hand a lease over yet may take to confirm that. After that it counts as stopped; 5 seconds
    /// by default.
    public var answer: Duration = .seconds(5)

    /// The usual times.
    public init() {}
}
