import RowStore
import Testing

struct SaveNumberTests {
    @Test func numbersHaveTheOrderOfTheSaves() {
        let first = SaveNumber.beforeFirst.next
        #expect(SaveNumber.neverRead < .beforeFirst && SaveNumber.beforeFirst < first && first < first.next)
        #expect(SaveNumber.neverRead.next == .beforeFirst)
        #expect(first.rawValue == 1 && first == SaveNumber(1))
        #expect(first.distance(to: SaveNumber(4)) == 3 && SaveNumber(4).advanced(by: -3) == first)
        #expect((first..<SaveNumber(4)).map(\.rawValue) == [1, 2, 3])
    }

    /// Each object has the number of a save, so a number must not need more memory than an integer.
    @Test func aNumberIsAsLargeAsAnInteger() {
        #expect(MemoryLayout<SaveNumber>.size == MemoryLayout<Int64>.size)
        #expect(MemoryLayout<SaveNumber?>.size == MemoryLayout<Int64?>.size)
    }

    @Test func aChangeSetHasOneNumber() {
        var changes = ChangeSet(entities: [])
        #expect(changes.saveNumber == .beforeFirst && changes.number == 0)
        changes.number = 7
        #expect(changes.saveNumber == SaveNumber(7))
        changes.saveNumber = SaveNumber(8)
        #expect(changes.number == 8)
    }
}
