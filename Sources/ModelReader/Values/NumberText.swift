internal import Foundation

/// Numbers and flags as model files write them. Everything is checked before it is converted, because the conversions of the
/// standard library and Foundation accept more spellings than a model may have, or stop at the first invalid character.
enum NumberText {
    static func flag(_ text: String) -> Bool? {
        switch text {
        case "YES", "true", "1": true
        case "NO", "false", "0": false
        default: nil
        }
    }

    /// A whole number, which may be written with a fraction of zeros.
    static func whole(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = parts.first.flatMap({ Int64($0) }) else { return nil }
        return parts.dropFirst().allSatisfy { $0.allSatisfy { $0 == "0" } } ? number : nil
    }

    /// A finite number in decimal notation.
    static func double(_ text: String) -> Double? {
        guard text.utf8.allSatisfy(isOfNumber), let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// A decimal number, with every digit. More digits than a `Decimal` can hold are refused, not rounded.
    static func decimal(_ text: String) -> Decimal? {
        let mantissa = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }.first ?? ""
        let digits = mantissa.filter(\.isNumber)
        let significant = digits.drop { $0 == "0" }
        guard text.utf8.count <= 160, text.utf8.allSatisfy(isOfNumber), Double(text) != nil, !digits.isEmpty,
            significant.count <= 38, let number = Decimal(string: text), !number.isNaN,
            number.isZero == significant.isEmpty
        else { return nil }
        return number
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}
