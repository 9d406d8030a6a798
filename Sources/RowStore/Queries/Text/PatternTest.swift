internal import Foundation

/// A regular expression that has to match whole texts, compiled once and kept for the next query.
///
/// A match that takes too many steps is given up: the text does not match, and ``checkTexts()`` throws.
final class PatternTest: Sendable {
    private let expression: NSRegularExpression
    private let pattern: String
    private let options: TextOptions
    private let isTooSlow = Guarded(false)

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
        expression.enumerateMatches(
            in: text, options: [.reportProgress], range: NSRange(location: 0, length: text.utf16.count)
        ) { match, _, stop in
            if match != nil {
                isMatch = true
                stop.pointee = true
            } else {
                steps += 1
                if steps > PatternTest.stepLimit { stop.pointee = true }
            }
        }
        if !isMatch && steps > PatternTest.stepLimit { isTooSlow.withLock { $0 = true } }
        return isMatch
    }

    func checkTexts() throws(DataSourceError) {
        guard isTooSlow.withLock({ $0 }) else { return }
        // Whoever has it now is told as well; the next query tries again.
        PatternTest.known.withLock { known in
            for (name, test) in known where test === self { known[name] = nil }
        }
        throw DataSourceError(
            .invalidPredicate,
            "The regular expression of a MATCHES took too many steps with one of the texts. Avoid nested repetitions such as (a+)+ in it."
        )
    }
}
