import ErrorExpectations
import ManagedModel
import RowStore
import Testing

/// Strings as predicates compare and sort them.
struct StringMatchingTests {
    private static let insensitive: StringOptions = [.caseInsensitive, .diacriticInsensitive]

    private func accepts(
        _ comparison: StringOperator, _ pattern: String, _ text: String, _ options: StringOptions = []
    ) throws -> Bool {
        var text = text
        let test = try StringMatcher(comparison, pattern, options)
        return text.withUTF8 { test.matchResult(UnsafeRawBufferPointer($0), QueryBudget()) == .yes }
    }

    private func order(_ lhs: String, _ rhs: String, _ options: StringSorting) -> Int {
        var (lhs, rhs) = (lhs, rhs)
        return lhs.withUTF8 { lhs in
            rhs.withUTF8 {
                StringOrder.folded(options).compare(UnsafeRawBufferPointer(lhs), UnsafeRawBufferPointer($0)).signum()
            }
        }
    }

    @Test(arguments: [
        ("Straße", "STRASSE"), ("ẞ", "ss"), ("Σίσυφος", "σίσυφοσ"), ("É", "e\u{301}"), ("İ", "i\u{307}"),
        ("K", "\u{212A}"),
        ("ǰ", "J\u{30C}"), ("각", "\u{1100}\u{1161}\u{11A8}"), ("ﬁ", "FI"), ("a\u{315}\u{300}", "A\u{300}\u{315}"),
        ("α\u{345}\u{301}", "Α\u{301}\u{345}"), ("\u{1F80}\u{301}", "\u{1F00}\u{301}\u{345}"),
        ("\u{1FB3}", "αι"),
    ])
    func stringsThatDifferInCaseAreEqual(lhs: String, rhs: String) {
        #expect(TextFolding.bytes(lhs, .caseInsensitive) == TextFolding.bytes(rhs, .caseInsensitive))
        #expect(TextFolding.bytes(lhs, []) != TextFolding.bytes(rhs, []))
    }

    @Test(arguments: [("i", "ı"), ("I", "ı"), ("i", "İ"), ("e", "é"), ("o", "ø"), ("", "\0")])
    func stringsThatDifferInMoreThanCaseAreNotEqual(lhs: String, rhs: String) {
        #expect(TextFolding.bytes(lhs, .caseInsensitive) != TextFolding.bytes(rhs, .caseInsensitive))
    }

    @Test(arguments: [("e", "é"), ("Ñandú", "Nandu"), ("e\u{301}\u{323}", "e"), ("ά", "α"), ("İ", "I")])
    func stringsThatDifferInMarksAreEqual(lhs: String, rhs: String) {
        #expect(TextFolding.bytes(lhs, .diacriticInsensitive) == TextFolding.bytes(rhs, .diacriticInsensitive))
    }

    /// A derived string that is canonical equals what it is compared with, in any script and with any marks.
    @Test func aCanonicalStringIsItsOwnFoldedForm() {
        let scalars = stride(from: UInt32(0), to: 0x10FFFF, by: 331).compactMap { Unicode.Scalar($0) }
        let words = ["हिन्दी", "أحمد", "한국", "ދިވެހި", "ไทย", "Éclair", "a\u{345}\u{301}", "\u{F940}", "Straße"]
        for text in words + scalars.flatMap({ [String($0), "a\u{323}\($0)\u{345}"] }) {
            let canonical = StringTransformation.canonical(text)
            #expect(Array(canonical.utf8) == TextFolding.bytes(text, Self.insensitive), "\(text)")
            for options in [Self.insensitive, .caseInsensitive, .diacriticInsensitive] as [StringOptions]
            where TextFolding.bytes(canonical, options) != Array(canonical.utf8) {
                Issue.record("\(text) becomes \(canonical), which folds to another string with \(options)")
            }
        }
    }

    /// For each character but unified Han characters, which have neither case nor marks.
    @Test func theCanonicalFormOfEachScalarIsItsOwn() {
        for scalar in (UInt32(0x80)...0x10FFFF).lazy.compactMap({ Unicode.Scalar($0) }) {
            let properties = scalar.properties
            if properties.isUnifiedIdeograph || [.unassigned, .privateUse].contains(properties.generalCategory) {
                continue
            }
            for text in [String(scalar), "a\u{345}\(scalar)\u{301}"] {
                let canonical = StringTransformation.canonical(text)
                for options in [Self.insensitive, .caseInsensitive, .diacriticInsensitive] as [StringOptions]
                where TextFolding.bytes(canonical, options) != Array(canonical.utf8) {
                    Issue.record("U+\(String(scalar.value, radix: 16)) with \(options.rawValue)")
                }
            }
        }
    }

