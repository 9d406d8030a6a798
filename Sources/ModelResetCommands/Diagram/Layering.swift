/// Gives each box of a group a layer, so that every line leads from a layer to a later one.
struct Layering {
    /// The layer of each box, by its number.
    private(set) var layers: [Int: Int] = [:]
    private let graph: EntityGraph
    private let group: [Int]
    /// The boxes that each box should be to the left of.
    private var later: [Int: Set<Int>] = [:]
    private var earlier: [Int: Set<Int>] = [:]

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
            let (one, other) = Layering.orientation(of: line, degrees)
            later[one, default: []].insert(other)
            earlier[other, default: []].insert(one)
        }
        place(in: sequence())
    }

    /// Parents are to the left of children, the one side of the many side, and boxes with many dependents of those with few.
    private static func orientation(of line: EntityGraph.Line, _ degrees: [Int: Int]) -> (Int, Int) {
        let straight = (line.from.box, line.to.box)
        if line.isInheritance { return straight }
        switch (line.from.mark, line.to.mark) {
        case (.one, .many), (.none, .many): return straight
        case (.many, .one), (.none, .one): return (straight.1, straight.0)
        default:
            let isReversed = degrees[straight.0, default: 0] < degrees[straight.1, default: 0]
            return isReversed ? (straight.1, straight.0) : straight
        }
    }

    /// An order of the boxes that violates few of the wishes above: boxes without later ones are put at its end, those without
    /// earlier ones at its start, and of the rest first the one with the most wishes for the start.
    private func sequence() -> [Int] {
        var start: [Int] = []
        var end: [Int] = []
        var rest = Set(group)
        var out = later.mapValues(\.count)
        var into = earlier.mapValues(\.count)
        func take(_ box: Int) {
            rest.remove(box)
            for other in later[box] ?? [] { into[other, default: 0] -= 1 }
            for other in earlier[box] ?? [] { out[other, default: 0] -= 1 }
        }
        while !rest.isEmpty {
            let sorted = rest.sorted()
            if let sink = sorted.first(where: { out[$0, default: 0] == 0 && into[$0, default: 0] > 0 }) {
                end.append(sink)
                take(sink)
                continue
            }
            let source = sorted.max {
                out[$0, default: 0] - into[$0, default: 0] < out[$1, default: 0] - into[$1, default: 0]
            }
            guard let source else { break }
            start.append(source)
            take(source)
        }
        return start + end.reversed()
    }

    /// The first layer to the right of all earlier boxes that has room.
    private mutating func place(in sequence: [Int]) {
        let area = group.reduce(0.0) { $0 + (graph.boxes[$1].width + 100) * (graph.boxes[$1].height + 30) }
        let room = max((area / 1.4).squareRoot(), group.map { graph.boxes[$0].height }.max() ?? 0)
        var heights: [Int: Double] = [:]
        for box in sequence {
            let neighbors = (earlier[box] ?? []).union(later[box] ?? [])
            var layer = neighbors.compactMap { layers[$0].map { $0 + 1 } }.max() ?? 0
            let height = graph.boxes[box].height + 30
            while heights[layer, default: 0] > 0, heights[layer, default: 0] + height > room + 30 { layer += 1 }
            layers[box] = layer
            heights[layer, default: 0] += height
        }
    }
}
