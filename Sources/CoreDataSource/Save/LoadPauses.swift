package import Foundation

/// The pauses after failed loads of a scope: ``PersistentContainer/Configuration/loadPauses``.
///
/// ```swift
/// configuration.loadPauses = LoadPauses(
///     first: .seconds(10), longest: .seconds(3600))
/// ```
///
/// Each failure makes the pause twice as long, up to the longest pause. A random part, at most half of the pause, is left out,
/// so that not all devices try again at the same time.
public struct LoadPauses: Sendable {
    /// The longest pause after the first failure.
    public var first: Duration
    /// The longest pause after any number of failures. A ``RetryAfterError`` can still ask for a longer pause.
    public var longest: Duration
    /// Returns a number from 0 to 1 for each pause: with 0, the pause is half as long as with 1. Tests pass a closure that
    /// returns a constant. A number outside of this range counts as the nearest number in the range.
    ///
    /// **Isolation**: none. Any thread calls the closure.
    public var random: @Sendable () -> Double

    /// The longest pause: a day.
    package static let longestAsked = 86_400.0

    /// Makes pauses.
    ///
    /// ```swift
    /// let pauses = LoadPauses(random: { 1 })
    /// ```
    ///
    /// - Parameters:
    ///   - first: The longest pause after the first failure; 2 seconds by default. At most a day; a negative time counts as
    ///     zero, which means no pauses.
    ///   - longest: The longest pause after any number of failures; 5 minutes by default, at most a day.
    ///   - random: Returns a number from 0 to 1 for each pause; a random number by default.
    public init(
        first: Duration = .seconds(2), longest: Duration = .seconds(300),
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.first, self.longest, self.random) = (first, longest, random)
    }

    /// Returns the pause after a number of successive failures, in seconds.
    ///
    /// - Parameter asked: The pause that the server has asked for. The result is at least as long as this pause, and up to a
    ///   tenth longer, so that devices with the same pause do not all try again at the same time. The result is at most a
    ///   day.
    package func pause(afterFailures count: Int64, asked: Duration? = nil) -> TimeInterval {
        // In this order of the arguments, NaN becomes 0.
        let random = min(1, max(0, self.random()))
        let growth = exp2(Double(min(max(0, count - 1), 60)))
        let pause = min(LoadPauses.seconds(longest), LoadPauses.seconds(first) * growth) * (0.5 + random / 2)
        guard let asked else { return pause }
        let least = max(0, asked / .seconds(1))
        return max(pause, min(least * (1 + random / 10), LoadPauses.longestAsked))
    }

    private static func seconds(_ duration: Duration) -> Double { min(max(0, duration / .seconds(1)), longestAsked) }
}
