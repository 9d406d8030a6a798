/// The place of a declaration in a file. A line of an expansion can get the place of a part of the declaration, so that the
/// compiler reports an error of the line at this part.
package struct SourcePlace: Sendable, Equatable {
    private let file: String
    /// The line and the column of the first byte, both counted from 1.
    private let line: Int
    private let column: Int
    /// The source of the declaration.
    private let text: String

    package init(file: String, line: Int, column: Int, text: String) {
        self.file = file
        self.line = line
        self.column = column
        self.text = text
    }

    /// Returns two lines. The second line has the place of a part of the declaration. Nil if the part is in the first line of
    /// the file, because the opening line would have no place.
    ///
    /// - Parameters:
    ///   - opening: The first line.
    ///   - code: The second line, which continues the first.
    ///   - offset: The byte offset of the part in the declaration.
    ///   - skipped: The number of columns of the code before the column that gets the place.
    func lines(_ opening: String, _ code: String, at offset: Int, skipping skipped: Int = 0) -> [String]? {
        let before = text.utf8.prefix(offset)
        let breaks = before.count { $0 == UInt8(ascii: "\n") }
        let indentation =
            if let lineStart = before.lastIndex(of: UInt8(ascii: "\n")) {
                before.distance(from: lineStart, to: before.endIndex) - 1
            } else { column - 1 + offset }
        guard !file.isEmpty, line + breaks > 1, 0...1_000 ~= indentation else { return nil }
        return [
            "#sourceLocation(file: \(DescriptionText.string(file)), line: \(line + breaks - 1))", opening,
            String(repeating: " ", count: max(0, indentation - skipped)) + code, "#sourceLocation()",
        ]
    }
}
