import RowStore
import TestSupport
import Testing

/// Rows that were read together share memory, and none of them changes with another.
struct RowPagesTests {
    /// A row of a number and a string, packed as a store packs it.
    private func row(_ number: Int, _ text: String, _ pages: inout RowPages) -> RowSnapshot {
        let head = RowSnapshot.headWords(2)
        let bytes = Array(text.utf8)
        return pages.row(head + (bytes.count + 7) / 8) { words in
            words.initialize(repeating: 0, count: head + (bytes.count + 7) / 8)
            words[0] = 2
            words[1] = 3
            words[2] = UInt64(number)
            words[3] = UInt64(head) << 32 | UInt64(bytes.count)
            bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                UnsafeMutableRawPointer(words + head).copyMemory(from: start, byteCount: bytes.count)
            }
        }
    }

    @Test func rowsOfAPageAreTheirOwnValues() {
        var pages = RowPages()
        var rows = (0..<500).map { row($0, String(repeating: "x", count: $0 % 70), &pages) }
        for (number, row) in rows.enumerated() {
            #expect(row.integer(0) == Int64(number))
            #expect(row.text(1) == String(repeating: "x", count: number % 70))
            #expect(row.columnCount == 2 && row.wordCount == 4 + (number % 70 + 7) / 8)
        }
        let before = rows
        for number in rows.indices where number % 3 == 0 {
            rows[number].setInteger(-1, 0)
            rows[number].setText("a longer string than there was before, and longer still", 1)
            rows[number].setNull(number % 2)
        }
        for (number, row) in before.enumerated() {
            #expect(row.integer(0) == Int64(number))
            #expect(row.text(1).utf8.count == number % 70)
            if number % 3 != 0 {
                #expect(rows[number].isIdentical(to: row))
            } else {
                #expect(!rows[number].hasSameWords(as: row))
            }
        }
    }

    @Test func aRowThatIsEditedKeepsNoMemoryOfOthers() {
        var pages = RowPages()
        var rows = (0..<10).map { row($0, "text", &pages) }
        #expect(rows[9].sharesMemory)
        rows[9].setInteger(1, 0)
        #expect(!rows[9].sharesMemory)
    }

    @Test func rowsThatDoNotShareMemoryAreTheirOwnValues() {
        var pages = RowPages(isShared: false)
        let rows = (0..<100).map { row($0, "\($0)", &pages) }
        #expect(rows.allSatisfy { !$0.sharesMemory })
        #expect(rows.map { $0.text(1) } == (0..<100).map { "\($0)" })
    }

    /// One that is larger than a page has its own.
    @Test func aLargeRowBetweenSmallOnes() {
        var pages = RowPages()
        let large = String(repeating: "large", count: 5_000)
        let rows = (0..<30).map { row($0, $0 % 10 == 5 ? large : "small", &pages) }
        for (number, row) in rows.enumerated() {
            #expect(row.text(1) == (number % 10 == 5 ? large : "small"))
            #expect(row.integer(0) == Int64(number))
        }
    }

    /// Random writes to copies of rows, compared with values.
    @Test func copiesChangeAlone() {
        var random = SeededRandom(seed: 20_261_124)
        var pages = RowPages()
        var rows = (0..<40).map { row($0, "\($0)", &pages) }
        var texts = (0..<40).map { "\($0)" as String? }
        var numbers = (0..<40).map { Int64($0) as Int64? }
        for _ in 0..<5_000 {
            let (to, from) = (Int.random(in: 0..<40, using: &random), Int.random(in: 0..<40, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (rows[to], texts[to], numbers[to]) = (rows[from], texts[from], numbers[from])
            case 1:
                let text = String(repeating: "é", count: Int.random(in: 0..<40, using: &random))
                rows[to].setText(text, 1)
                texts[to] = text
            case 2:
                rows[to].setInteger(Int64(from), 0)
                numbers[to] = Int64(from)
            case 3:
                rows[to].setNull(1)
                texts[to] = nil
            default: rows[to] = RowSnapshot(copying: rows[to], spareWords: 3)
            }
        }
        for place in rows.indices {
            #expect((rows[place].isNull(1) ? nil : rows[place].text(1)) == texts[place])
            #expect((rows[place].isNull(0) ? nil : rows[place].integer(0)) == numbers[place])
        }
    }
}
