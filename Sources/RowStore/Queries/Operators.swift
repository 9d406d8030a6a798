package enum ComparisonOperator: String, Sendable, Hashable, Codable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The operator that is true for non-null values exactly when this one is false.
    package var negated: ComparisonOperator {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// The operator with its sides exchanged.
    package var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

package enum StringOperator: String, Sendable, Hashable, Codable {
    case contains, beginsWith, endsWith
    /// `?` is any one character, `*` any number of characters, and `\` escapes the next one.
    case like
    /// A regular expression for the whole string.
    case matches
}

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

package enum ArithmeticOperator: String, Sendable, Hashable, Codable, CaseIterable {
    case add, subtract, multiply, divide, remainder, power
    // For the bits of integers. `shiftRight` keeps the sign.
    case bitwiseAnd, bitwiseOr, bitwiseXor, shiftLeft, shiftRight

    /// Whether it combines integers bit by bit.
    package var isBitwise: Bool {
        switch self {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: true
        case .add, .subtract, .multiply, .divide, .remainder, .power: false
        }
    }
}

/// The functions of expressions.
package enum FetchFunction: String, Sendable, Hashable, Codable, CaseIterable {
    case uppercase, lowercase
    /// Without case and marks.
    case canonical
    /// In characters.
    case length
    case abs, floor, ceiling, trunc, sqrt
    /// The logarithm to the base e, that to the base 10, and the power of e.
    case ln, log, exp
    /// An integer with each of its bits inverted.
    case onesComplement
    /// The time at which the query was made.
    case now
    // For lists: null elements do not count.
    case sum, min, max, average, count
    /// The middle element, or the mean of the two in the middle.
    case median
    /// The most frequent element; the least of several.
    case mode
    /// The standard deviation of the whole list, divided by its count.
    case stddev
}
