internal import RowStore

/// A value of JSON, with every digit of its numbers.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// Every whole number in the range, however it was written.
    case integer(Int64)
    case real(Double)
    /// Any other number, as it was written.
    case digits(String)
    case string(String)
    case array([JSONValue])
    case object([JSONName: JSONValue])

    /// A number as JSON writes it.
    init(number text: String) {
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let real = Double(text), real.isFinite, JSONValue.isEqual(text, "\(real)") {
            self.init(real)
        } else {
            self = .digits(text)
        }
    }

    /// A finite number.
    init(_ real: Double) {
        self = Int64(exactly: real).map { .integer($0) } ?? .real(real)
    }

    /// Whether two strings are the same number, with all their digits.
    static func isEqual(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        return one.withUTF8 { one in
            other.withUTF8 { orderDecimals(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) == 0 }
        }
    }

    /// Whether a string is a number as JSON writes it.
    static func isNumber(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        func digits() -> Bool {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count > 0
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let before = rest.count
        guard digits(), !startsWithZero || before - rest.count == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() else { return false }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() else { return false }
        }
        return rest.isEmpty
    }

    /// The digits of a number; nil for anything else.
    var numberText: String? {
        switch self {
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .digits(let text): text
        default: nil
        }
    }
}

extension JSONValue {
    /// Strings are equal byte by byte, as in a store, not by canonical equivalence.
    static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.digits(let one), .digits(let other)): one == other
        case (.string(let one), .string(let other)): JSONName(one) == JSONName(other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .digits(let text): hasher.combine(text)
        case .string(let text): hasher.combine(JSONName(text))
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSONValue: Comparable {
    /// An order of values: numbers by value, and strings by their bytes.
    static func < (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): one < other
        case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        default:
            if let number = one.numberText.flatMap(Double.init), let other = other.numberText.flatMap(Double.init) {
                number < other
            } else {
                one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
            }
        }
    }
}
