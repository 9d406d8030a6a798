/// The markup of one line, with its marks.
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
            <path d="\(path.isLoop ? loop(first, last) : way)" fill="none" stroke="\(color)" stroke-width="\(width)" \
            stroke-opacity="0.8"/>

            """
        // The path goes from left to right; the line may go the other way.
        let marks = path.isForward ? (line.from.mark, line.to.mark) : (line.to.mark, line.from.mark)
        return curve + mark(marks.0, at: first, direction: 1) + mark(marks.1, at: last, direction: path.isLoop ? 1 : -1)
    }

    private var way: String {
        var way = ""
        for (index, point) in path.points.enumerated() {
            if index == 0 {
                way += "M\(point.x.short) \(point.y.short)"
            } else if index.isMultiple(of: 2) {
                let before = path.points[index - 1]
                let middle = ((before.x + point.x) / 2).short
                way += "C\(middle) \(before.y.short) \(middle) \(point.y.short) \(point.x.short) \(point.y.short)"
            } else {
                way += "H\(point.x.short)"
            }
        }
        return way
    }

    private func loop(_ first: Drawing.Point, _ last: Drawing.Point) -> String {
        let isPoint = first == last
        let out = (first.x + 30).short
        let spread = isPoint ? 14.0 : 0
        return
            "M\(first.x.short) \(first.y.short)C\(out) \((first.y - spread).short) \(out) \((last.y + spread).short) "
            + "\(last.x.short) \(last.y.short)"
    }

    /// Arrow heads that touch the box: one, two, or a hollow one, pointing away from the box.
    private func mark(_ mark: EntityGraph.Mark, at point: Drawing.Point, direction: Double) -> String {
        switch mark {
        case .none: ""
        case .one: head(at: point, 9, 4, direction, fill: color)
        case .many:
            head(at: point, 8, 4, direction, fill: color)
                + head(at: Drawing.Point(x: point.x + 8 * direction, y: point.y), 8, 4, direction, fill: color)
        case .parent: head(at: point, 13, 7, direction, fill: "#ffffff")
        }
    }

    private func head(
        at point: Drawing.Point, _ length: Double, _ half: Double, _ direction: Double, fill: String
    ) -> String {
        let x = (point.x + length * direction).short
        return """
            <path d="M\(point.x.short) \(point.y.short)L\(x) \((point.y - half).short)V\((point.y + half).short)Z" \
            fill="\(fill)" stroke="\(color)" stroke-width="1"/>

            """
    }
}