    /// What the letters are without case and marks is written here by hand.
    @Test func latinLettersLoseCaseAndMarks() {
        let letters: [(base: String, letters: String)] = [
            ("a", "ÀÁÂÃÄÅàáâãäåĀāĂăĄą"), ("c", "ÇçĆćĈĉĊċČč"), ("d", "Ďď"), ("e", "ÈÉÊËèéêëĒēĔĕĖėĘęĚě"),
            ("g", "ĜĝĞğĠġĢģ"),
            ("h", "Ĥĥ"), ("i", "ÌÍÎÏìíîïĨĩĪīĬĭĮįİ"), ("j", "Ĵĵ"), ("k", "Ķķ"), ("l", "ĹĺĻļĽľ"), ("n", "ÑñŃńŅņŇň"),
            ("o", "ÒÓÔÕÖòóôõöŌōŎŏŐő"), ("r", "ŔŕŖŗŘř"), ("s", "ŚśŜŝŞşŠš"), ("t", "ŢţŤť"), ("u", "ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲų"),
            ("w", "Ŵŵ"), ("y", "ÝýÿŶŷŸ"), ("z", "ŹźŻżŽž"),
            // These have case, but no mark: a stroke is a part of the letter.
            ("æ", "Ææ"), ("ð", "Ðð"), ("ø", "Øø"), ("þ", "Þþ"), ("đ", "Đđ"), ("ħ", "Ħħ"), ("ĳ", "Ĳĳ"), ("ł", "Łł"),
            ("ŋ", "Ŋŋ"),
            ("œ", "Œœ"), ("ŧ", "Ŧŧ"), ("ŀ", "Ŀŀ"),
            ("ĸ", "ĸ"), ("ı", "ı"), ("s", "ſ"), ("ss", "ß"), ("ʼn", "ŉ"), ("×", "×"), ("÷", "÷"),
        ]
        for (base, letters) in letters {
            for letter in letters {
                #expect(StringTransformation.canonical(String(letter)) == base, "\(letter)")
                #expect(StringTransformation.canonical("x\(letter)\u{323}y") == "x\(base)y", "\(letter)")
            }
        }
        // Each letter of the two blocks is in the table.
        let all = Set((UInt32(0xC0)...0x17F).compactMap { Unicode.Scalar($0) })
        #expect(Set(letters.flatMap { $0.letters.unicodeScalars }) == all)
    }

