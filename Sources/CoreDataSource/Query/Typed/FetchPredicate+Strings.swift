internal import RowStore

/// How strings are compared.
public struct StringMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Letters are equal in either case: `[c]` in a format.
    public static let caseInsensitive = StringMatching(StringOptions.caseInsensitive)
    /// Letters are equal with and without marks: `[d]` in a format.
    public static let diacriticInsensitive = StringMatching(StringOptions.diacriticInsensitive)
    /// As in a dictionary: by letters, then by marks, then by case, the same on every machine. `[l]` in a format. Strings
    /// that look the same are equal, however their marks are spelled.
    public static let localized = StringMatching(StringOptions.localized)
    /// Character by character, as Swift compares: `[u]` in a format.
    public static let characters = StringMatching(StringOptions.characters)

    private init(_ options: StringOptions) {
        self.init(rawValue: options.rawValue)
    }

    var options: StringOptions { StringOptions(rawValue: rawValue) }
}

/// A string, or an optional one: what an attribute of strings can be in Swift.
public protocol StringAttribute: AttributeStorable {}

extension String: StringAttribute {}

extension Optional: StringAttribute where Wrapped == String {}

/// Tests of strings. Each is false where the attribute is nil.
extension FetchPredicate {
    /// The string holds the other one.
    public static func contains(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ part: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .contains, part, matching)
    }

    /// The string begins with the other one. Without options, an index finds it.
    public static func beginsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ start: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .beginsWith, start, matching)
    }

    /// The string ends with the other one.
    public static func endsWith(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ end: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .endsWith, end, matching)
    }

    /// The whole string fits a pattern in which `?` is any one character and `*` any number of them.
    public static func like(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ pattern: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .like, pattern, matching)
    }

    /// The whole string fits a regular expression.
    public static func matches(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ expression: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .matches, expression, matching)
    }

    /// The string equals the other one, by those options.
    public static func equal(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ text: String, _ matching: StringMatching
    ) -> Self {
        named(keyPath) { .compare($0, .equal, .constant(.text(text)), matching.options) }
    }

    private static func text(
        _ keyPath: AnyKeyPath, _ operation: StringOperator, _ other: String, _ matching: StringMatching
    ) -> Self {
        named(keyPath) { .text($0, operation, .constant(.text(other)), matching.options) }
    }
}
