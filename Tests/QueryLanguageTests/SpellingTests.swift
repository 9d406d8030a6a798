import Foundation
import QueryLanguage
import TestSupport
import Testing

/// A text can be looked up by all ways to write it, none of which is missing.
@Suite struct SpellingTests {
    private func bytes(_ texts: some Sequence<String>) -> Set<[UInt8]> { Set(texts.map { Array($0.utf8) }) }

    private func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    @Test func fewStringsAreWrittenInMoreThanOneWay() {
        #expect("plain\r\n".spellings == ["plain\r\n"])
        #expect("中文".spellings.map(bytes) == bytes(["中文"]))
        #expect("Kate".spellings.map(bytes) == bytes(["Kate", "\u{212A}ate"]))
        #expect("a;b`".spellings?.count == 4)
        #expect("José".spellings.map(bytes) == bytes(["Jos\u{E9}", "Jose\u{301}", "Jose\u{341}"]))
        #expect("Å".spellings.map(bytes) == bytes(["\u{C5}", "A\u{30A}", "\u{212B}"]))
        #expect("각".spellings.map(bytes) == bytes(["\u{AC01}", "\u{AC00}\u{11A8}", "\u{1100}\u{1161}\u{11A8}"]))
        #expect("KKKKK".spellings == nil)
        #expect("\u{FFFD}".spellings == nil)
        #expect(String(repeating: "ö", count: 1000).spellings == nil)
    }

    /// Every scalar of Unicode that others are equal to, with them, as the running system has it.
    private func compositions() -> [(scalar: Unicode.Scalar, parts: [Unicode.Scalar])] {
        let scalars = (UInt32(0)...0x10_FFFF).compactMap(Unicode.Scalar.init).filter { $0 != "\n" }
        let all = text(scalars.flatMap { [$0, "\n"] }).decomposedStringWithCanonicalMapping
        return zip(scalars, all.unicodeScalars.split(separator: "\n")).filter { $0 != $1.first }.map { ($0, Array($1)) }
    }

    @Test func everyScalarThatStandsForOthersIsKnown() {
        let compositions = compositions()
        #expect(compositions.count > 13_000)
        for (scalar, parts) in compositions {
            guard let spellings = String(scalar).spellings.map(bytes) else { continue }
            let isKnown = spellings.contains(Array(String(scalar).utf8)) && spellings.contains(Array(text(parts).utf8))
            #expect(isKnown, "\(String(scalar.value, radix: 16))")
        }
    }

    /// All texts of up to three of these scalars, grouped by Swift's equality.
    @Test func theSpellingsAreTheStringsThatSwiftConsidersEqual() throws {
        let alphabet: [Unicode.Scalar] = [
            "a", "e", "\u{301}", "\u{341}", "é", "K", "\u{212A}", "\u{323}", "ẹ", "ê", "\u{302}", "ệ", "\u{308}",
            "\u{344}",
            "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", ";", "\u{37E}", "\u{F71}", "\u{F72}", "\u{F73}",
        ]
        var texts: [[Unicode.Scalar]] = [[]]
        var classes: [String: Set<[UInt8]>] = [:]
        for _ in 0..<3 {
            texts = texts.flatMap { start in alphabet.map { start + [$0] } }
            for scalars in texts { classes[text(scalars), default: []].insert(Array(text(scalars).utf8)) }
        }
        let known = Set(alphabet)
        var compared = 0
        for (text, equal) in classes {
            guard let spellings = text.spellings else { continue }
            compared += 1
            let found = spellings.filter { $0.unicodeScalars.count <= 3 && known.isSuperset(of: $0.unicodeScalars) }
            try #require(bytes(found) == equal, "\(text.unicodeScalars.map(\.value))")
        }
        #expect(compared > 5_000)
    }

    /// A walk from one way to write a text to others, one step at a time, never leaves its spellings.
    @Test func noStepLeadsOutOfTheSpellings() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        let rare = compositions().filter { !(0xAC00...0xD7A3).contains($0.scalar.value) }
        let pieces = [
            "a", "e", "o", "é", "e\u{301}", "ô", "\u{323}", "\u{31B}", "ợ", "K", "\u{212B}", "ß", "각", "\u{1100}", "가",
            "\u{1F82}", "\u{345}", "\u{9CB}", "\u{9D7}", "\u{F75}", "\u{FB2C}", "\u{2F800}", "\u{1D15E}", "が",
            "\u{3099}", "中",
        ]
        for _ in 0..<3_000 {
            let start = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let (scalar, parts) = rare[Int.random(in: 0..<rare.count, using: &random)]
                let piece = pieces[Int.random(in: 0..<pieces.count, using: &random)]
                return [piece, piece, String(scalar), text(parts)][Int.random(in: 0..<4, using: &random)]
            }.joined()
            guard let spellings = start.spellings else { continue }
            let known = bytes(spellings)
            try #require(known.count == spellings.count && spellings.allSatisfy { $0 == start }, "seed \(seed)")
            var scalars = Array(start.unicodeScalars)
            for _ in 0..<40 {
                let next = step(scalars, &random)
                guard text(next) == start else { continue }
                scalars = next
                try #require(known.contains(Array(text(scalars).utf8)), "seed \(seed): \(scalars.map(\.value))")
            }
        }
    }

    /// Takes a scalar apart, puts two together, or exchanges two.
    private func step(_ scalars: [Unicode.Scalar], _ random: inout SeededRandom) -> [Unicode.Scalar] {
        var scalars = scalars
        let place = Int.random(in: 0..<scalars.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let parts = String(scalars[place]).decomposedStringWithCanonicalMapping
            scalars.replaceSubrange(place...place, with: parts.unicodeScalars)
        case 1 where place + 1 < scalars.count:
            let composed = text(scalars[place...place + 1]).precomposedStringWithCanonicalMapping
            scalars.replaceSubrange(place...place + 1, with: composed.unicodeScalars)
        case 2 where place + 1 < scalars.count: scalars.swapAt(place, place + 1)
        default: break
        }
        return scalars
    }
}
