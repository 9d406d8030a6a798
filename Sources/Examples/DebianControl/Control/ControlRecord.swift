/// A record of a control file: fields, each with a name and a value.
///
/// The record keeps its bytes unchanged. Reading a value makes a string of its bytes, and repairs invalid UTF-8.
public struct ControlRecord: Sendable {
    /// The number of the first line, from 1.
    public internal(set) var line: Int
    /// Whether the record has the field that every valid record needs; see ``ControlParser/init(leadingField:)``.
    public internal(set) var hasLeadingField = false
    /// The first fault in the record's lines.
    public internal(set) var fault: ControlFault?

    var bytes: [UInt8] = []
    var fields: [Field] = []

    struct Field: Sendable {
        var name: Range<Int>
        /// The bytes after the colon, to the end of the last continuation line.
        var value: Range<Int>
        var line: Int
    }

    init(line: Int) {
        self.line = line
    }

    /// The value on one line, with its continuation lines joined by spaces; nil if the field is missing or empty.
    ///
    /// - Throws: A fault if the record has the field more than once.
    public func unfolded(_ name: String) throws(ControlFault) -> String? {
        guard let value = try value(name) else { return nil }
        guard value.contains(.newline) else { return value.trimmed.text }
        let lines = value.split(separator: .newline).map(\.trimmed).filter { !$0.isEmpty }
        return Array(lines.joined(separator: [UInt8(ascii: " ")]))[...].text
    }

    /// The first line of the value; nil if the field is missing or the line is empty.
    ///
    /// - Throws: A fault if the record has the field more than once.
    public func firstLine(_ name: String) throws(ControlFault) -> String? {
        try value(name)?.prefix { $0 != .newline }.trimmed.text
    }

    /// The line number of a field, or of the first line if the record has no such field.
    public func line(of name: String) -> Int {
        fields.first { has($0, name) }?.line ?? line
    }

    private func value(_ name: String) throws(ControlFault) -> ArraySlice<UInt8>? {
        guard let index = fields.firstIndex(where: { has($0, name) }) else { return nil }
        if let second = fields[(index + 1)...].first(where: { has($0, name) }) {
            throw ControlFault(line: second.line, message: "duplicate field \(name)")
        }
        return bytes[fields[index].value]
    }

    /// Whether the field has the name. Upper and lower case are the same.
    private func has(_ field: Field, _ name: String) -> Bool {
        field.name.count == name.utf8.count
            && zip(bytes[field.name], name.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}

/// The characters of control files.
extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let colon = UInt8(ascii: ":")

    /// A space, a tab, or the carriage return that some editors put before a newline.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r") }

    /// Whether a field's name can contain the character: printable ASCII except the space and the colon.
    var isNameCharacter: Bool { (33...126).contains(self) && self != .colon }

    var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension ArraySlice<UInt8> {
    /// The slice without leading and trailing blanks.
    var trimmed: ArraySlice<UInt8> {
        var slice = self
        while slice.first?.isBlank == true { slice.removeFirst() }
        while slice.last?.isBlank == true { slice.removeLast() }
        return slice
    }

    /// The bytes as a string, with invalid UTF-8 repaired; nil if there are no bytes.
    var text: String? { isEmpty ? nil : String(decoding: self, as: UTF8.self) }
}

/// A fault in a record, with a message for the user.
public struct ControlFault: Error, Hashable, Sendable {
    /// The number of the line, from 1.
    public var line: Int
    public var message: String

    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }
}