    @Test func bytesThatAreNotUTF8AreReplaced() {
        let bytes: [UInt8] = [0x41, 0xFF, 0x42]
        #expect(
            bytes.withUnsafeBytes { TextFolding.bytes($0, .caseInsensitive) }
                == TextFolding.bytes("a\u{FFFD}b", .caseInsensitive))
    }

    @Test func partsOfStringsAreFound() throws {
        #expect(try accepts(.contains, "", ""))
        #expect(try accepts(.contains, "b\0c", "ab\0cd"))
        #expect(try !accepts(.contains, "abc", "ab"))
        #expect(try accepts(.contains, "%", "100%"))
        #expect(try accepts(.contains, "ÀB", "xa\u{300}by", .caseInsensitive))
        #expect(try accepts(.beginsWith, "AB", "äbc", StringMatchingTests.insensitive))
        #expect(try accepts(.endsWith, "BC", "äbc", StringMatchingTests.insensitive))
        #expect(try !accepts(.endsWith, "abcd", "bcd"))
        let long = String(repeating: "ab", count: 100)
        #expect(try accepts(.contains, long + "c", String(repeating: "ab", count: 5000) + "c"))
        #expect(try !accepts(.contains, long + "d", String(repeating: "ab", count: 5000) + "c"))
    }

    /// As Swift's `contains` does, which sees characters.
    @Test func aPartOfACharacterIsNoPartOfAStringOfCharacters() throws {
        #expect(try !accepts(.contains, "e", "e\u{301}", .characters))
        #expect(try accepts(.contains, "e", "e\u{301}"))
        #expect(try accepts(.contains, "\u{e9}", "caf" + "e\u{301}s", .characters))
        #expect(try !accepts(.beginsWith, "e", "e\u{301}", .characters))
        #expect(try accepts(.endsWith, "\u{e9}", "e\u{301}", .characters))
    }

    @Test(arguments: [
        ("", "", true), ("*", "", true), ("?", "", false), ("a?c", "abc", true), ("a?c", "ac", false),
        ("a*c", "abbbc", true),
        ("a*c", "abbbcd", false), ("\\*", "*", true), ("\\*", "a", false), ("a\\?", "a?", true), ("\\", "\\", true),
        ("caf?", "cafe\u{301}", true), ("?", "👩‍👩‍👧", true), ("?", "\r\n", true), ("*a*b*", "xxaxxbxx", true),
        ("**", "x", true),
        ("a%", "a%", true), ("a_", "ab", false),
    ])
    func wildcardsStandForCharacters(pattern: String, text: String, expected: Bool) throws {
        #expect(try accepts(.like, pattern, text) == expected)
    }

    @Test func wildcardsIgnoreCaseAndMarksIfAsked() throws {
        #expect(try accepts(.like, "STRA*E", "straße", .caseInsensitive))
        #expect(try accepts(.like, "c?FÉ", "cafe", StringMatchingTests.insensitive))
    }

    @Test func expressionsMatchWholeStrings() throws {
        #expect(try accepts(.matches, "a+", "aaa"))
        #expect(try !accepts(.matches, "a+", "aaab"))
        #expect(try accepts(.matches, "a|ab", "ab"))
        #expect(try accepts(.matches, "ABC", "abc", .caseInsensitive))
        #expect(try accepts(.matches, "\\W+", "--", .caseInsensitive))
        #expect(try accepts(.matches, "é", "e", .diacriticInsensitive))
        #expect(try accepts(.matches, "a.b", "a\0b"))
        expectError(.invalidPredicate) { try StringMatcher(.matches, "(", []) }
    }

    private func answer(
        _ comparison: StringOperator, _ pattern: String, _ text: String, _ budget: QueryBudget
    ) throws -> StringMatcher.MatchResult {
        var text = text
        let test = try StringMatcher(comparison, pattern, [])
        return text.withUTF8 { test.matchResult(UnsafeRawBufferPointer($0), budget) }
    }

    /// It would take longer than the machine will last.
    @Test func aCatastrophicPatternIsGivenUp() throws {
        let text = String(repeating: "a", count: 60) + "c"
        let budget = QueryBudget(steps: 5_000_000)
        #expect(try answer(.matches, "(a|a)*b", text, budget) == .tooManySteps)
        #expect(budget.stepsSpent <= 5_100_000)
        // What is left is for all strings of a query; another query has a budget of its own.
        #expect(try answer(.matches, "(a|a)*b", text, budget) == .tooManySteps)
        #expect(budget.stepsSpent <= 5_200_000)
        #expect(try answer(.matches, "(a|a)*c", text, QueryBudget()) == .yes)
    }

    @Test func lookingAtEachCharacterOnceIsFree() throws {
        let budget = QueryBudget()
        let text = String(repeating: "abc ", count: 50_000)
        for _ in 0..<5 {
            #expect(try answer(.matches, ".*abd.*", text, budget) == .no)
            #expect(try answer(.like, "*a?d*", text, budget) == .no)
        }
        #expect(budget.stepsSpent == 0)
    }

    @Test func numbersInStringsSortByValue() {
        #expect(order("file9", "file10", .numeric) == -1)
        #expect(order("file9", "file10", []) == 1)
        #expect(order("file09", "file9", .numeric) == 0)
        #expect(order("a1b2", "a1b10", .numeric) == -1)
        #expect(order("1", "a", .numeric) == -1)
        #expect(order("/", "1", .numeric) == -1)
        let long = String(repeating: "9", count: 300)
        #expect(order("x" + long, "x1" + long, .numeric) == -1)
        #expect(order("FILE2", "file10", [.numeric, .caseInsensitive]) == -1)
    }

    /// By trying every length that each `*` could have.
    private func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        switch first {
        case "*": return (0...text.count).contains { matches(pattern.dropFirst(), text.dropFirst($0)) }
        case "?": return !text.isEmpty && matches(pattern.dropFirst(), text.dropFirst())
        default: return text.first == first && matches(pattern.dropFirst(), text.dropFirst())
        }
    }

    @Test func wildcardsMatchWhatTryingAllLengthsDoes() throws {
        var random = SystemRandomNumberGenerator()
        func some(_ characters: [Character], _ count: Int) -> [Character] {
            (0..<Int.random(in: 0...count, using: &random)).map { _ in characters.randomElement(using: &random) ?? "a" }
        }
        var found = 0
        for _ in 0..<3000 {
            let (pattern, text) = (some(["a", "b", "é", "*", "*", "?"], 7), some(["a", "b", "é"], 9))
            let expected = matches(pattern[...], text[...])
            #expect(try accepts(.like, String(pattern), String(text)) == expected, "\(pattern) \(text)")
            found += expected ? 1 : 0
        }
        #expect(found > 100)
    }

    @Test func longStringsAreSearchedInLinearTime() throws {
        let text = String(repeating: "a", count: 200_000)
        let half = String(repeating: "a", count: 100_000)
        #expect(try !accepts(.like, "*\(half)b*", text))
        #expect(try accepts(.like, "*\(half)*a?", text))
        // What cannot be found quickly is given up, and that is an error.
        let budget = QueryBudget(steps: 1_000_000)
        #expect(try answer(.like, "*?\(half)b?*", text, budget) == .tooManySteps)
        #expect(budget.stepsSpent <= 1_000_000 + text.count)
    }

    @Test(arguments: ["a)|(?:b", "a)(?:xyz"])
    func anExpressionWithLooseParenthesesIsNone(pattern: String) {
        expectError(.invalidPredicate) { try StringMatcher(.matches, pattern, []) }
    }

    @Test func anExpressionThatRunsOutOfMemoryIsAnError() throws {
        let text = String(repeating: "ab", count: 200_000)
        #expect(try answer(.matches, "(a|b)*", text, QueryBudget()) == .tooMuchMemory)
    }
}
