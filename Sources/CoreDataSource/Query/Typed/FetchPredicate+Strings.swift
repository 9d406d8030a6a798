internal import QueryLanguage
internal import RowStore

/// Tests of strings. Each is false if the attribute is nil.
extension FetchPredicate {
    /// The string contains the other one.
    public static func contains(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ part: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .contains, part, matching)
    }

    /// The string begins with the other one. Without options, an index can find it.
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

    /// The whole string matches a pattern in which `?` is any one character and `*` any number of characters.
    public static func like(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ pattern: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .like, pattern, matching)
    }

    /// The whole string matches a regular expression.
    public static func matches(
        _ keyPath: KeyPath<Object, some StringAttribute>, _ expression: String, _ matching: StringMatching = []
    ) -> Self {
        text(keyPath, .matches, expression, matching)
    }

    /// The string equals the other one, compared with those options.
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
