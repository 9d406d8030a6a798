package enum StringOperator: String, Sendable, Hashable, Codable {
    case contains, beginsWith, endsWith
    /// `?` is any one character, `*` any number of characters, and `\` escapes the next one.
    case like
    /// A regular expression for the whole string.
    case matches
}
