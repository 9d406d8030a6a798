/// Draws pictures as one animated SVG image. If several pictures have a line of a box or a whole box in common, the
/// image contains this line or box only once.
struct Drawing {
    private static let cellWidth = 8
    private static let lineHeight = 18
    private static let margin = 14
    /// The colors of a dark terminal, by the parameters of their color sequences.
    private static let classes: [(parameters: String, name: String, look: String)] = [
        ("1", "s", "fill:#fff;font-weight:bold"), ("90", "f", "fill:#6b7686"),
        ("1;34", "h", "fill:#7cb0ff;font-weight:bold"), ("36", "a", "fill:#5fd0c8"),
        ("1;33", "u", "fill:#ffc857;font-weight:bold"), ("32", "g", "fill:#6fd08c"), ("31", "b", "fill:#ff8a80"),
    ]

    private let pictures: [Picture]
    private let width: Int
    private let height: Int
    private var definitions: [String] = []
    private var names: [String: String] = [:]

    init(_ pictures: [Picture]) {
        self.pictures = pictures
        let columns = pictures.flatMap(\.lines).map { $0.joined().reduce(0) { $0 + $1.text.count } }.max() ?? 0
        width = columns * Self.cellWidth + 2 * Self.margin
        height = (pictures.map(\.lines.count).max() ?? 0) * Self.lineHeight + 2 * Self.margin
    }

