/// Assigns each box of a group to a layer, so that every line leads from one layer to a later layer.
struct Layering {
    /// The layer of each box, by its number.
    private(set) var layers: [Int: Int] = [:]
    private let graph: EntityGraph
    private let group: [Int]
    /// For each box, the boxes that should be on its right.
    private var successors: [Int: Set<Int>] = [:]
    private var predecessors: [Int: Set<Int>] = [:]

    init(_ graph: EntityGraph, _ group: [Int]) {
        self.graph = graph
        self.group = group
        let members = Set(group)
        let lines = graph.lines.filter { members.contains($0.from.box) && $0.from.box != $0.to.box }
        let degrees = lines.reduce(into: [Int: Int]()) {
            $0[$1.from.box, default: 0] += 1
            $0[$1.to.box, default: 0] += 1
        }
        for line in lines {
            let (left, right) = Layering.orientation(of: line, degrees)
            successors[left, default: []].insert(right)
            predecessors[right, default: []].insert(left)
        }
        assignLayers(in: sequence())
    }

    /// Returns the left box and the right box of a line. Parents are on the left of children, and to-one sides are on the left
    /// of to-many sides. Otherwise, the box with more lines is on the left.
    private static func orientation(of line: EntityGraph.Line, _ degrees: [Int: Int]) -> (Int, Int) {
        let ends = (line.from.box, line.to.box)
        if line.isInheritance { return ends }
        switch (line.from.mark, line.to.mark) {
        case (.one, .many), (.none, .many): return ends
        case (.many, .one), (.none, .one): return (ends.1, ends.0)
        default:
            let isReversed = degrees[ends.0, default: 0] < degrees[ends.1, default: 0]
            return isReversed ? (ends.1, ends.0) : ends
        }
    }

    /// Returns the boxes in an order in which few lines lead from right to left. A box that has predecessors but no
    /// successors among the remaining boxes goes to the end. If there is no such box, the box with the largest number of
    /// successors minus predecessors goes to the start.
    private func sequence() -> [Int] {
        var start: [Int] = []
        var end: [Int] = []
        var rest = Set(group)
        var outgoingCounts = successors.mapValues(\.count)
        var incomingCounts = predecessors.mapValues(\.count)
        func remove(_ box: Int) {
            rest.remove(box)
            for other in successors[box] ?? [] { incomingCounts[other, default: 0] -= 1 }
            for other in predecessors[box] ?? [] { outgoingCounts[other, default: 0] -= 1 }
        }
        while !rest.isEmpty {
            let sorted = rest.sorted()
            if let sink = sorted.first(where: {
                outgoingCounts[$0, default: 0] == 0 && incomingCounts[$0, default: 0] > 0
            }) {
                end.append(sink)
                remove(sink)
                continue
            }
            let source = sorted.max {
                outgoingCounts[$0, default: 0] - incomingCounts[$0, default: 0] < outgoingCounts[$1, default: 0]
                    - incomingCounts[$1, default: 0]
            }
            guard let source else { break }
            start.append(source)
            remove(source)
        }
        return start + end.reversed()
    }

    /// Puts each box into the first layer that has room and is on the right of all neighbors that were placed before.
    private mutating func assignLayers(in sequence: [Int]) {
        let area = group.reduce(0.0) { $0 + (graph.boxes[$1].width + 100) * (graph.boxes[$1].height + 30) }
        let room = max((area / 1.4).squareRoot(), group.map { graph.boxes[$0].height }.max() ?? 0)
        var heights: [Int: Double] = [:]
        for box in sequence {
            let neighbors = (predecessors[box] ?? []).union(successors[box] ?? [])
            var layer = neighbors.compactMap { layers[$0].map { $0 + 1 } }.max() ?? 0
            let height = graph.boxes[box].height + 30
            while heights[layer, default: 0] > 0, heights[layer, default: 0] + height > room + 30 { layer += 1 }
            layers[box] = layer
            heights[layer, default: 0] += height
        }
    }
}

/// The layers of a group. A layer lists, from top to bottom, the boxes and the lines that pass between boxes.
struct LayerGrid {
    struct Node {
        /// The number of the box; nil for a passing line.
        var box: Int?
        var layer: Int
        var height: Double
    }

    /// A part of a line between two successive layers.
    struct Segment {
        var left: Int
        var right: Int
        /// The heights at which the segment starts and ends, measured from the tops of its nodes.
        var leftOffset: Double
        var rightOffset: Double
    }

    /// A line in the grid, with its nodes from left to right.
    struct Route {
        var line: Int
        var nodes: [Int]
    }

    var nodes: [Node] = []
    var layers: [[Int]]
    private(set) var segments: [Segment] = []
    private(set) var routes: [Route] = []
    /// The segments that end at a node.
    private(set) var leftSegments: [Int: [Segment]] = [:]
    /// The segments that begin at a node.
    private(set) var rightSegments: [Int: [Segment]] = [:]

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
        leftSegments = Dictionary(grouping: segments, by: \.right)
        rightSegments = Dictionary(grouping: segments, by: \.left)
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
            route.nodes.append(add(Node(box: nil, layer: layer, height: Self.dummyNodeHeight)))
        }
        route.nodes.append(right)
        for (leftNode, rightNode) in zip(route.nodes, route.nodes.dropFirst()) {
            segments.append(
                Segment(
                    left: leftNode, right: rightNode,
                    leftOffset: leftNode == left ? leftOffset : Self.dummyNodeHeight / 2,
                    rightOffset: rightNode == right ? rightOffset : Self.dummyNodeHeight / 2))
        }
        routes.append(route)
    }

    private static let dummyNodeHeight = 6.0

    /// Returns the minimum distance from the top of a node to the top of the next node.
    func step(_ node: Int, _ next: Int) -> Double {
        nodes[node].height
            + (nodes[node].box != nil && nodes[next].box != nil ? 30 : nodes[next].box == nodes[node].box ? 8 : 18)
    }
}

