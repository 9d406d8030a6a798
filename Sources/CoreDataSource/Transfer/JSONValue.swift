internal import Foundation
internal import ManagedModel
internal import RowStore

/// A JSON value whose numbers keep all their digits.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A whole number in the range of `Int64`, even if it was written as `1.0` or `1e0`.
    case integer(Int64)
    case real(Double)
    /// A number that neither an `Int64` nor a `Double` represents exactly, with its original digits.
    case digits(String)
    case string(String)
    case array([JSONValue])
    case object([JSONName: JSONValue])

    /// Makes a number from its digits in JSON.
    init(number text: String) {
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let real = Double(text), real.isFinite, JSONValue.isEqual(text, "\(real)") {
            self.init(real)
        } else {
            self = .digits(text)
        }
    }

    /// Makes a number from a finite `Double`.
    init(_ real: Double) {
        self = Int64(exactly: real).map { .integer($0) } ?? .real(real)
    }

    /// Whether two strings represent exactly the same number.
    static func isEqual(_ lhs: String, _ rhs: String) -> Bool {
        var (lhs, rhs) = (lhs, rhs)
        return lhs.withUTF8 { lhs in
            rhs.withUTF8 { orderDecimals(UnsafeRawBufferPointer(lhs), UnsafeRawBufferPointer($0)) == 0 }
        }
    }

    /// Whether a string is a number in JSON's syntax.
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

    /// The digits of a number; nil for other values.
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
    /// Compares strings byte by byte, like a store, and not by canonical equivalence.
    static func == (lhs: JSONValue, rhs: JSONValue) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let lhs), .bool(let rhs)): lhs == rhs
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.real(let lhs), .real(let rhs)): lhs == rhs
        case (.digits(let lhs), .digits(let rhs)): lhs == rhs
        case (.string(let lhs), .string(let rhs)): JSONName(lhs) == JSONName(rhs)
        case (.array(let lhs), .array(let rhs)): lhs == rhs
        case (.object(let lhs), .object(let rhs)): lhs == rhs
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
    /// Orders numbers by value, and strings by their bytes.
    static func < (lhs: JSONValue, rhs: JSONValue) -> Bool {
        switch (lhs, rhs) {
        case (.integer(let lhs), .integer(let rhs)): lhs < rhs
        case (.string(let lhs), .string(let rhs)): lhs.utf8.lexicographicallyPrecedes(rhs.utf8)
        default:
            if let number = lhs.numberText.flatMap(Double.init), let rhs = rhs.numberText.flatMap(Double.init) {
                number < rhs
            } else {
                lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
            }
        }
    }
}

extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
        if let container = try? decoder.singleValueContainer() {
            if container.decodeNil() {
                self = .null
                return
            }
            if let value = JSONValue(scalar: container) {
                self = value
                return
            }
        }
        if let elements = try? [JSONValue](from: decoder) {
            self = .array(elements)
        } else {
            self = .object(try [JSONName: JSONValue](from: decoder))
        }
    }

    private init?(scalar container: any SingleValueDecodingContainer) {
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            // Decode a `Decimal` too, because it keeps more digits than a `Double`.
            let decimal = try? container.decode(Decimal.self)
            self = JSONValue(number: decimal.map { "\($0)" } ?? "\(value)")
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            return nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .digits(let text):
            if let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) {
                try container.encode(value)
            } else {
                try container.encode(Double(text) ?? 0)
            }
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

/// Writes JSON with sorted keys, so that equal values give equal strings.
extension JSONValue {
    /// The JSON on one line, without spaces.
    var text: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// The JSON on several lines, so that each changed value changes one line.
    var prettyText: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer, .real, .digits: text += numberText ?? "null"
        case .string(let string): JSONValue.write(string, to: &text)
        case .array(let elements):
            JSONValue.write(elements, between: "[", and: "]", to: &text, indent: indent) { element, text, indent in
                element.write(to: &text, indent: indent)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            JSONValue.write(sorted, between: "{", and: "}", to: &text, indent: indent) { member, text, indent in
                JSONValue.write(member.key.text, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between open: String, and close: String, to text: inout String, indent: Int?,
        _ body: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: "  ", count: inner) }
            body(element, &text, inner)
        }
        if let indent, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += string.inQuotes { scalar in
            switch scalar {
            case "\u{8}": "\\b"
            case "\u{C}": "\\f"
            case "\0"..<" ": scalar.controlEscape
            default: nil
            }
        }
    }
}

/// The name of a member of a JSON object. Names are compared by their bytes, so composed `é` and decomposed `é` differ.
struct JSONName: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }

    static func == (lhs: JSONName, rhs: JSONName) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    static func < (lhs: JSONName, rhs: JSONName) -> Bool {
        lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONName: Codable, CodingKeyRepresentable {
    init(from decoder: any Decoder) throws {
        text = try String(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }

    var codingKey: any CodingKey { Key(stringValue: text) }

    init?(codingKey: some CodingKey) {
        text = codingKey.stringValue
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
