internal import Foundation

/// A regular expression that has to match whole texts, compiled once and kept for the next query.
///
/// A match that takes too many steps or too much memory is given up: the text does not match, and ``checkTexts()`` throws.
final class PatternTest: Sendable {
    private let expression: NSRegularExpression
    private let pattern: String
    private let options: TextOptions
    private let failure = Guarded<Failure?>(nil)

    private enum Failure {
        case steps, memory

        var sentence: String {
            switch self {
            case .steps:
                "The regular expression of a MATCHES took too many steps with one of the texts. Avoid nested repetitions such as (a+)+ in it."
            case .memory:
                "The regular expression of a MATCHES took too much memory with one of the texts. Repeat sets such as [ab]* and not groups such as (a|b)* in it."
            }
        }
    }

    /// How many times ten thousand steps a match may take: some tenths of a second.
    private static let stepLimit = 500
    private static let known = Guarded<[String: PatternTest]>([:])
    private static let limit = 64

    private init(_ expression: NSRegularExpression, _ pattern: String, _ options: TextOptions) {
        self.expression = expression
        self.pattern = pattern
        self.options = options
    }

    static func of(_ pattern: String, _ options: TextOptions) throws(DataSourceError) -> PatternTest {
        let options = options.intersection([.caseInsensitive, .diacriticInsensitive])
        let name = "\(options.rawValue)\(pattern)"
        if let test = known.withLock({ $0[name] }), test.pattern.utf8.elementsEqual(pattern.utf8) { return test }
        let test = PatternTest(try compile(pattern, options), pattern, options)
        known.withLock { known in
            if known.count >= limit { known.removeAll(keepingCapacity: true) }
            known[name] = test
        }
        return test
    }

    private static func compile(
        _ pattern: String, _ options: TextOptions
    ) throws(DataSourceError) -> NSRegularExpression {
        // Without marks, but in its own case: that of an escape has a meaning.
        let plain = String(
            decoding: TextFolding.bytes(pattern, options.intersection(.diacriticInsensitive)), as: UTF8.self)
        do {
            // By itself: in parentheses one with parentheses of its own could become two.
            if !plain.isEmpty { _ = try NSRegularExpression(pattern: plain) }
            return try NSRegularExpression(
                pattern: "\\A(?:\(plain))\\z", options: options.contains(.caseInsensitive) ? [.caseInsensitive] : [])
        } catch {
            throw DataSourceError(
                .invalidPredicate,
                "The pattern of a MATCHES is not a regular expression. Correct it, or use LIKE or CONTAINS for plain text."
            )
        }
    }

    func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let plain = TextFolding.bytes(bytes, options.intersection(.diacriticInsensitive))
        let text = String(decoding: plain, as: UTF8.self)
        var isMatch = false
        var steps = 0
        var failure: Failure?
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion],
            range: NSRange(location: 0, length: text.utf16.count)
        ) { match, flags, stop in
            if match != nil {
                isMatch = true
                stop.pointee = true
            } else if flags.contains(.progress) {
                steps += 1
                guard steps > PatternTest.stepLimit else { return }
                failure = .steps
                stop.pointee = true
            } else if flags.contains(.internalError), failure == nil {
                failure = .memory
            }
        }
        if !isMatch, let failure { self.failure.withLock { $0 = failure } }
        return isMatch
    }

    func checkTexts() throws(DataSourceError) {
        guard let failure = failure.withLock({ $0 }) else { return }
        // Whoever has it now is told as well; the next query tries again.
        PatternTest.known.withLock { known in
            for (name, test) in known where test === self { known[name] = nil }
        }
        throw DataSourceError(.invalidPredicate, failure.sentence)
    }
}
