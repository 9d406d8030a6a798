internal import Foundation
internal import ManagedModel

/// A default value or a bound that was read from a string, and the problem if the string is unusual.
struct ParsedValue: Equatable {
    var value: AttributeValue?
    var problem: String?

    /// Reads a default value. For a number type, a string that is not a number is read as a Boolean. For the Boolean type,
    /// a string that is not a Boolean is read as a number. The value is nil if the string cannot be read.
    static func defaultValue(_ text: String, of type: AttributeType) -> ParsedValue {
        switch type {
        case .integer16: integer(text, in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32: integer(text, in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64: integer(text, in: .min ... .max)
        case .double: floating(text, isInRange: \.isFinite)
        case .float: floating(text) { Float($0).isFinite }
        case .decimal: decimal(text)
        case .boolean: boolean(text)
        case .string, .uri: ParsedValue(value: .string(text))
        case .uuid: UUID(uuidString: text).map { ParsedValue(value: .uuid($0)) } ?? invalid(text, "is not a UUID")
        case .date: invalid(text, "is not a date")
        case .undefined, .binary, .transformable, .objectID, .composite:
            invalid(text, "belongs to an attribute that cannot have such a value")
        }
    }

    private static func integer(_ text: String, in range: ClosedRange<Int64>) -> ParsedValue {
        if let number = Int64(text) {
            return range.contains(number) ? ParsedValue(value: .integer(number)) : invalid(text, "is out of range")
        }
        guard let number = NumberParser.flag(text).map({ $0 ? 1 : 0 }) ?? NumberParser.whole(text) else {
            return invalid(text, "is not a whole number, or out of range")
        }
        guard range.contains(number) else { return invalid(text, "is out of range") }
        return read(.integer(number), text, as: "\(number)")
    }

    private static func floating(_ text: String, isInRange: (Double) -> Bool) -> ParsedValue {
        if let number = NumberParser.double(text) {
            return isInRange(number) ? ParsedValue(value: .double(number)) : invalid(text, "is out of range")
        }
        guard let flag = NumberParser.flag(text) else { return invalid(text, "is not a number, or out of range") }
        return read(.double(flag ? 1 : 0), text, as: flag ? "1" : "0")
    }

    private static func decimal(_ text: String) -> ParsedValue {
        if let number = NumberParser.decimal(text) { return ParsedValue(value: .decimal(number)) }
        guard let flag = NumberParser.flag(text) else {
            return invalid(text, "is not a decimal number of up to 38 digits")
        }
        return read(.decimal(flag ? 1 : 0), text, as: flag ? "1" : "0")
    }

    private static func boolean(_ text: String) -> ParsedValue {
        if let flag = NumberParser.flag(text) { return ParsedValue(value: .boolean(flag)) }
        guard let number = NumberParser.double(text) else { return invalid(text, "is neither YES nor NO") }
        return read(.boolean(number != 0), text, as: number != 0 ? "YES" : "NO")
    }

    private static func read(_ value: AttributeValue, _ text: String, as words: String) -> ParsedValue {
        ParsedValue(value: value, problem: "The default value \"\(text)\" is read as \(words).")
    }

    private static func invalid(_ text: String, _ why: String) -> ParsedValue {
        ParsedValue(problem: "The default value \"\(text)\" \(why). The attribute is loaded without a default value.")
    }
}

extension ParsedValue {
    /// Reads the lowest or highest allowed value. For a string attribute, the bound is a length. A bound outside the range of
    /// the type is kept.
    static func bound(_ text: String, of type: AttributeType) -> ParsedValue {
        switch type {
        case .integer16: integerBound(text, in: Int64(Int16.min)...Int64(Int16.max), what: "the type's range")
        case .integer32: integerBound(text, in: Int64(Int32.min)...Int64(Int32.max), what: "the type's range")
        case .integer64: integerBound(text, in: .min ... .max, what: "the type's range")
        case .string: integerBound(text, in: 0 ... .max, what: "the range of lengths")
        case .double, .float:
            NumberParser.double(text).map { ParsedValue(value: .double($0)) } ?? invalidBound(text, "is not a number")
        case .decimal:
            NumberParser.decimal(text).map { ParsedValue(value: .decimal($0)) }
                ?? invalidBound(text, "is not a decimal number")
        default: invalidBound(text, "belongs to an attribute that cannot have such a value")
        }
    }

    private static func integerBound(_ text: String, in range: ClosedRange<Int64>, what: String) -> ParsedValue {
        guard let number = NumberParser.whole(text) else {
            return invalidBound(text, "is not a whole number, or out of range")
        }
        let problem = range.contains(number) ? nil : "The bound \"\(text)\" is outside \(what)."
        return ParsedValue(value: .integer(number), problem: problem)
    }

    private static func invalidBound(_ text: String, _ why: String) -> ParsedValue {
        ParsedValue(problem: "The bound \"\(text)\" \(why), and is ignored.")
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
        guard text.utf8.allSatisfy(isNumberCharacter), let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// Parses a decimal number with all its digits. A number with more digits than a `Decimal` holds is refused and never
    /// rounded.
    static func decimal(_ text: String) -> Decimal? {
        let mantissa = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }.first ?? ""
        let digits = mantissa.filter(\.isNumber)
        let significant = digits.drop { $0 == "0" }
        guard text.utf8.count <= 160, text.utf8.allSatisfy(isNumberCharacter), Double(text) != nil, !digits.isEmpty,
            significant.count <= 38, let number = Decimal(string: text), !number.isNaN,
            number.isZero == significant.isEmpty
        else { return nil }
        return number
    }

    private static func isNumberCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}
