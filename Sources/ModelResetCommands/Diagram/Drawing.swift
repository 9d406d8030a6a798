/// The positions of boxes and lines in the drawing of a model.
struct Drawing {
    struct Point: Hashable {
        var x: Double
        var y: Double
    }

    struct Frame {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// A line through points. Its segments are straight and curved in turn: a straight segment lies inside of a column, and a
    /// curved segment lies between two columns. The first and the last segments are straight.
    struct Path {
        var points: [Point]
        var line: Int
        /// Whether the path leads from the start of the line to its end, and not from the end to the start.
        var isForward = true
        /// Whether the line leads from a box to itself.
        var isLoop = false
    }

    var width = 0.0
    var height = 0.0
    /// The frames of the boxes, by box number.
    var frames: [Int: Frame] = [:]
    var paths: [Path] = []

    /// Draws each group separately, and then arranges the groups in rows. The tallest group comes first.
    init(_ graph: EntityGraph) {
        let groups = graph.groups.map { Drawing(graph, group: $0) }.enumerated()
            .sorted { ($1.element.height, $0.offset) < ($0.element.height, $1.offset) }.map(\.element)
        let area = groups.reduce(0) { $0 + $1.width * $1.height }
        let room = max(groups.map(\.width).max() ?? 0, (area * 1.6).squareRoot())
        var corner = Point(x: 0, y: 0)
        for group in groups {
            if corner.x > 0, corner.x + group.width > room { corner = Point(x: 0, y: height + 40) }
            add(group, at: corner)
            corner.x += group.width + 40
        }
    }

    private init(_ graph: EntityGraph, group: [Int]) {
        let grid = LayerOrder(LayerGrid(graph, group)).grid
        let tops = LayerPlacement(grid).tops
        var columns: [(left: Double, right: Double)] = []
        for (index, layer) in grid.layers.enumerated() {
            let width = layer.compactMap { grid.nodes[$0].box.map { graph.boxes[$0].width } }.max() ?? 0
            let left = (columns.last?.right ?? 0) + (index == 0 ? 0 : Self.gap(before: index, in: grid))
            columns.append((left, left + width))
            for node in layer {
                guard let box = grid.nodes[node].box else { continue }
                let inset = (width - graph.boxes[box].width) / 2
                frames[box] = Frame(
                    x: left + inset, y: tops[node], width: graph.boxes[box].width, height: graph.boxes[box].height)
            }
        }
        addPaths(of: graph, in: grid, tops: tops, columns: columns)
        addLoops(graph, group)
        width = (columns.last?.right ?? 0) + (paths.contains(where: \.isLoop) ? 40 : 0)
        height = frames.values.map { $0.y + $0.height }.max() ?? 0
        height = max(height, paths.flatMap(\.points).map(\.y).max() ?? 0)
    }

    private static func gap(before layer: Int, in grid: LayerGrid) -> Double {
        let count = grid.segments.count { grid.nodes[$0.right].layer == layer }
        return min(200, 70 + 5 * Double(count))
    }

    private mutating func addPaths(
        of graph: EntityGraph, in grid: LayerGrid, tops: [Double], columns: [(left: Double, right: Double)]
    ) {
        var segments = grid.segments[...]
        for route in grid.routes {
            var points: [Point] = []
            for (leftNode, rightNode) in zip(route.nodes, route.nodes.dropFirst()) {
                guard let segment = segments.popFirst() else { return }
                let start = tops[leftNode] + segment.leftOffset
                let end = tops[rightNode] + segment.rightOffset
                if let frame = grid.nodes[leftNode].box.flatMap({ frames[$0] }) {
                    points.append(Point(x: frame.x + frame.width, y: start))
                }
                points.append(Point(x: columns[grid.nodes[leftNode].layer].right, y: start))
                points.append(Point(x: columns[grid.nodes[rightNode].layer].left, y: end))
                if let frame = grid.nodes[rightNode].box.flatMap({ frames[$0] }) {
                    points.append(Point(x: frame.x, y: end))
                }
            }
            let first = route.nodes.first.flatMap { grid.nodes[$0].box }
            paths.append(
                Path(points: points, line: route.line, isForward: first == graph.lines[route.line].from.box))
        }
    }

    private mutating func addLoops(_ graph: EntityGraph, _ group: [Int]) {
        for (index, line) in graph.lines.enumerated() where line.from.box == line.to.box {
            guard let frame = frames[line.from.box] else { continue }
            let points = [line.from, line.to].map { end in
                Point(
                    x: frame.x + frame.width,
                    y: frame.y + end.offset(in: graph.boxes[end.box]))
            }
            paths.append(Path(points: points, line: index, isLoop: true))
        }
    }

    private mutating func add(_ group: Drawing, at corner: Point) {
        for (box, frame) in group.frames {
            frames[box] = Frame(
                x: frame.x + corner.x, y: frame.y + corner.y, width: frame.width, height: frame.height)
        }
        for var path in group.paths {
            path.points = path.points.map { Point(x: $0.x + corner.x, y: $0.y + corner.y) }
            paths.append(path)
        }
        width = max(width, corner.x + group.width)
        height = max(height, corner.y + group.height)
    }
}
