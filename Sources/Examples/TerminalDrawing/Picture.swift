/// A picture of a recording: lines of characters, and the time for which they are shown.
struct Picture {
    /// Characters next to each other with the same look.
    struct Run: Hashable {
        var column: Int
        var text: String
        var style: String
    }

    /// The runs of each line, divided where two boxes meet: a box seldom changes when its neighbour does.
    var lines: [[[Run]]]
    var milliseconds: Int

    /// The pictures of a recording. Each ends with a form feed and its milliseconds.
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

    /// The runs of a line in which colour sequences (`ESC [ ... m`) set the style.
    private static func runs(of line: Substring) -> [Run] {
        var runs: [Run] = []
        var (column, style) = (0, "")
        var rest = line
        while let character = rest.first {
            if character == "\u{1B}" {
                // Any other sequence is left out up to its escape character.
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
