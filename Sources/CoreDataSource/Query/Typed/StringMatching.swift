internal import RowStore

/// How strings are compared.
///
/// ```swift
/// let named: FetchPredicate<ContactEntity> = .contains(\.name, "guan", [.caseInsensitive, .diacriticInsensitive])
/// ```
public struct StringMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Ignores case: `[c]` in a format.
    public static let caseInsensitive = StringMatching(StringOptions.caseInsensitive)
    /// Ignores diacritical marks: `[d]` in a format.
    public static let diacriticInsensitive = StringMatching(StringOptions.diacriticInsensitive)
    /// Compares as in a dictionary: by letters, then by marks, then by case, the same on every machine. `[l]` in a format.
    /// Strings that look the same are equal, whatever the spelling of their marks.
    public static let localized = StringMatching(StringOptions.localized)
    /// Compares character by character, as Swift does: `[u]` in a format.
    public static let characters = StringMatching(StringOptions.characters)

    private init(_ options: StringOptions) {
        self.init(rawValue: options.rawValue)
    }

    var options: StringOptions { StringOptions(rawValue: rawValue) }
}
