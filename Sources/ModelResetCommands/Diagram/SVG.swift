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
    /// The text with markup characters escaped, and invalid characters left out.
    var escaped: String {
        let escapes: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return unicodeScalars.filter { $0 >= " " && $0 != "\u{FFFE}" && $0 != "\u{FFFF}" }
            .map { escapes[$0] ?? String($0) }.joined()
    }
}

extension Double {
    /// Short, and the same on every machine.
    var short: String {
        let tenths = Int((self * 10).rounded())
        guard tenths % 10 != 0 else { return String(tenths / 10) }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

/// The colours that families of entities have, dark for lines and names, light for boxes.
enum Palette {
    private static let colors = [
        ("#2f6690", "#eaf1f7"), ("#8a4f7d", "#f5edf3"), ("#3a7d44", "#ebf4ec"), ("#b3541e", "#faeee7"),
        ("#4b4e9e", "#eeeef8"), ("#0f7173", "#e7f3f3"), ("#9b2f3f", "#f8eaec"), ("#7a6a16", "#f6f3e3"),
        ("#52616b", "#eef1f3"), ("#a23e8c", "#f8ebf5"),
    ]

    static func dark(_ index: Int) -> String { colors[index % colors.count].0 }
    static func light(_ index: Int) -> String { colors[index % colors.count].1 }
}
