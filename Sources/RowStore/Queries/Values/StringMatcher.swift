package enum StringOperator: String, Sendable, Hashable, Codable {
    case contains, beginsWith, endsWith
    /// A pattern. `?` matches one character, `*` matches any number of characters, and `\` escapes the next character.
    case like
    /// A regular expression that must match the whole string.
    case matches
}

/// How strings are compared.
package struct StringOptions: OptionSet, Sendable, Hashable, Codable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `[c]`: case is ignored.
    package static let caseInsensitive = StringOptions(rawValue: 1)
    /// `[d]`: diacritics are ignored.
    package static let diacriticInsensitive = StringOptions(rawValue: 2)
    /// `[n]`: the strings are already normalized, so they are compared by their bytes.
    package static let normalized = StringOptions(rawValue: 4)
    /// `[l]`: dictionary order, which compares letters first, then diacritics, then case. Canonically equivalent strings are
    /// equal. The order is the same on every machine and in every locale.
    package static let localized = StringOptions(rawValue: 8)
    /// `[u]`: strings are compared by character, as in Swift. Canonically equivalent strings are equal.
    package static let characters = StringOptions(rawValue: 16)
}

/// A string operator and its right side, prepared for matching many strings.
package final class StringMatcher: Sendable, Hashable {
    package let comparison: StringOperator
    package let pattern: String
    package let options: StringOptions
    private let kind: Kind

    private enum Kind: Sendable {
        /// The folded bytes to find.
        case bytes([UInt8])
        case wildcards(WildcardPattern)
        case expression(RegexMatcher)
    }

    /// - Throws: `invalidPredicate` if a regular expression is invalid.
    package init(
        _ comparison: StringOperator, _ pattern: String, _ options: StringOptions
    ) throws(DataSourceError) {
        self.comparison = comparison
        self.pattern = pattern
        self.options = options
        switch comparison {
        case .contains, .beginsWith, .endsWith: kind = .bytes(TextFolding.bytes(pattern, options))
        case .like: kind = .wildcards(WildcardPattern(pattern, options))
        case .matches: kind = .expression(try RegexMatcher.of(pattern, options))
        }
    }

    /// The result of matching a string.
    package enum MatchResult: Sendable {
        case yes, no
        /// The budget of the query is spent.
        case tooManySteps
        /// A regular expression needs more memory than allowed.
        case tooMuchMemory
    }

    /// Matches a string.
    package func matchResult(_ text: UnsafeRawBufferPointer, _ budget: QueryBudget) -> MatchResult {
        switch kind {
        case .bytes(let needle):
            guard options.folds else { return StringMatcher.find(needle, in: text, comparison) ? .yes : .no }
            let isFound = TextFolding.bytes(text, options).withUnsafeBytes { text in
                guard StringMatcher.find(needle, in: text, comparison) else { return false }
                return !options.contains(.characters) || StringMatcher.findCharacters(needle, in: text, comparison)
            }
            return isFound ? .yes : .no
        case .wildcards(let pattern): return pattern.matchResult(text, budget)
        case .expression(let matcher): return matcher.matchResult(text, budget)
        }
    }

    /// Returns whether a string has matched. Null does not match.
    ///
    /// - Throws: `invalidPredicate` if the result is unknown.
    @inline(__always)
    func verdict(_ matchResult: MatchResult?) throws(DataSourceError) -> Bool {
        switch matchResult {
        case .yes: return true
        case .no, nil: return false
        case .tooManySteps, .tooMuchMemory: throw failure(matchResult == .tooMuchMemory)
        }
    }

    private func failure(_ isMemory: Bool) -> DataSourceError {
        let sentence =
            if case .wildcards = kind {
                "The pattern of a LIKE took too many steps. Use fewer ? between two *."
            } else if isMemory {
                "The regular expression of a MATCHES took too much memory with one of the strings. Repeat sets such as [ab]* instead of groups such as (a|b)*."
            } else {
                "The regular expression of a MATCHES took too many steps. Avoid nested repetitions such as (a+)+."
            }
        return DataSourceError(.invalidPredicate, sentence)
    }

    private static func find(
        _ needle: [UInt8], in text: UnsafeRawBufferPointer, _ comparison: StringOperator
    ) -> Bool {
        needle.withUnsafeBytes { needle in
            switch comparison {
            case .beginsWith: ByteSearch.begins(text, with: needle)
            case .endsWith: ByteSearch.ends(text, with: needle)
            default: ByteSearch.contains(needle, in: text)
            }
        }
    }

    /// Returns whether the bytes occur as complete characters. For example, `e` does not occur in `é`.
    private static func findCharacters(
        _ needle: [UInt8], in text: UnsafeRawBufferPointer, _ comparison: StringOperator
    ) -> Bool {
        if needle.isEmpty { return true }
        let characters = WildcardPattern.characters(text)
        let starts: ArraySlice<Range<Int>> =
            switch comparison {
            case .beginsWith: characters.prefix(1)
            case .endsWith: characters.filter { $0.lowerBound == text.count - needle.count }[...]
            default: characters[...]
            }
        let ends = Set(characters.map(\.upperBound))
        return needle.withUnsafeBytes { needle in
            starts.contains { start in
                ends.contains(start.lowerBound + needle.count)
                    && ByteSearch.begins(UnsafeRawBufferPointer(rebasing: text[start.lowerBound...]), with: needle)
            }
        }
    }

    package static func == (lhs: StringMatcher, rhs: StringMatcher) -> Bool {
        lhs.comparison == rhs.comparison && lhs.options == rhs.options
            && lhs.pattern.utf8.elementsEqual(rhs.pattern.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(comparison)
        hasher.combine(options)
        var pattern = pattern
        pattern.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
