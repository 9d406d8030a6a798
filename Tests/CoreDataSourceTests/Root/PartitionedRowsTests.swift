import CoreDataSource
import TestSupport
import Testing

/// Values in parts.
struct PartitionedRowsTests {
    /// Whatever is done, it holds what a dictionary holds, and copies stay as they are.
    @Test func partitionedRowsAreADictionaryWhoseCopiesStay() {
        var random = SeededRandom(seed: testSeed())
        var rows = PartitionedRows<Int64, [Int]>()
        var expected: [Int64: [Int]] = [:]
        var copies: [(PartitionedRows<Int64, [Int]>, [Int64: [Int]])] = []
        for step in 0..<20_000 {
            let key = Int64(random.next(below: 3_000))
            switch random.next(below: 5) {
            case 0:
                #expect(rows.updateValue([step], forKey: key) == expected.updateValue([step], forKey: key))
            case 1: #expect(rows.removeValue(forKey: key) == expected.removeValue(forKey: key))
            case 2:
                rows.change(key, initial: []) { $0.append(step) }
                expected[key, default: []].append(step)
            case 3:
                let goes = step.isMultiple(of: 2)
                rows.removeIf(key) { values in
                    values.append(step)
                    return goes
                }
                expected[key]?.append(step)
                if goes { expected[key] = nil }
            default: #expect(rows[key] == expected[key])
            }
            if step.isMultiple(of: 4_000) { copies.append((rows, expected)) }
        }
        copies.append((rows, expected))
        for (rows, expected) in copies {
            #expect(rows.count == expected.count)
            #expect(rows.isEmpty == expected.isEmpty)
            #expect(Dictionary(uniqueKeysWithValues: rows.all.map { ($0.key, $0.value) }) == expected)
        }
    }

    /// Keys that follow each other, as those of rows do, and keys of any size are spread alike.
    @Test(arguments: [Int64(1), 1024, 0x1_0000_0001])
    func noPartIsMuchLargerThanTheOthers(distance: Int64) {
        var rows = PartitionedRows<Int64, Int>()
        for number in 0..<Int64(20_000) { rows.updateValue(0, forKey: number &* distance) }
        #expect(rows.largestPartCount <= 4 * PartitionedRows<Int64, Int>.partLimit)
    }
}
