internal import Foundation

/// The source of a derived attribute.
package enum DerivationExpression: Sendable, Hashable {
    /// The time of the save.
    case now
    /// The value at the end of a key path. The value is another attribute, a leaf of a composite, or a value of related
    /// objects, as in `category.name`, `articles.@count` and `articles.@sum.words`.
    case path([String])
    /// The string of another attribute, transformed.
    case transformed([String], StringTransformation)

    /// Nil if the expression is not supported.
    package init?(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespaces)
        if text == "now()" {
            self = .now
            return
        }
        let parts = text.unicodeScalars.split(separator: ":(".unicodeScalars, maxSplits: 1).map { String($0) }
        guard parts.count == 2 else {
            guard let path = DerivationExpression.keys(text) else { return nil }
            self = .path(path)
            return
        }
        guard parts[1].unicodeScalars.last == ")",
            let path = DerivationExpression.keys(String(String.UnicodeScalarView(parts[1].unicodeScalars.dropLast())))
        else { return nil }
        if let change = StringTransformation(rawValue: parts[0]) {
            self = .transformed(path, change)
        } else if let aggregate = DerivationExpression.aggregates[parts[0]],
            (aggregate == "@count") == (path.count == 1)
        {
            self = .path([path[0], aggregate] + path.dropFirst())
        } else {
            return nil
        }
    }

    /// The part of an error message that follows an unsupported expression.
    package static let problem =
        "which is not a known derivation. Use now(), another attribute, canonical:(name), lowercase:(name), uppercase:(name), a path such as category.name, articles.@count, or sum, average, min or max as in sum:(articles.words)"

    /// Splits a key path into its keys. Returns nil if the string is not a key path.
    private static func keys(_ text: String) -> [String]? {
        let keys = text.parts(separatedBy: ".").map { $0.trimmingCharacters(in: .whitespaces) }
        let marks = "():,".unicodeScalars
        let isPath = keys.allSatisfy { key in
            !key.isEmpty && key.unicodeScalars.allSatisfy { !marks.contains($0) }
        }
        return isPath ? keys : nil
    }

    /// The key path operators of the aggregate functions, by function name.
    private static let aggregates = [
        "count": "@count", "sum": "@sum", "average": "@avg", "avg": "@avg", "min": "@min", "max": "@max",
    ]
}

/// A transformation of a string. The raw value is the function's name in the expression.
package enum StringTransformation: String, Sendable, Hashable, CaseIterable {
    case uppercase, lowercase
    /// Removes case and diacritics, for searching.
    case canonical
}
