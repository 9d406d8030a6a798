/// The places of the objects of an ordered relationship: numbers with gaps, so that an object can be put between two others
/// without moving them.
///
/// It is pure: it takes the old places and the new order, and returns the new places.
package enum ListPositions {
    /// The gap between objects that are added at an end.
    private static let gap: Int128 = 1 << 32
    /// The smallest gap for each object that is left where objects had to be moved, so that later ones need not be. The more
    /// objects are moved, the wider the gaps: the next move of as many is as many inserts away, wherever they come.
    private static let room: Int128 = 1 << 10

    /// The place of an object that is added at the end.
    static func next(after last: Int64?) -> Int64 {
        guard let last else { return 0 }
        return Int64(clamping: Int128(last) + gap)
    }

    /// Places in ascending order, of which as many as possible are unchanged.
    ///
    /// - Parameter places: The old place of each object; nil for a new one.
    /// - Complexity: O(n log n).
    package static func positions(keeping places: [Int64?]) -> [Int64] {
        let known = places.indices.filter { places[$0] != nil }
        var positions = [Int64?](repeating: nil, count: places.count)
        for place in longestIncreasingSubsequence(known.map { Int(places[$0] ?? 0) }) {
            positions[known[place]] = places[known[place]]
        }
        var index = 0
        while index < positions.count {
            guard positions[index] == nil else {
                index += 1
                continue
            }
            let end = positions[index...].firstIndex { $0 != nil } ?? positions.count
            fill(&positions, index..<end)
            index = end
        }
        return positions.map { $0 ?? 0 }
    }

    /// Gives places to objects that have none, and new places to as few others as possible.
    private static func fill(_ positions: inout [Int64?], _ missing: Range<Int>) {
        var window = missing
        var width = 1
        while true {
            let low = window.lowerBound == 0 ? nil : positions[window.lowerBound - 1]
            let high = window.upperBound == positions.count ? nil : positions[window.upperBound]
            let smallestGap = window == missing ? 1 : min(gap, room * Int128(window.count))
            if let places = spread(window.count, low, high, smallestGap: smallestGap) {
                for (index, place) in zip(window, places) { positions[index] = place }
                return
            }
            window = max(0, window.lowerBound - width)..<min(positions.count, window.upperBound + width)
            width *= 2
        }
    }

    /// That many places between two others; nil if there is no room.
    private static func spread(_ count: Int, _ low: Int64?, _ high: Int64?, smallestGap: Int128) -> [Int64]? {
        let count = Int128(count)
        let start: Int128
        var step = gap
        switch (low.map { Int128($0) }, high.map { Int128($0) }) {
        case (nil, nil): start = -gap
        case (nil, let high?): start = high - gap * (count + 1)
        case (let low?, nil): start = low
        case (let low?, let high?):
            step = min(gap, (high - low) / (count + 1))
            // In the middle of the free range, so that there is room on both sides.
            start = low + (high - low - step * (count + 1)) / 2
        }
        guard step >= smallestGap, Int64(exactly: start + step) != nil, Int64(exactly: start + step * count) != nil
        else {
            return nil
        }
        return (1...Int(count)).map { Int64(start + step * Int128($0)) }
    }
}
