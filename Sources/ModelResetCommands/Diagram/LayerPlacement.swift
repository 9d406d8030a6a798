/// Places each node of a sorted grid vertically, so that lines are short and straight and nothing overlaps.
struct LayerPlacement {
    /// The top of each node.
    private(set) var tops: [Double]
    private let grid: LayerGrid
    private let leftSegments: [Int: [LayerGrid.Segment]]
    private let rightSegments: [Int: [LayerGrid.Segment]]

    init(_ grid: LayerGrid) {
        self.grid = grid
        leftSegments = Dictionary(grouping: grid.segments, by: \.right)
        rightSegments = Dictionary(grouping: grid.segments, by: \.left)
        tops = Array(repeating: 0, count: grid.nodes.count)
        for layer in grid.layers { place(layer) { _ in (0, 1) } }
        for round in 0..<24 {
            let layers = round.isMultiple(of: 2) ? Array(grid.layers.indices) : grid.layers.indices.reversed()
            for layer in layers { place(grid.layers[layer], wish) }
        }
        let highest = tops.min() ?? 0
        tops = tops.map { $0 - highest }
    }

    /// The average height of the node's lines, and its weight: greatest for lines that pass.
    private func wish(of node: Int) -> (top: Double, weight: Double) {
        let wishes =
            (leftSegments[node] ?? []).map { tops[$0.left] + $0.leftOffset - $0.rightOffset }
            + (rightSegments[node] ?? []).map { tops[$0.right] + $0.rightOffset - $0.leftOffset }
        guard !wishes.isEmpty else { return (tops[node], 0.1) }
        return (wishes.reduce(0, +) / Double(wishes.count), grid.nodes[node].box == nil ? 4 : Double(wishes.count))
    }

    /// Places the nodes of a layer as near to their wishes as their order and their heights allow. Nodes that would overlap are
    /// joined into a block at their average wish.
    private mutating func place(_ layer: [Int], _ wish: (Int) -> (top: Double, weight: Double)) {
        var blocks: [(wish: Double, weight: Double, count: Int)] = []
        var offsets: [Double] = []
        for (index, node) in layer.enumerated() {
            let offset = index == 0 ? 0 : (offsets.last ?? 0) + grid.step(layer[index - 1], node)
            offsets.append(offset)
            let wish = wish(node)
            var block = (wish: wish.top - offset, weight: wish.weight, count: 1)
            while let last = blocks.last, last.wish > block.wish {
                blocks.removeLast()
                let weight = last.weight + block.weight
                block.wish = (last.wish * last.weight + block.wish * block.weight) / weight
                block.weight = weight
                block.count += last.count
            }
            blocks.append(block)
        }
        let places = blocks.flatMap { Array(repeating: $0.wish, count: $0.count) }
        for (index, node) in layer.enumerated() { tops[node] = places[index] + offsets[index] }
    }
}
