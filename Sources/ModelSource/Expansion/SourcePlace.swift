/// The place of a declaration in a file. A line of an expansion can get the place of a part of the declaration, so that the
/// compiler reports an error of the line at this part.
package struct SourcePlace: Sendable, Equatable {
    fileprivate let file: String
    /// The line and the column of the first byte, both counted from 1.
    fileprivate let line: Int
    fileprivate let column: Int
    /// The source of the declaration.
    fileprivate let text: String

    package init(file: String, line: Int, column: Int, text: String) {
        self.file = file
        self.line = line
        self.column = column
        self.text = text
    }
}

/// Writes lines of an expansion that have the place of a part of the declaration.
struct PlacedLines {
    /// Nil if the place is unknown. The lines then have their places in the expansion.
    private let place: SourcePlace?
    /// The byte offset of the first byte of each line of the declaration.
    private let lineStarts: [Int]

    init(_ place: SourcePlace?) {
        self.place = place
        var lineStarts = [0]
        for (offset, byte) in (place?.text ?? "").utf8.enumerated() where byte == UInt8(ascii: "\n") {
            lineStarts.append(offset + 1)
        }
        self.lineStarts = lineStarts
    }

    /// Returns two lines. The second line has the place of a part of the declaration, and the first line has the place of the
    /// line before the part. If the part is in the first line of the file, returns one line without a place.
    ///
    /// - Parameters:
    ///   - opening: The first line.
    ///   - code: The second line, which continues the first.
    ///   - offset: The byte offset of the part in the declaration.
    ///   - skipped: The number of columns of the code before the column that gets the place.
    func lines(_ opening: String, _ code: String, at offset: Int, skipping skipped: Int = 0) -> [String] {
        guard let place, !place.file.isEmpty else { return [opening + code] }
        let breaks = lineBreaks(before: offset)
        let indentation = (breaks == 0 ? place.column - 1 : 0) + offset - lineStarts[breaks]
        guard place.line + breaks > 1, 0...1_000 ~= indentation else { return [opening + code] }
        return [
            "#sourceLocation(file: \(DescriptionText.string(place.file)), line: \(place.line + breaks - 1))", opening,
            String(repeating: " ", count: max(0, indentation - skipped)) + code, "#sourceLocation()",
        ]
    }

    /// The index of the last line that begins at or before the offset.
    private func lineBreaks(before offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
