/// How strings are sorted.
package enum StringOrder: Sendable, Hashable {
    /// Strings are compared by their bytes. This order can use an index.
    case bytes
    case folded(StringSorting)
    case collation(StringCollation)

    var isBytes: Bool {
        if case .bytes = self { true } else { false }
    }

    /// Compares two strings. Returns a negative number, 0 or a positive number.
    package func compare(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Int {
        switch self {
        case .bytes: compareBytes(lhs, rhs)
        case .folded(let options):
            compareBytes(StringOrder.sortKey(lhs, options), StringOrder.sortKey(rhs, options))
        case .collation(let collation):
            collation.compare(String(decoding: lhs, as: UTF8.self), String(decoding: rhs, as: UTF8.self))
        }
    }

    /// Returns bytes that have the same order as the strings. Equal strings have equal bytes.
    package static func sortKey(_ text: UnsafeRawBufferPointer, _ options: StringSorting) -> [UInt8] {
        let folded = TextFolding.bytes(text, options.folding)
        guard options.contains(.numeric), folded.contains(where: isDigit) else { return folded }
        var key: [UInt8] = []
        key.reserveCapacity(folded.count + 8)
        var position = 0
        while position < folded.count {
            guard isDigit(folded[position]) else {
                key.append(folded[position])
                position += 1
                continue
            }
            var end = position
            while end < folded.count, isDigit(folded[end]) { end += 1 }
            // If a number is compared with a character that is not a digit, the number counts as the digit 0. Two numbers are
            // compared without their leading zeros: first by the count of their digits, then by the digits.
            let digits = folded[position..<end].drop { $0 == 0x30 }
            key.append(0x30)
            key.append(contentsOf: repeatElement(0xFF, count: digits.count / 0xFF))
            key.append(UInt8(digits.count % 0xFF))
            key.append(contentsOf: digits)
            position = end
        }
        return key
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// An order of strings that the app defines, for use in every store. Two collations are equal only if they are the same object.
package final class StringCollation: Sendable, Hashable {
    /// A number that is unique in the process.
    package let number: Int
    /// Compares two strings, and returns a negative number, 0 or a positive number. The order is total.
    package let compare: @Sendable (String, String) -> Int

    private static let last = Guarded(0)

    package init(_ compare: @escaping @Sendable (String, String) -> Int) {
        number = StringCollation.last.withLock { last in
            last += 1
            return last
        }
        self.compare = compare
    }

    package static func == (lhs: StringCollation, rhs: StringCollation) -> Bool { lhs === rhs }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
    }
}

/// How strings are sorted. Without options, strings are sorted by their bytes, which can use an index.
public struct StringSorting: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    /// Makes the options with these bits. The constants, such as ``numeric``, are easier to read.
    ///
    /// ```swift
    /// let sorting: StringSorting = [.caseInsensitive, .numeric]
    /// let copy = StringSorting(rawValue: sorting.rawValue)
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Letters that differ only in case are equal.
    public static let caseInsensitive = StringSorting(rawValue: 1)
    /// Letters that differ only in their diacritics are equal.
    public static let diacriticInsensitive = StringSorting(rawValue: 2)
    /// Consecutive digits are sorted as a number, so that "file9" comes before "file10".
    public static let numeric = StringSorting(rawValue: 4)

    /// The options for folding strings before they are compared.
    var folding: StringOptions { StringOptions(rawValue: rawValue & 3) }
}
