internal import ManagedModel

/// Writes a drawing as an SVG file.
struct SVG {
    private let graph: EntityGraph
    private let drawing: Drawing
    private let title: String
    private let subtitle: String

    private static let margin = 36.0
    private static let headHeight = 62.0
    private static let footHeight = 34.0
    private static let legend =
        "▶ to one     ▶▶ to many     ▷ parent     bold: unique     ?: optional     italic: transient or abstract"

    init(_ graph: EntityGraph, title: String, subtitle: String) {
        self.graph = graph
        self.title = title
        self.subtitle = subtitle
        drawing = Drawing(graph)
    }

    var width: Int {
        let text = max(title.width(size: 22), subtitle.width(size: 12), Self.legend.width(size: 11))
        return Int((max(drawing.width, text) + 2 * Self.margin).rounded(.up))
    }

    var height: Int {
        Int((drawing.height + Self.headHeight + Self.footHeight + 2 * Self.margin).rounded(.up))
    }

    var text: String {
        let head = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="\(EntityBox.fontSize)">
            <title>\(title.escaped)</title>
            <rect width="100%" height="100%" fill="#ffffff"/>
            <text x="\(Self.margin)" y="\(Self.margin + 16)" font-size="22" font-weight="bold" fill="#1f2933">\
            \(title.escaped)</text>
            <text x="\(Self.margin)" y="\(Self.margin + 36)" fill="#7b8794">\(subtitle.escaped)</text>
            <g transform="translate(\(Self.margin) \(Self.margin + Self.headHeight))">

            """
        let paths = drawing.paths.map { PathMarkup($0, of: graph).text }
        let boxes = drawing.frames.sorted { $0.key < $1.key }.map { BoxMarkup(graph.boxes[$0.key], $0.value).text }
        let foot = """
            </g>
            <text x="\(Self.margin)" y="\(Double(height) - Self.margin)" font-size="11" fill="#7b8794" \
            xml:space="preserve">\(Self.legend)</text>
            </svg>

            """
        return head + paths.joined() + boxes.joined() + foot
    }
}

extension String {
    /// The string without invalid characters, and with markup characters escaped.
    var escaped: String {
        let escapes: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return unicodeScalars.filter { $0 >= " " && $0 != "\u{FFFE}" && $0 != "\u{FFFF}" }
            .map { escapes[$0] ?? String($0) }.joined()
    }
}

extension Double {
    /// The number with at most one decimal. The string is the same on every machine.
    var formatted: String {
        let tenths = Int((self * 10).rounded())
        guard tenths % 10 != 0 else { return String(tenths / 10) }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

/// The colors of entity hierarchies: a dark color for lines and names, and a light color for boxes.
enum Palette {
    private static let colors = [
        ("#2f6690", "#eaf1f7"), ("#8a4f7d", "#f5edf3"), ("#3a7d44", "#ebf4ec"), ("#b3541e", "#faeee7"),
        ("#4b4e9e", "#eeeef8"), ("#0f7173", "#e7f3f3"), ("#9b2f3f", "#f8eaec"), ("#7a6a16", "#f6f3e3"),
        ("#52616b", "#eef1f3"), ("#a23e8c", "#f8ebf5"),
    ]

    static func dark(_ index: Int) -> String { colors[index % colors.count].0 }
    static func light(_ index: Int) -> String { colors[index % colors.count].1 }
}

extension String {
    /// Returns the approximate width of the string at a font size. The widest of the drawing's fonts counts.
    func width(size: Double) -> Double {
        unicodeScalars.reduce(0) { $0 + $1.width } * size
    }
}

extension Unicode.Scalar {
    fileprivate var width: Double {
        switch self {
        case "i", "j", "l", "I", "|", "'", ".", ",", ":", ";", " ", "f", "t", "r", "(", ")", "[", "]": 0.42
        case "m", "w", "M", "W", "@", "%": 1.0
        case "a"..."z", "0"..."9", "_": 0.64
        case "A"..."Z": 0.74
        case "\u{80}"..."\u{24F}", "\u{370}"..."\u{5FF}", "…", "→": 0.84
        default: isASCII ? 0.7 : 1.1
        }
    }
}

/// The markup of one box.
struct BoxMarkup {
    private let box: EntityBox
    private let frame: Drawing.Frame

    init(_ box: EntityBox, _ frame: Drawing.Frame) {
        self.box = box
        self.frame = frame
    }

    var text: String {
        let dark = Palette.dark(box.color)
        let rectangle = "width=\"\(frame.width.formatted)\" height=\"\(frame.height.formatted)\" rx=\"6\""
        var text = "<g transform=\"translate(\(frame.x.formatted) \(frame.y.formatted))\">\n"
        text += "<rect \(rectangle) fill=\"\(dark)\"/>\n"
        // The body covers the box, except for the header and the frame.
        text += """
            <path d="M1 \(EntityBox.headerHeight.formatted)H\((frame.width - 1).formatted)V\((frame.height - 6).formatted)\
            q0 5 -5 5H6q-5 0 -5 -5Z" fill="\(Palette.light(box.color))"/>

            """
        text += header
        for (index, row) in box.attributes.enumerated() {
            text += markup(of: row, at: box.offset(ofAttribute: index), color: "#1f2933")
        }
        for (index, row) in box.relationships.enumerated() {
            text += markup(of: row, at: box.offset(ofRelationship: index), color: dark)
        }
        if !box.attributes.isEmpty, !box.relationships.isEmpty {
            let y = box.offset(ofRelationship: 0) - EntityBox.rowHeight / 2 - EntityBox.dividerHeight / 2
            text +=
                "<path d=\"M1 \(y.formatted)H\((frame.width - 1).formatted)\" stroke=\"\(dark)\" stroke-opacity=\"0.35\"/>\n"
        }
        return text + "</g>\n"
    }

    private var header: String {
        let style = box.entity.isAbstract ? " font-style=\"italic\"" : ""
        var text = """
            <text x="\(EntityBox.padding.formatted)" y="20" font-size="\(EntityBox.titleSize.formatted)" font-weight="bold"\
            \(style) fill="#ffffff">\(box.entity.name.escaped)</text>

            """
        if let subtitle = box.subtitle {
            text += """
                <text x="\((frame.width - EntityBox.padding).formatted)" y="19" font-size="10" text-anchor="end" \
                fill="#ffffff" fill-opacity="0.85">\(subtitle)</text>

                """
        }
        return text
    }

    private func markup(of row: EntityBox.Row, at middle: Double, color: String) -> String {
        let y = (middle + 4).formatted
        let style = (row.isUnique ? " font-weight=\"bold\"" : "") + (row.isItalic ? " font-style=\"italic\"" : "")
        return """
            <text x="\(EntityBox.padding.formatted)" y="\(y)"\(style) fill="\(color)">\(row.name.escaped)</text>
            <text x="\((frame.width - EntityBox.padding).formatted)" y="\(y)" text-anchor="end" fill="#7b8794">\
            \(row.detail.escaped)</text>

            """
    }
}

/// The markup of one line and its marks.
struct PathMarkup {
    private let path: Drawing.Path
    private let line: EntityGraph.Line
    private let color: String

    init(_ path: Drawing.Path, of graph: EntityGraph) {
        self.path = path
        line = graph.lines[path.line]
        color = Palette.dark(graph.boxes[line.from.box].color)
    }

    var text: String {
        guard let first = path.points.first, let last = path.points.last else { return "" }
        let width = line.isInheritance ? "2" : "1.4"
        let curve = """
            <path d="\(path.isLoop ? loop(first, last) : pathData)" fill="none" stroke="\(color)" stroke-width="\(width)" \
            stroke-opacity="0.8"/>

            """
        // The path goes from left to right, but the line can go from right to left.
        let marks = path.isForward ? (line.from.mark, line.to.mark) : (line.to.mark, line.from.mark)
        return curve + mark(marks.0, at: first, direction: 1) + mark(marks.1, at: last, direction: path.isLoop ? 1 : -1)
    }

    private var pathData: String {
        var pathData = ""
        for (index, point) in path.points.enumerated() {
            if index == 0 {
                pathData += "M\(point.x.formatted) \(point.y.formatted)"
            } else if index.isMultiple(of: 2) {
                let before = path.points[index - 1]
                let middle = ((before.x + point.x) / 2).formatted
                pathData +=
                    "C\(middle) \(before.y.formatted) \(middle) \(point.y.formatted) \(point.x.formatted) \(point.y.formatted)"
            } else {
                pathData += "H\(point.x.formatted)"
            }
        }
        return pathData
    }

    private func loop(_ first: Drawing.Point, _ last: Drawing.Point) -> String {
        let isPoint = first == last
        let out = (first.x + 30).formatted
        let spread = isPoint ? 14.0 : 0
        return
            "M\(first.x.formatted) \(first.y.formatted)C\(out) \((first.y - spread).formatted) \(out) \((last.y + spread).formatted) "
            + "\(last.x.formatted) \(last.y.formatted)"
    }

    /// Draws arrowheads that point to the box and touch it: one for to-one, two for to-many, and a hollow one for a parent.
    private func mark(_ mark: EntityGraph.Mark, at point: Drawing.Point, direction: Double) -> String {
        switch mark {
        case .none: ""
        case .one: arrowhead(at: point, 9, 4, direction, fill: color)
        case .many:
            arrowhead(at: point, 8, 4, direction, fill: color)
                + arrowhead(at: Drawing.Point(x: point.x + 8 * direction, y: point.y), 8, 4, direction, fill: color)
        case .parent: arrowhead(at: point, 13, 7, direction, fill: "#ffffff")
        }
    }

    private func arrowhead(
        at point: Drawing.Point, _ length: Double, _ half: Double, _ direction: Double, fill: String
    ) -> String {
        let x = (point.x + length * direction).formatted
        return """
            <path d="M\(point.x.formatted) \(point.y.formatted)L\(x) \((point.y - half).formatted)V\((point.y + half).formatted)Z" \
            fill="\(fill)" stroke="\(color)" stroke-width="1"/>

            """
    }
}
