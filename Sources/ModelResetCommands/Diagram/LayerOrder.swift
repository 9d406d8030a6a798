/// Sorts the layers so that few lines cross.
struct LayerOrder {
    private(set) var grid: LayerGrid
    private var places: [Int: Double] = [:]
    private let leftSegments: [Int: [LayerGrid.Segment]]
    private let rightSegments: [Int: [LayerGrid.Segment]]

    init(_ grid: LayerGrid) {
        self.grid = grid
        leftSegments = Dictionary(grouping: grid.segments, by: \.right)
        rightSegments = Dictionary(grouping: grid.segments, by: \.left)
        for layer in grid.layers.indices { notePlaces(of: layer) }
        sweep()
    }

    /// Moves back and forth, sorts each layer by the neighbours in the previous one, and keeps the best order.
    private mutating func sweep() {
        var best = (grid.layers, crossings)
        let isLarge = grid.segments.count > 1500
        for round in 0..<(isLarge ? 4 : 24) where best.1 > 0 {
            let isForward = round.isMultiple(of: 2)
            let layers = isForward ? Array(grid.layers.indices) : grid.layers.indices.reversed()
            for layer in layers.dropFirst() { sort(layer, isForward ? leftSegments : rightSegments, isForward) }
            let found = isLarge ? best.1 - 1 : crossings
            if found < best.1 { best = (grid.layers, found) }
        }
        grid.layers = best.0
    }

    private mutating func sort(_ layer: Int, _ segments: [Int: [LayerGrid.Segment]], _ isForward: Bool) {
        let keys = grid.layers[layer].map { node in
            let found = (segments[node] ?? []).map { isForward ? leftPlace($0) : rightPlace($0) }
            return found.isEmpty ? places[node] ?? 0 : found.reduce(0, +) / Double(found.count)
        }
        let sorted = zip(keys, grid.layers[layer]).enumerated().sorted {
            ($0.element.0, $0.offset) < ($1.element.0, $1.offset)
        }
        grid.layers[layer] = sorted.map(\.element.1)
        notePlaces(of: layer)
    }

    private mutating func notePlaces(of layer: Int) {
        var top = 0.0
        for node in grid.layers[layer] {
            places[node] = top
            top += grid.nodes[node].height + 12
        }
        // So that a short layer is not at the top of a long one.
        for node in grid.layers[layer] { places[node, default: 0] -= top / 2 }
    }

    private func leftPlace(_ segment: LayerGrid.Segment) -> Double {
        (places[segment.left] ?? 0) + segment.leftOffset
    }

    private func rightPlace(_ segment: LayerGrid.Segment) -> Double {
        (places[segment.right] ?? 0) + segment.rightOffset
    }

    private var crossings: Int {
        Dictionary(grouping: grid.segments) { grid.nodes[$0.left].layer }.values.reduce(0) { total, segments in
            let places = segments.map { (leftPlace($0), rightPlace($0)) }.sorted { $0 < $1 }
            return total
                + places.indices.reduce(0) { sum, index in
                    sum + places[(index + 1)...].count { $0.1 < places[index].1 }
                }
        }
    }
}
