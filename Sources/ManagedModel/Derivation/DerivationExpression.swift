internal import Foundation

/// The source of a derived attribute, as far as it depends on one row.
package enum DerivationExpression: Sendable, Hashable {
    /// The moment of the save.
    case now
    /// The value of another attribute, or of a leaf of a composite.
    case copy(String)
    /// The string of another attribute, transformed.
    case changed(String, TextChange)

    /// Nil if it is not supported. A path through a relationship looks like one into a composite.
    package init?(_ text: String) {
        if text.trimmingCharacters(in: .whitespaces) == "now()" {
            self = .now
            return
        }
        let parts = text.unicodeScalars.split(separator: ":(".unicodeScalars, maxSplits: 1).map { String($0) }
        guard let last = parts.last else { return nil }
        let path = last.trimmingCharacters(in: CharacterSet(charactersIn: " ()"))
        if parts.count == 1 {
            self = .copy(path)
        } else if let change = TextChange(rawValue: parts[0]) {
            self = .changed(path, change)
        } else {
            return nil
        }
    }
}

/// A transformation of a string. The raw value is the word in the expression.
package enum TextChange: String, Sendable, Hashable, CaseIterable {
    case uppercase, lowercase
    /// Without case and marks, for searching.
    case canonical

    package func callAsFunction(_ text: String) -> String {
        switch self {
        case .uppercase: text.uppercased()
        case .lowercase: text.lowercased()
        case .canonical: text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        }
    }
}
