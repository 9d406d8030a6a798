import CoreDataSource
import Testing
import TestSupport

/// Orders that two sides have changed.
struct OrderMergeTests {
    private func merge(_ base: String, _ mine: String, _ theirs: String, isMine: Bool = true) -> String {
        let (base, mine, theirs) = (Array(base), Array(mine), Array(theirs))
        let present = Set(mine).union(theirs).filter { element in
            !base.contains(element) || mine.contains(element) && theirs.contains(element)
        }
        return String(
            OrderMerge.merge(base: base, mine: mine, theirs: theirs, present: present.sorted(), isMine: isMine))
    }

    @Test func theSideThatMovedLeads() {
        #expect(merge("abc", "cab", "abc") == "cab")
        #expect(merge("abc", "abc", "cab") == "cab")
        #expect(merge("abc", "cab", "bca") == "cab")
        #expect(merge("abc", "cab", "bca", isMine: false) == "bca")
    }

    @Test func anAddedElementFollowsTheSameElement() {
        #expect(merge("abc", "abxc", "abyc") == "abxyc" || merge("abc", "abxc", "abyc") == "abyxc")
        #expect(merge("abc", "xabc", "cab") == "xcab")
        #expect(merge("abc", "cab", "abcz") == "czab")
        #expect(merge("", "xy", "z").count == 3)
    }

    @Test func aRemovedElementIsLeftOutOfTheMerge() {
        #expect(merge("abcd", "dbc", "abc") == "bc")
    }

    @Test func onlyDifferentMovesAreAConflict() {
        func isConflict(_ base: String, _ mine: String, _ theirs: String) -> Bool {
            OrderMerge.isConflict(base: Array(base), mine: Array(mine), theirs: Array(theirs))
        }
        #expect(isConflict("abc", "bac", "acb"))
        #expect(!isConflict("abc", "bac", "bac"))
        #expect(!isConflict("abc", "bac", "abcd"))
        #expect(!isConflict("abc", "abxc", "yabc"))
        #expect(!isConflict("abc", "ab", "bac"))
    }

    /// Whatever was done, each element that is there comes once.
    @Test func aMergeIsAPermutation() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let base = Array(0..<random.next(below: 6))
            func side(_ first: Int) -> [Int] {
                (base.filter { _ in random.next(below: 4) > 0 } + (0..<random.next(below: 3)).map { first + $0 })
                    .shuffled(using: &random)
            }
            let (mine, theirs) = (side(10), side(20))
            let present = Array(Set(mine + theirs).filter { _ in random.next(below: 5) > 0 }).sorted()
            let merged = OrderMerge.merge(
                base: base, mine: mine, theirs: theirs, present: present, isMine: random.next(below: 2) == 0)
            #expect(merged.sorted() == present, "base \(base), mine \(mine), theirs \(theirs)")
        }
    }
}
