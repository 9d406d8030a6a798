internal import RowStore

/// How texts are compared.
public struct TextMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Letters are equal in either case: `[c]` in a format.
    public static let caseInsensitive = TextMatching(TextOptions.caseInsensitive)
    /// Letters are equal with and without marks: `[d]` in a format.
    public static let diacriticInsensitive = TextMatching(TextOptions.diacriticInsensitive)
    /// As in a dictionary, by letters, then by marks, then by case, on every machine alike: `[l]` in a format. Texts that look the
    /// same are equal, however their marks are spelled.
    public static let localized = TextMatching(TextOptions.localized)
    /// Character by character, as Swift compares: `[u]` in a format.
    public static let characters = TextMatching(TextOptions.characters)

    private init(_ options: TextOptions) {
        self.init(rawValue: options.rawValue)
    }

    var options: TextOptions { TextOptions(rawValue: rawValue) }
}

/// A text, or an optional one: what an attribute of texts can be in Swift.
public protocol TextAttribute: AttributeStorable {}

extension String: TextAttribute {}

extension Optional: TextAttribute where Wrapped == String {}

/// Tests of texts. Each is false where the attribute is nil.
extension FetchPredicate {
    /// The text holds the other one.
    public static func contains(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ part: String, _ matching: TextMatching = []
    ) -> Self {
        text(keyPath, .contains, part, matching)
    }

    /// The text begins with the other one. Without options, an index finds it.
    public static func beginsWith(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ start: String, _ matching: TextMatching = []
    ) -> Self {
        text(keyPath, .beginsWith, start, matching)
    }

    /// The text ends with the other one.
    public static func endsWith(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ end: String, _ matching: TextMatching = []
    ) -> Self {
        text(keyPath, .endsWith, end, matching)
    }

    /// The whole text fits a pattern in which `?` is any one character and `*` any number of them.
    public static func like(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ pattern: String, _ matching: TextMatching = []
    ) -> Self {
        text(keyPath, .like, pattern, matching)
    }

    /// The whole text fits a regular expression.
    public static func matches(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ expression: String, _ matching: TextMatching = []
    ) -> Self {
        text(keyPath, .matches, expression, matching)
    }

    /// The text equals the other one, by those options.
    public static func equal(
        _ keyPath: KeyPath<Object, some TextAttribute>, _ text: String, _ matching: TextMatching
    ) -> Self {
        named(keyPath) { .compare($0, .equal, .constant(.text(text)), matching.options) }
    }

    private static func text(
        _ keyPath: AnyKeyPath, _ operation: TextOperator, _ other: String, _ matching: TextMatching
    ) -> Self {
        named(keyPath) { .text($0, operation, .constant(.text(other)), matching.options) }
    }
}
