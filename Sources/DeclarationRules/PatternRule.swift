internal import Foundation

/// The rule for the patterns of strings.
package enum PatternRule {
    /// The fault in a pattern, as the end of a sentence; nil if the pattern is a regular expression.
    package static func problem(aboutPattern pattern: String) -> String? {
        do {
            // Checks the plain pattern first, because an unbalanced pattern can be valid inside of the parentheses.
            _ = try NSRegularExpression(pattern: pattern)
            _ = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
            return nil
        } catch {
            return "is not a regular expression. Correct the pattern, or remove it."
        }
    }
}
