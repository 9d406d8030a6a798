@testable import ModelReader
import TestSupport
import Testing

@Suite struct EditScriptTests {
    private static let seed = testSeed()

    /// Blocks in the order of their heads, each with lines in order.
    private static func text(_ random: inout SeededRandom) -> [String] {
        (0..<8).flatMap { block -> [String] in
            guard random.next(below: 4) > 0 else { return [] }
            let lines = (0..<6).filter { _ in random.next(below: 3) > 0 }
            return ["block \(block)"] + lines.map { "  line \($0) \(random.next(below: 8) == 0 ? "é" : "e\u{301}")" }
        }
    }

    @Test func aScriptMakesTheOtherTextAgain() throws {
        var random = SeededRandom(seed: EditScriptTests.seed)
        for round in 0..<2_000 {
            let (old, new) = (EditScriptTests.text(&random), EditScriptTests.text(&random))
            var read = EditScript()
            for line in EditScript(from: old, to: new).lines {
                let isRead = read.append(line)
                #expect(isRead)
            }
            let made = try #require(read.applied(to: old))
            #expect(
                made.map { Array($0.utf8) } == new.map { Array($0.utf8) },
                "seed \(EditScriptTests.seed), round \(round)")
        }
    }

    @Test func aScriptHasOnlyWhatDiffers() {
        let old = ["model", "entity A", "  a", "  b", "  c", "entity B", "  a", "  b", "entity D", "  a"]
        let new = ["model", "entity A", "  a", "  bb", "  c", "entity C", "  a", "entity D", "  a"]
        #expect(
            EditScript(from: old, to: new).lines
                == ["keep 3", "add   bb", "drop 1", "keep 1", "add entity C", "add   a", "drop 3"])
        #expect(EditScript(from: old, to: old).lines == [])
    }

    @Test(arguments: ["keep", "keep 0", "keep -1", "keep x", "drop 99999999999999999999", "move 1", ""])
    func anInvalidStepIsRefused(_ line: String) {
        var script = EditScript()
        let isRead = script.append(line)
        #expect(!isRead)
    }

    @Test(arguments: ["keep 3", "drop 3", "keep 9223372036854775807"])
    func aScriptOfALongerTextIsRefused(_ line: String) {
        var script = EditScript()
        let areRead = script.append("keep 1") && script.append(line)
        #expect(areRead && script.applied(to: ["a", "b", "c"]) == nil)
    }
}
