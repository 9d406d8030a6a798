internal import RowStore

/// Reads JSON from chunks of bytes, so that a whole file is never in memory.
///
/// Unlike most JSON readers, this reader rejects a duplicate name in an object.
struct JSONReader {
    private var bytes: [UInt8] = []
    private var position = 0
    private var line = 1
    private let next: () throws -> [UInt8]

    /// The largest depth of nested arrays and objects.
    private static let depthLimit = 128

    /// - Parameter next: Returns the next bytes; empty at the end.
    init(_ next: @escaping () throws -> [UInt8]) {
        self.next = next
    }

    init(_ bytes: [UInt8]) {
        self.init { [] }
        self.bytes = bytes
    }

    // MARK: Values

    /// Reads a value and the white space before it.
    mutating func value(_ depth: Int = 0) throws -> JSONValue {
        guard depth < JSONReader.depthLimit else { throw syntaxError("arrays and objects are nested too deeply") }
        switch try peekToken() {
        case UInt8(ascii: "{"):
            var members: [JSONName: JSONValue] = [:]
            try forEachMember { name, reader in
                let name = JSONName(name)
                guard members[name] == nil else { throw reader.syntaxError("a name occurs twice in one object") }
                members[name] = try reader.value(depth + 1)
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try forEachElement { elements.append(try $0.value(depth + 1)) }
            return .array(elements)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    /// Calls the body before the value of each member of an object. The body must read the value.
    mutating func forEachMember(_ body: (String, inout JSONReader) throws -> Void) throws {
        try expect("{")
        if try take("}") { return }
        repeat {
            guard try peekToken() == UInt8(ascii: "\"") else { throw syntaxError("a name in quotes is missing") }
            let name = try string()
            try expect(":")
            try body(name, &self)
        } while try take(",")
        try expect("}")
    }

    /// Calls the body before each element of an array. The body must read the element.
    mutating func forEachElement(_ body: (inout JSONReader) throws -> Void) throws {
        try expect("[")
        if try take("]") { return }
        repeat { try body(&self) } while try take(",")
        try expect("]")
    }

    /// Throws if anything but white space follows.
    mutating func expectEnd() throws {
        if try peekToken() != nil { throw syntaxError("there is text after the end") }
    }

    // MARK: Parts

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
        for byte in "\(word)".utf8 where try take() != byte { throw syntaxError("a value is missing") }
        return value
    }

    private mutating func number() throws -> JSONValue {
        var text = ""
        while let byte = try peek(), JSONReader.isPartOfNumber(byte) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            position += 1
        }
        guard JSONValue.isNumber(text) else {
            throw syntaxError(text.isEmpty ? "a value is missing" : "a number is invalid")
        }
        return JSONValue(number: text)
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
    }

    private mutating func string() throws -> String {
        var text: [UInt8] = []
        position += 1
        while true {
            guard let byte = try take() else { throw syntaxError("a string has no end") }
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw syntaxError("a string is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape())
            case 0..<0x20: throw syntaxError("a string contains a control character that is not escaped")
            default: text.append(byte)
            }
        }
    }

    private mutating func escape() throws -> [UInt8] {
        switch try take() {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            var value = try hexadecimal()
            if (0xD800..<0xDC00).contains(value) {
                guard try take() == UInt8(ascii: "\\"), try take() == UInt8(ascii: "u") else { throw unpaired() }
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else { throw unpaired() }
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(value) else { throw unpaired() }
            return Array(String(scalar).utf8)
        case let byte? where [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(byte): return [byte]
        default: throw syntaxError("a string has an escape that JSON does not know")
        }
    }

    private mutating func hexadecimal() throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = try take(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw syntaxError("a string has an escape that JSON does not know")
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    // MARK: Bytes

    private mutating func peek() throws -> UInt8? {
        if position == bytes.count {
            bytes = try next()
            position = 0
            if bytes.isEmpty { return nil }
        }
        return bytes[position]
    }

    private mutating func take() throws -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        return byte
    }

    /// Skips white space, and returns the next byte without consuming it; nil at the end.
    mutating func peekToken() throws -> UInt8? {
        while let byte = try peek() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            if byte == 0x0A { line += 1 }
            position += 1
        }
        return nil
    }

    private mutating func take(_ byte: Unicode.Scalar) throws -> Bool {
        guard try peekToken() == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws {
        if try !take(byte) { throw syntaxError("\"\(byte)\" is missing") }
    }

    private func unpaired() -> DataSourceError { syntaxError("a string has half of a surrogate pair") }

    private func syntaxError(_ problem: String) -> DataSourceError {
        DataSourceError(.invalidGraph, "The JSON of a graph cannot be read: in line \(line), \(problem).")
    }
}
