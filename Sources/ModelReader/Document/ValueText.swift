internal import Foundation
internal import ManagedModel

/// A default value or a bound that was read from a string, and the problem of an unusual string.
struct ValueText: Equatable {
    var value: AttributeValue?
    var problem: String?

    /// Reads a default value. A string that does not fit the type is read as a Boolean or as a number. The value is nil if both
    /// fail.
    static func defaultValue(_ text: String, of type: AttributeType) -> ValueText {
        switch type {
        case .integer16: integer(text, in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32: integer(text, in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64: integer(text, in: .min ... .max)
        case .double: floating(text, isInRange: \.isFinite)
        case .float: floating(text) { Float($0).isFinite }
        case .decimal: decimal(text)
        case .boolean: boolean(text)
        case .string, .uri: ValueText(value: .string(text))
        case .uuid: UUID(uuidString: text).map { ValueText(value: .uuid($0)) } ?? none(text, "is not a UUID")
        case .date: none(text, "is not a date")
        case .undefined, .binary, .transformable, .objectID, .composite:
            none(text, "belongs to an attribute that cannot have such a value")
        }
    }

    private static func integer(_ text: String, in range: ClosedRange<Int64>) -> ValueText {
        if let number = Int64(text) {
            return range.contains(number) ? ValueText(value: .integer(number)) : none(text, "is out of range")
        }
        guard let number = NumberParser.flag(text).map({ $0 ? 1 : 0 }) ?? NumberParser.whole(text) else {
            return none(text, "is not a whole number, or out of range")
        }
        guard range.contains(number) else { return none(text, "is out of range") }
        return read(.integer(number), text, as: "\(number)")
    }

    private static func floating(_ text: String, isInRange: (Double) -> Bool) -> ValueText {
        if let number = NumberParser.double(text) {
            return isInRange(number) ? ValueText(value: .double(number)) : none(text, "is out of range")
        }
        guard let flag = NumberParser.flag(text) else { return none(text, "is not a number, or out of range") }
        return read(.double(flag ? 1 : 0), text, as: flag ? "1" : "0")
    }

    private static func decimal(_ text: String) -> ValueText {
        if let number = NumberParser.decimal(text) { return ValueText(value: .decimal(number)) }
        guard let flag = NumberParser.flag(text) else {
            return none(text, "is not a decimal number of up to 38 digits")
        }
        return read(.decimal(flag ? 1 : 0), text, as: flag ? "1" : "0")
    }

    private static func boolean(_ text: String) -> ValueText {
        if let flag = NumberParser.flag(text) { return ValueText(value: .boolean(flag)) }
        guard let number = NumberParser.double(text) else { return none(text, "is neither YES nor NO") }
        return read(.boolean(number != 0), text, as: number != 0 ? "YES" : "NO")
    }

    private static func read(_ value: AttributeValue, _ text: String, as words: String) -> ValueText {
        ValueText(value: value, problem: "The default value \"\(text)\" is read as \(words).")
    }

    private static func none(_ text: String, _ why: String) -> ValueText {
        ValueText(problem: "The default value \"\(text)\" \(why). The attribute is loaded without a default value.")
    }
}

extension ValueText {
    /// Reads the lowest or highest allowed value. For a string attribute, the bound is a length. A bound outside the range of
    /// the type is kept.
    static func bound(_ text: String, of type: AttributeType) -> ValueText {
        switch type {
        case .integer16: integerBound(text, in: Int64(Int16.min)...Int64(Int16.max), what: "the type's range")
        case .integer32: integerBound(text, in: Int64(Int32.min)...Int64(Int32.max), what: "the type's range")
        case .integer64: integerBound(text, in: .min ... .max, what: "the type's range")
        case .string: integerBound(text, in: 0 ... .max, what: "the range of lengths")
        case .double, .float:
            NumberParser.double(text).map { ValueText(value: .double($0)) } ?? noBound(text, "is not a number")
        case .decimal:
            NumberParser.decimal(text).map { ValueText(value: .decimal($0)) }
                ?? noBound(text, "is not a decimal number")
        default: noBound(text, "belongs to an attribute that cannot have such a value")
        }
    }

    private static func integerBound(_ text: String, in range: ClosedRange<Int64>, what: String) -> ValueText {
        guard let number = NumberParser.whole(text) else {
            return noBound(text, "is not a whole number, or out of range")
        }
        let problem = range.contains(number) ? nil : "The bound \"\(text)\" is outside \(what)."
        return ValueText(value: .integer(number), problem: problem)
    }

    private static func noBound(_ text: String, _ why: String) -> ValueText {
        ValueText(problem: "The bound \"\(text)\" \(why), and is ignored.")
    }
}

/// Parses numbers and Booleans in the spellings of model files. Strings are checked first, because the standard library and
/// Foundation accept other spellings, or stop at the first invalid character.
enum NumberParser {
    static func flag(_ text: String) -> Bool? {
        switch text {
        case "YES", "true", "1": true
        case "NO", "false", "0": false
        default: nil
        }
    }

    /// Parses a whole number. The number can have a fraction that contains only zeros.
    static func whole(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = parts.first.flatMap({ Int64($0) }) else { return nil }
        return parts.dropFirst().allSatisfy { $0.allSatisfy { $0 == "0" } } ? number : nil
    }

    /// Parses a finite number in decimal notation.
    static func double(_ text: String) -> Double? {
        guard text.utf8.allSatisfy(isOfNumber), let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// Parses a decimal number with all its digits. A number with more digits than a `Decimal` holds is refused and never
    /// rounded.
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