/// Sorts the nodes of each layer, so that few lines cross.
struct LayerOrder {
    private(set) var grid: LayerGrid
    private var positions: [Int: Double] = [:]

    init(_ grid: LayerGrid) {
        self.grid = grid
        for layer in grid.layers.indices { recordPositions(of: layer) }
        sweep()
    }

    /// Goes back and forth over the layers. Sorts each layer by the neighbors in the previous layer, and keeps the
    /// order with the fewest crossings. In a large grid, keeps the last order, because counting the crossings takes too
    /// long.
    private mutating func sweep() {
        var best = (grid.layers, crossings)
        let isLarge = grid.segments.count > 1500
        for round in 0..<(isLarge ? 4 : 24) where best.1 > 0 {
            let isForward = round.isMultiple(of: 2)
            let layers = isForward ? Array(grid.layers.indices) : grid.layers.indices.reversed()
            let segments = isForward ? grid.leftSegments : grid.rightSegments
            for layer in layers.dropFirst() { sort(layer, segments, isForward) }
            let found = isLarge ? best.1 - 1 : crossings
            if found < best.1 { best = (grid.layers, found) }
        }
        grid.layers = best.0
    }

    private mutating func sort(_ layer: Int, _ segments: [Int: [LayerGrid.Segment]], _ isForward: Bool) {
        let keys = grid.layers[layer].map { node in
            let found = (segments[node] ?? []).map { isForward ? leftPosition($0) : rightPosition($0) }
            return found.isEmpty ? positions[node] ?? 0 : found.reduce(0, +) / Double(found.count)
        }
        let sorted = zip(keys, grid.layers[layer]).enumerated().sorted {
            ($0.element.0, $0.offset) < ($1.element.0, $1.offset)
        }
        grid.layers[layer] = sorted.map(\.element.1)
        recordPositions(of: layer)
    }

    private mutating func recordPositions(of layer: Int) {
        var top = 0.0
        for node in grid.layers[layer] {
            positions[node] = top
            top += grid.nodes[node].height + 12
        }
        // Centers the layer, so that the middle of a short layer is beside the middle of a long layer.
        for node in grid.layers[layer] { positions[node, default: 0] -= top / 2 }
    }

    private func leftPosition(_ segment: LayerGrid.Segment) -> Double {
        (positions[segment.left] ?? 0) + segment.leftOffset
    }

    private func rightPosition(_ segment: LayerGrid.Segment) -> Double {
        (positions[segment.right] ?? 0) + segment.rightOffset
    }

    private var crossings: Int {
        Dictionary(grouping: grid.segments) { grid.nodes[$0.left].layer }.values.reduce(0) { total, segments in
            let positions = segments.map { (leftPosition($0), rightPosition($0)) }.sorted { $0 < $1 }
            return total
                + positions.indices.reduce(0) { sum, index in
                    sum + positions[(index + 1)...].count { $0.1 < positions[index].1 }
                }
        }
    }
}

/// Places the nodes of a sorted grid vertically. Keeps lines short and straight. Nodes do not overlap.
struct LayerPlacement {
    /// The top of each node.
    private(set) var tops: [Double]
    private let grid: LayerGrid

    init(_ grid: LayerGrid) {
        self.grid = grid
        tops = Array(repeating: 0, count: grid.nodes.count)
        for layer in grid.layers { placeLayer(layer) { _ in (0, 1) } }
        for round in 0..<24 {
            let layers = round.isMultiple(of: 2) ? Array(grid.layers.indices) : grid.layers.indices.reversed()
            for layer in layers { placeLayer(grid.layers[layer], preference) }
        }
        let highest = tops.min() ?? 0
        tops = tops.map { $0 - highest }
    }

    /// Returns the preferred top of a node and the weight of this preference. The preferred top is the average over the node's
    /// lines. A passing line has the weight of a box with four lines.
    private func preference(of node: Int) -> (top: Double, weight: Double) {
        let preferences =
            (grid.leftSegments[node] ?? []).map { tops[$0.left] + $0.leftOffset - $0.rightOffset }
            + (grid.rightSegments[node] ?? []).map { tops[$0.right] + $0.rightOffset - $0.leftOffset }
        guard !preferences.isEmpty else { return (tops[node], 0.1) }
        return (
            preferences.reduce(0, +) / Double(preferences.count),
            grid.nodes[node].box == nil ? 4 : Double(preferences.count)
        )
    }

    /// Places the nodes of a layer as near to their preferred tops as their order and heights allow. Nodes that would overlap
    /// form a block, which is placed at the average of their preferred tops.
    private mutating func placeLayer(_ layer: [Int], _ preference: (Int) -> (top: Double, weight: Double)) {
        var blocks: [(preference: Double, weight: Double, count: Int)] = []
        var offsets: [Double] = []
        for (index, node) in layer.enumerated() {
            let offset = index == 0 ? 0 : (offsets.last ?? 0) + grid.step(layer[index - 1], node)
            offsets.append(offset)
            let preference = preference(node)
            var block = (preference: preference.top - offset, weight: preference.weight, count: 1)
            while let last = blocks.last, last.preference > block.preference {
                blocks.removeLast()
                let weight = last.weight + block.weight
                block.preference = (last.preference * last.weight + block.preference * block.weight) / weight
                block.weight = weight
                block.count += last.count
            }
            blocks.append(block)
        }
        let positions = blocks.flatMap { Array(repeating: $0.preference, count: $0.count) }
        for (index, node) in layer.enumerated() { tops[node] = positions[index] + offsets[index] }
    }
}
