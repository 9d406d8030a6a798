/// The characters that a control file is made of.
extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let colon = UInt8(ascii: ":")

    /// A space, a tab, or the carriage return that some editors put before a newline.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r") }

    /// Whether a field's name may contain it: printable ASCII except the space and the colon.
    var isNameCharacter: Bool { (33...126).contains(self) && self != .colon }

    var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension ArraySlice<UInt8> {
    /// Without blanks at either end.
    var trimmed: ArraySlice<UInt8> {
        var slice = self
        while slice.first?.isBlank == true { slice.removeFirst() }
        while slice.last?.isBlank == true { slice.removeLast() }
        return slice
    }

    /// As a string, with invalid UTF-8 repaired; nil if it is empty.
    var text: String? { isEmpty ? nil : String(decoding: self, as: UTF8.self) }
}
