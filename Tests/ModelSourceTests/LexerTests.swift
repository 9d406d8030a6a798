import ModelSource
import Testing

struct LexerTests {
    private func words(_ text: String) -> [String] {
        let source = SwiftSource(text)
        return source.tokens.indices.dropLast().map { source.text(source.tokens[$0].start..<source.tokens[$0].end) }
    }

    @Test(arguments: [
        ("a/*b/*c*/d*/e", ["a", "e"]),
        ("a // {\nb", ["a", "b"]),
        ("\"a\\\"b\" c", ["\"a\\\"b\"", "c"]),
        ("\"\\(f(\"}\"))\" c", ["\"\\(f(\"}\"))\"", "c"]),
        ("\"\\(a ? \"\\(b)\" : \")\")\"+1", ["\"\\(a ? \"\\(b)\" : \")\")\"", "+", "1"]),
        ("#\"a\"b\\(c)\"# d", ["#\"a\"b\\(c)\"#", "d"]),
        ("#\"a\\#(\"x\")\"# d", ["#\"a\\#(\"x\")\"#", "d"]),
        ("\"\"\"\n  a \"b\" {\n  \"\"\" c", ["\"\"\"\n  a \"b\" {\n  \"\"\"", "c"]),
        ("##\"\"\"\n\"\"\"# {\n\"\"\"## c", ["##\"\"\"\n\"\"\"# {\n\"\"\"##", "c"]),
        ("\"\" \"\"", ["\"\"", "\"\""]),
        ("#\"\"# a", ["#\"\"#", "a"]),
        // Three quotes open no multiline string if the string ends on the same line.
        ("(#\"\"\"#) {}", ["(", "#\"\"\"#", ")", "{", "}"]),
        ("#\"\"\"a\"\"\"# b ##\"\"\"\"# c\"## d", ["#\"\"\"a\"\"\"#", "b", "##\"\"\"\"# c\"##", "d"]),
        ("\"\\(#\"\"\"#)\" a", ["\"\\(#\"\"\"#)\"", "a"]),
        ("`class` größe \u{1F600}", ["`class`", "größe", "\u{1F600}"]),
        ("1_000.5e-3 0...5 0x1p-3 1.a", ["1_000.5e-3", "0", ".", ".", ".", "5", "0x1p-3", "1", ".", "a"]),
        ("= /a{\"/ b", ["=", "/a{\"/", "b"]),
        ("a / b / c", ["a", "/", "b", "/", "c"]),
        ("(1, /); 8 / 2", ["(", "1", ",", "/", ")", ";", "8", "/", "2"]),
        ("(/, b /c)", ["(", "/", ",", "b", "/", "c", ")"]),
        ("(1, /[)]\\)(a)/) (/a /)", ["(", "1", ",", "/[)]\\)(a)/", ")", "(", "/", "a", "/", ")"]),
        ("#/a / b {/# c", ["#/a / b {/#", "c"]),
        ("#!/usr/bin/swift\na", ["a"]),
        ("// a\n/*\n<<<<<<< a\n=======\n*/ b", ["b"]),
        ("\"\"\"\n=======\n\"\"\"", ["\"\"\"\n=======\n\"\"\""]),
        // The compiler reads a non-breaking space as a space.
        ("var\u{A0}x:\u{A0}Int = 5\u{A0}// \u{A0}", ["var", "x", ":", "Int", "=", "5"]),
        ("\u{A0}é\u{A0}\"\u{A0}\"", ["é", "\"\u{A0}\""]),
    ])
    func tokensHaveTheWholeOfStringsAndNothingOfComments(_ text: String, _ expected: [String]) {
        #expect(words(text) == expected)
        #expect(SwiftSource(text).syntaxError == nil)
    }

    /// ‸ marks the place of the fault.
    static let faults: [(text: String, message: String)] = [
        ("var x = ‸\"a\nb\"", "This string has no end."),
        ("‸\"\"\"\na", "This string has no end."),
        ("‸\"\\(\"", "This string has no end."),
        ("a ‸/* /* */", "This comment has no end."),
        ("var ‸`a", "This name has no closing backtick."),
        ("var x = ‸#/a", "This regular expression has no end"),
        ("f‸(]", "The next unmatched closing bracket is of another kind."),
        ("class A ‸{", "This bracket has no closing bracket."),
        ("class A {} ‸}", "This bracket has no opening bracket."),
        ("class A {\n‸<<<<<<< HEAD\nvar x: Int\n=======\n>>>>>>> b\n}", "This line marks a merge conflict."),
        ("class A {\r\n‸=======\r\n}", "This line marks a merge conflict."),
        ("‸||||||| base", "This line marks a merge conflict."),
        ("a\n‸>>>>>>> b", "This line marks a merge conflict."),
    ]

    @Test(arguments: faults)
    func aTokenWithoutAnEndIsAFaultAtItsPlace(_ fault: (text: String, message: String)) throws {
        let parts = fault.text.split(separator: "‸", omittingEmptySubsequences: false)
        let found = try #require(SwiftSource(parts.joined()).syntaxError)
        #expect(found.offset == parts[0].utf8.count && found.message.hasPrefix(fault.message), "\(found)")
    }

    @Test(arguments: [
        (#""a\n\t\"\\\u{e9}""#, "a\n\t\"\\é"), (##"#"a\n\#n"#"##, "a\\n\n"), ("\"\"", ""),
        ("#\"\"\"#", "\""), ("#\"\"\"a\"\"\"#", "\"\"a\"\""), ("#\"\"\"\n\"\n\"\"\"#", "\""),
        ("\"\"\"\n  a\n   b\n\n  c\\\n  d\n  \"\"\"", "a\n b\n\ncd"),
    ])
    func stringsHaveTheValuesThatTheCompilerGivesThem(_ text: String, _ expected: String) {
        #expect(SwiftSource(text).stringValue(of: 0) == expected)
    }

    @Test(arguments: ["\"\\(a)\"", "\"\\q\"", "\"\\u{110000}\"", "\"\"\"\na\n  b\n \"\"\"", "1"])
    func otherLiteralsHaveNoStringValue(_ text: String) {
        #expect(SwiftSource(text).stringValue(of: 0) == nil)
    }
}
