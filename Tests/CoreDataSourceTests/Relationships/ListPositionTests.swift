import CoreDataSource
import TestSupport
import Testing

struct ListPositionTests {
    /// Places are made known to a model of the list, which counts those that change.
    private func writes(inserting count: Int, at place: (_ count: Int, inout SeededRandom) -> Int) -> Int {
        var random = SeededRandom(seed: 7)
        var places: [Int64] = []
        var writes = 0
        for number in 0..<count {
            var wanted: [Int64?] = places
            wanted.insert(nil, at: place(number, &random))
            let next = ListPositions.positions(keeping: wanted)
            #expect(zip(next, next.dropFirst()).allSatisfy { $0 < $1 })
            writes += zip(next, wanted).count { $0 != $1 }
            places = next
        }
        return writes
    }

    @Test func insertingAtOnePlaceWritesFewRows() {
        #expect(writes(inserting: 1000) { count, _ in min(5, count) } <= 1000 * 4)
        #expect(writes(inserting: 1000) { _, _ in 0 } == 1000)
        #expect(writes(inserting: 1000) { count, _ in count } == 1000)
        #expect(writes(inserting: 1000) { count, _ in count / 2 } <= 1000 * 6)
        #expect(writes(inserting: 1000) { count, random in Int.random(in: 0...count, using: &random) } <= 1000 * 2)
    }

    @Test func movingOneObjectWritesOneRow() {
        let places = (0..<100).map { Int64($0) << 32 }
        var wanted = places
        wanted.insert(wanted.remove(at: 80), at: 3)
        #expect(zip(ListPositions.positions(keeping: wanted), wanted).count { $0 != $1 } == 1)
    }

    @Test(arguments: [
        [Int64.max, nil], [nil, Int64.min], [Int64.min, nil, Int64.min + 1], [Int64.max - 1, nil, Int64.max],
        [nil, nil, nil], [], [5, 5, nil, 5], [3, 2, 1],
    ])
    func placesAscendWhateverWasThere(places: [Int64?]) {
        let positions = ListPositions.positions(keeping: places)
        #expect(positions.count == places.count)
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
    }
}
