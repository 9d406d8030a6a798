/// How strings are compared.
package struct StringOptions: OptionSet, Sendable, Hashable, Codable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `[c]`: ignores case.
    package static let caseInsensitive = StringOptions(rawValue: 1)
    /// `[d]`: ignores marks.
    package static let diacriticInsensitive = StringOptions(rawValue: 2)
    /// `[n]`: the strings are already normalized; compares byte by byte.
    package static let normalized = StringOptions(rawValue: 4)
    /// `[l]`: as in a dictionary, by letters, then by marks, then by case. Canonically equivalent spellings are equal. The same
    /// on every machine, regardless of its locale.
    package static let localized = StringOptions(rawValue: 8)
    /// `[u]`: character by character, as in Swift: canonically equivalent strings are equal.
    package static let characters = StringOptions(rawValue: 16)
}
