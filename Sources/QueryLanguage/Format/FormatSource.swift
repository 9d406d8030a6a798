internal import RowStore

/// The string of a format, and its errors with their positions.
struct FormatSource {
    let bytes: [UInt8]

    init(_ format: String) {
        bytes = Array(format.utf8)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// The character at a byte, and its length in bytes.
    func scalar(at position: Int) -> (scalar: Unicode.Scalar, count: Int)? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        if byte < 0x80 { return (Unicode.Scalar(byte), 1) }
        let count = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        let text = String(decoding: bytes[position..<min(position + count, bytes.count)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, count) }
    }

    /// An error with its position: line and column, and the line with a mark below it.
    func error(_ complaint: String, at range: Range<Int>) -> DataSourceError {
        let start = min(range.lowerBound, bytes.count)
        let lineStart = bytes[..<start].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[start...].firstIndex(of: newline) ?? bytes.count
        let line = 1 + bytes[..<lineStart].count { $0 == newline }
        let before = characters(lineStart..<start)
        let after = characters(start..<lineEnd)
        let shown = before.suffix(most) + after.prefix(most)
        let length = max(1, min(characters(start..<min(range.upperBound, lineEnd)).count, most))
        let mark = String(repeating: " ", count: min(before.count, most)) + String(repeating: "^", count: length)
        return DataSourceError(
            .unreadablePredicate,
            """
            The predicate format cannot be read at line \(line), column \(before.count + 1): \(complaint)
                \(String(shown))
                \(mark)
            """)
    }

    /// Tabs and other control characters become spaces, so that the mark is below the right character.
    private func characters(_ range: Range<Int>) -> [Character] {
        text(range).map { $0.unicodeScalars.allSatisfy { $0.value < 0x20 } ? " " : $0 }
    }
}

/// How many characters of the line are shown on each side of an error.
private let most = 60
private let newline = UInt8(ascii: "\n")
