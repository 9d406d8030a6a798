/// The layers of a group, each a list from top to bottom of boxes and of lines that pass between them.
struct LayerGrid {
    struct Node {
        /// The number of the box; nil for a line that passes.
        var box: Int?
        var layer: Int
        var height: Double
    }

    /// A stretch of a line from one layer to the next.
    struct Segment {
        var left: Int
        var right: Int
        /// Where it leaves and arrives, measured from the top of each node.
        var leftOffset: Double
        var rightOffset: Double
    }

    /// A line in the grid: the nodes on its way, from left to right.
    struct Route {
        var line: Int
        var nodes: [Int]
    }

    var nodes: [Node] = []
    var layers: [[Int]]
    private(set) var segments: [Segment] = []
    private(set) var routes: [Route] = []

    init(_ graph: EntityGraph, _ group: [Int]) {
        let layering = Layering(graph, group).layers
        layers = Array(repeating: [], count: (layering.values.max() ?? 0) + 1)
        var numbers: [Int: Int] = [:]
        for box in group {
            numbers[box] = add(Node(box: box, layer: layering[box] ?? 0, height: graph.boxes[box].height))
        }
        for (index, line) in graph.lines.enumerated() {
            guard let from = numbers[line.from.box], let to = numbers[line.to.box], from != to else { continue }
            let (left, right) = nodes[from].layer < nodes[to].layer ? (line.from, line.to) : (line.to, line.from)
            let ends = nodes[from].layer < nodes[to].layer ? (from, to) : (to, from)
            addRoute(
                index, from: ends.0, to: ends.1, left.offset(in: graph.boxes[left.box]),
                right.offset(in: graph.boxes[right.box]))
        }
    }

    private mutating func add(_ node: Node) -> Int {
        nodes.append(node)
        layers[node.layer].append(nodes.count - 1)
        return nodes.count - 1
    }

    private mutating func addRoute(
        _ line: Int, from left: Int, to right: Int, _ leftOffset: Double, _ rightOffset: Double
    ) {
        var route = Route(line: line, nodes: [left])
        for layer in (nodes[left].layer + 1)..<max(nodes[left].layer + 1, nodes[right].layer) {
            route.nodes.append(add(Node(box: nil, layer: layer, height: Self.passHeight)))
        }
        route.nodes.append(right)
        for (one, other) in zip(route.nodes, route.nodes.dropFirst()) {
            segments.append(
                Segment(
                    left: one, right: other, leftOffset: one == left ? leftOffset : Self.passHeight / 2,
                    rightOffset: other == right ? rightOffset : Self.passHeight / 2))
        }
        routes.append(route)
    }

    private static let passHeight = 6.0

    /// The least distance from the top of a node to that of the next one.
    func step(_ node: Int, _ next: Int) -> Double {
        nodes[node].height
            + (nodes[node].box != nil && nodes[next].box != nil ? 30 : nodes[next].box == nodes[node].box ? 8 : 18)
    }
}
