internal import Foundation

/// A regular expression that must match whole strings. It is compiled once and kept for later queries.
///
/// A match ends with an error if it needs more steps than the query's budget allows, or too much memory.
final class RegexMatcher: Sendable {
    private let expression: NSRegularExpression
    private let pattern: String
    private let options: StringOptions

    /// The number of steps of the engine between two progress reports.
    private static let stepsPerReport = 10_000
    /// The number of steps in the query's budget that one step of the engine costs.
    private static let stepCost = 10
    /// The number of free steps of the engine for each UTF-16 unit of a string.
    private static let freeSteps = 16
    private static let known = Guarded<[String: RegexMatcher]>([:])
    private static let limit = 64

    private init(_ expression: NSRegularExpression, _ pattern: String, _ options: StringOptions) {
        self.expression = expression
        self.pattern = pattern
        self.options = options
    }

    static func of(_ pattern: String, _ options: StringOptions) throws(DataSourceError) -> RegexMatcher {
        let options = options.intersection([.caseInsensitive, .diacriticInsensitive])
        let name = "\(options.rawValue)\(pattern)"
        if let matcher = known.withLock({ $0[name] }), matcher.pattern.utf8.elementsEqual(pattern.utf8) {
            return matcher
        }
        let matcher = RegexMatcher(try compile(pattern, options), pattern, options)
        known.withLock { known in
            if known.count >= limit { known.removeAll(keepingCapacity: true) }
            known[name] = matcher
        }
        return matcher
    }

    private static func compile(
        _ pattern: String, _ options: StringOptions
    ) throws(DataSourceError) -> NSRegularExpression {
        // If the options say so, remove diacritics. Keep the case, because `\d` and `\D` have different meanings.
        let plain = String(
            decoding: TextFolding.bytes(pattern, options.intersection(.diacriticInsensitive)), as: UTF8.self)
        do {
            // First compile the pattern alone. With the added parentheses, an expression with unbalanced parentheses could
            // become valid.
            if !plain.isEmpty { _ = try NSRegularExpression(pattern: plain) }
            return try NSRegularExpression(
                pattern: "\\A(?:\(plain))\\z", options: options.contains(.caseInsensitive) ? [.caseInsensitive] : [])
        } catch {
            throw DataSourceError(
                .invalidPredicate,
                "The pattern of a MATCHES is not a regular expression. Correct the pattern, or use LIKE or CONTAINS for plain text."
            )
        }
    }

    func matchResult(_ bytes: UnsafeRawBufferPointer, _ budget: QueryBudget) -> StringMatcher.MatchResult {
        let plain = TextFolding.bytes(bytes, options.intersection(.diacriticInsensitive))
        let text = String(decoding: plain, as: UTF8.self)
        let length = text.utf16.count
        var matchResult = StringMatcher.MatchResult.no
        var free = length * RegexMatcher.freeSteps
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(location: 0, length: length)
        ) { match, flags, stop in
            if match != nil {
                matchResult = .yes
                stop.pointee = true
            } else if flags.contains(.progress) {
                free -= RegexMatcher.stepsPerReport
                guard free < 0, !budget.spend(RegexMatcher.stepsPerReport * RegexMatcher.stepCost) else { return }
                matchResult = .tooManySteps
                stop.pointee = true
            } else if flags.contains(.internalError), matchResult == .no {
                matchResult = .tooMuchMemory
            }
        }
        return matchResult
    }
}
