/// How strings are sorted. Without options they are sorted byte by byte, which can use an index.
public struct StringSorting: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Letters that differ only by their case are equal.
    public static let caseInsensitive = StringSorting(rawValue: 1)
    /// Letters that differ only by their marks are equal.
    public static let diacriticInsensitive = StringSorting(rawValue: 2)
    /// Consecutive digits count as a number: "file9" before "file10".
    public static let numeric = StringSorting(rawValue: 4)

    /// How strings are folded before they are compared.
    var folding: StringOptions { StringOptions(rawValue: rawValue & 3) }
}
