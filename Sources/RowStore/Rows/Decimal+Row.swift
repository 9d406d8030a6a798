package import Foundation

extension Decimal {
    /// The same string for equal numbers; the string itself if it is not a number that a decimal can hold.
    package static func canonical(_ text: String) -> String {
        guard let number = Decimal(rowText: text) else { return text }
        return number.description
    }

    /// The number in a decimal column's string; nil if it is not one.
    package init?(rowText text: String) {
        guard let number = Decimal(string: text, locale: posix), !number.isNaN else { return nil }
        self = number
    }
}

private let posix = Locale(identifier: "en_US_POSIX")
