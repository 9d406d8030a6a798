import RowStore
import Testing

struct ChunksTests {
    @Test(arguments: 0...7)
    func chunksHaveAllElementsInOrder(count: Int) {
        let numbers = Array(0..<count)
        let chunks = numbers.chunks(ofSize: 3).map(Array.init)
        #expect(chunks.flatMap(\.self) == numbers)
        #expect(chunks.dropLast().allSatisfy { $0.count == 3 })
        #expect(chunks.allSatisfy { !$0.isEmpty })
    }

    @Test func chunksOfASliceBeginAtItsFirstElement() {
        #expect(Array(0..<6)[1..<5].chunks(ofSize: 3).map(Array.init) == [[1, 2, 3], [4]])
    }
}