    mutating func svg(title: String) -> String {
        let groups = pictures.enumerated().map { number, picture in group(picture, number) }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
            <title>\(Self.escaped(title))</title>
            <style>
            text{font:13.3px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dde5;white-space:pre}
            path{stroke:#4a5566;fill:none}
            \(Self.classes.map { ".\($0.name){\($0.look)}" }.joined(separator: "\n"))
            \(animation())
            </style>
            <rect width="100%" height="100%" rx="8" fill="#12171f"/>
            <defs>
            \(definitions.joined(separator: "\n"))
            </defs>
            \(groups.joined(separator: "\n"))
            </svg>

            """
    }

    // MARK: Time

    /// Shows each picture for its duration, in an endless loop. Readers who prefer reduced motion see only the last picture.
    private func animation() -> String {
        let total = pictures.reduce(0) { $0 + $1.milliseconds }
        var begin = 0
        var rules = ["g.p{visibility:hidden}"]
        for (number, picture) in pictures.enumerated() {
            let end = begin + picture.milliseconds
            let (from, to) = (Self.percent(begin, of: total), Self.percent(end, of: total))
            rules.append(
                "@keyframes k\(number){0%{visibility:\(begin == 0 ? "visible" : "hidden")}\(from){visibility:visible}"
                    + "\(to){visibility:\(end == total ? "visible" : "hidden")}}")
            rules.append("#p\(number){animation:k\(number) \(total)ms step-end infinite}")
            begin = end
        }
        let last = max(0, pictures.count - 1)
        rules.append(
            "@media(prefers-reduced-motion:reduce){g.p{animation:none!important}#p\(last){visibility:visible}}")
        return rules.joined(separator: "\n")
    }

    private static func percent(_ part: Int, of total: Int) -> String {
        let thousandths = total == 0 ? 0 : part * 100_000 / total
        let fraction = String(String(1000 + thousandths % 1000).dropFirst())
        return "\(thousandths / 1000).\(fraction)%"
    }

    // MARK: Lines

    private mutating func group(_ picture: Picture, _ number: Int) -> String {
        // The first column is for lines with only one box. Lines with several boxes use the following columns: one column for
        // the first box, one for the second box, and so on.
        var columns: [String] = []
        for (row, line) in picture.lines.enumerated() {
            // The baseline of the line.
            let y = Self.margin + row * Self.lineHeight + 13
            for (index, box) in line.enumerated() {
                let column = line.count > 1 ? index + 1 : 0
                while columns.count <= column { columns.append("") }
                columns[column] += "<use href=\"#\(definition(of: box))\" y=\"\(y)\"/>"
            }
        }
        let uses = columns.filter { !$0.isEmpty }.map { "<use href=\"#\(name($0, "b"))\"/>" }
        return "<g class=\"p\" id=\"p\(number)\">\(uses.joined())</g>"
    }

    private mutating func definition(of line: [Picture.Run]) -> String {
        var shapes = ""
        let texts = line.map { drawn($0, &shapes) }.joined()
        return name(texts + (shapes.isEmpty ? "" : "<path d=\"\(Self.joined(shapes))\"/>"), "l")
    }

    /// Returns the name of a drawn element. Defines the element when it is first used.
    private mutating func name(_ content: String, _ prefix: String) -> String {
        if let name = names[content] { return name }
        let name = "\(prefix)\(names.count)"
        names[content] = name
        definitions.append("<g id=\"\(name)\">\(content)</g>")
        return name
    }

    /// Draws a run of text. Characters that are drawn as lines are added to `shapes` instead.
    private func drawn(_ run: Picture.Run, _ shapes: inout String) -> String {
        let look = Self.classes.first { $0.parameters == run.style }.map { " class=\"\($0.name)\"" } ?? ""
        var (parts, fills) = ("", "")
        var word = ""
        var start = run.column
        func end(at column: Int) {
            let text = String(word.drop { $0 == " " })
            let x = Self.x(start + word.count - text.count)
            let shown = String(text.reversed().drop { $0 == " " }.reversed())
            if !shown.isEmpty {
                let length = shown.count * Self.cellWidth
                parts += "<text x=\"\(x)\" textLength=\"\(length)\"\(look)>"
                parts += "\(Self.escaped(shown))</text>"
            }
            (word, start) = ("", column + 1)
        }
        for (offset, character) in run.text.enumerated() {
            let column = run.column + offset
            if let shape = Self.shape(character, column) {
                end(at: column)
                shapes += shape
            } else if character == "█" || character == "░" {
                end(at: column)
                fills += "M\(Self.x(column)) -4h8"
            } else {
                word.append(character)
            }
        }
        end(at: run.column + run.text.count)
        if !fills.isEmpty {
            let color = run.text.contains("█") ? "#5fd0c8" : "#2a3340"
            parts += "<path d=\"\(Self.joined(fills))\" style=\"stroke:\(color);stroke-width:9\"/>"
        }
        return parts
    }

    /// The path of a box-drawing character. Adjacent paths meet in every font, unlike adjacent characters.
    private static func shape(_ character: Character, _ column: Int) -> String? {
        let (left, middle) = (x(column), x(column) + cellWidth / 2)
        switch character {
        case "─": return "M\(left) -4h8"
        case "│": return "M\(middle) -13v18"
        case "╭": return "M\(middle) 5v-5q0 -4 4 -4"
        case "╮": return "M\(left) -4q4 0 4 4v5"
        case "╰": return "M\(middle) -13v5q0 4 4 4"
        case "╯": return "M\(left) -4q4 0 4 -4v-5"
        default: return nil
        }
    }

    /// Joins adjacent horizontal strokes of a path.
    private static func joined(_ path: String) -> String {
        var strokes: [(start: Int, length: Int, rest: Substring)] = []
        for part in path.split(separator: "M") {
            let words = part.split(separator: " ", maxSplits: 1)
            guard part.hasSuffix(" -4h8"), let start = Int(words[0]) else {
                strokes.append((0, 0, part))
                continue
            }
            if let last = strokes.last, last.length > 0, last.start + last.length == start {
                strokes[strokes.count - 1].length += 8
            } else {
                strokes.append((start, 8, ""))
            }
        }
        return strokes.map { $0.length > 0 ? "M\($0.start) -4h\($0.length)" : "M\($0.rest)" }.joined()
    }

    private static func x(_ column: Int) -> Int { margin + column * cellWidth }

    private static func escaped(_ text: String) -> String {
        String(text.flatMap { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : "\($0)" })
    }
}
