/// A picture of a recording: lines of characters, and the duration of the picture.
struct Picture {
    /// Adjacent characters with the same style.
    struct Run: Hashable {
        var column: Int
        var text: String
        var style: String
    }

    /// The lines. Each line consists of boxes, and each box consists of runs. A box is the part of a line between two borders.
    /// If only one box of a line changes, two pictures can still share the drawings of the other boxes.
    var lines: [[[Run]]]
    var milliseconds: Int

    /// Returns the pictures of a recording. Each picture ends with a form feed and its duration in milliseconds.
    static func all(in recording: String) -> [Picture] {
        var pictures: [Picture] = []
        var lines: [[[Run]]] = []
        for line in recording.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.first == "\u{0C}" {
                pictures.append(Picture(lines: lines, milliseconds: Int(line.dropFirst()) ?? 0))
                lines = []
            } else {
                lines.append(boxes(runs(of: line)))
            }
        }
        return pictures
    }

    private static let edges: Set<Character> = ["│", "╭", "╮", "╰", "╯"]

    private static func boxes(_ runs: [Run]) -> [[Run]] {
        var boxes: [[Run]] = []
        for run in runs {
            let isNext = boxes.last?.last?.text.last.map { edges.contains($0) } ?? true
            if isNext, run.text.first.map({ edges.contains($0) }) ?? true {
                boxes.append([run])
            } else if boxes.isEmpty {
                boxes = [[run]]
            } else {
                boxes[boxes.count - 1].append(run)
            }
        }
        return boxes
    }

    /// Returns the runs of a line. Color sequences (`ESC [ ... m`) set the style.
    private static func runs(of line: Substring) -> [Run] {
        var runs: [Run] = []
        var (column, style) = (0, "")
        var rest = line
        while let character = rest.first {
            if character == "\u{1B}" {
                // Drop only the escape character of any other sequence.
                if let sequence = rest.prefixMatch(of: /\u{1B}\[([0-9;]*)m/) {
                    style = String(sequence.1)
                    rest = rest[sequence.range.upperBound...]
                } else {
                    rest = rest.dropFirst()
                }
                continue
            }
            let text = rest.prefix { $0 != "\u{1B}" }
            runs.append(Run(column: column, text: String(text), style: style == "0" ? "" : style))
            column += text.count
            rest = rest[text.endIndex...]
        }
        return runs
    }
}
