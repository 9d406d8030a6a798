package import CoreDataSource
package import Foundation

/// The sentence that a reader shows about the age of a list: `updated 5 minutes ago, refreshing`, or `updated 5 minutes ago,
/// refresh failed: the server answered 429, next try in 20 s`.
package struct FreshnessWords: Sendable {
    package var requestedAt: Date?
    package var isComplete: Bool
    package var failure: String?
    package var retryAt: Date?
    /// Whether a load is running.
    package var isRefreshing = false

    package init(requestedAt: Date?, isComplete: Bool = true, failure: String? = nil, retryAt: Date? = nil) {
        (self.requestedAt, self.isComplete, self.failure, self.retryAt) = (requestedAt, isComplete, failure, retryAt)
    }

    package init(_ freshness: ScopeFreshness) {
        self.init(
            requestedAt: freshness.requestedAt, isComplete: freshness.isComplete, failure: freshness.lastFailure,
            retryAt: freshness.retryAt)
        isRefreshing = freshness.isLoading
    }

    /// The sentence at a time.
    package func text(at now: Date) -> String {
        var words = requestedAt.map { Self.age($0, now) } ?? "never updated"
        if requestedAt != nil, !isComplete { words += ", not complete" }
        // The last failure tells nothing about the running load.
        if isRefreshing { return words + ", refreshing" }
        guard let failure else { return words }
        words += ", refresh failed: \(Self.reason(failure))"
        if let retryAt, retryAt > now { words += ", next try in \(Self.pause(retryAt.timeIntervalSince(now)))" }
        return words
    }

    private static func age(_ date: Date, _ now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        switch seconds {
        case ..<0: return "updated in the future (a clock was changed)"
        case ..<60: return "updated just now"
        case ..<3600: return "updated \(count(seconds / 60, "minute")) ago"
        case ..<86_400: return "updated \(count(seconds / 3600, "hour")) ago"
        default: return "updated \(count(seconds / 86_400, "day")) ago"
        }
    }

    private static func count(_ number: Double, _ unit: String) -> String {
        let whole = Int(min(number, 1e6))
        return whole == 1 ? "1 \(unit)" : "\(whole) \(unit)s"
    }

    private static func pause(_ seconds: TimeInterval) -> String {
        seconds <= 120 ? "\(Int(seconds.rounded(.up))) s" : count((min(seconds, 1e9) / 60).rounded(.up), "minute")
    }

    /// Describes a failure in the words of the app. The store keeps only the kind of the error.
    private static func reason(_ failure: String) -> String {
        let words = failure.split(separator: " ")
        switch (words.first, words.last) {
        case ("ServerRefusal", let status?): return "the server answered \(status)"
        case ("URLError", "-1009"): return "offline"
        case ("URLError", "-1001"), ("loadTimedOut", _): return "the server did not answer in time"
        case ("URLError", _): return "no connection to the server"
        case ("DecodingError", _): return "the answer is not a list"
        case ("emptySync", _), ("tooManyDeletions", _): return "the server's list lacks too many objects"
        case ("cursorRepeated", _): return "the server's pages repeat"
        default: return failure
        }
    }
}
