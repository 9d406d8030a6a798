/// The text of a Swift file, or of one declaration, as tokens.
///
/// The lexer knows comments, strings of all kinds, regular expressions and backticks, so that no brace in them is mistaken for one of
/// the code. Its time and memory are linear in the text, and no input makes it recurse.
package struct SwiftSource: Sendable {
    /// One token. Each symbol is a token of one character; what compares operators looks whether they touch.
    package struct Token: Sendable, Equatable {
        package enum Kind: UInt8, Sendable {
            case identifier, number, string, regex, symbol, end
        }

        package let kind: Kind
        /// The first byte of its UTF-8 text.
        package let start: Int
        package let end: Int
        /// Whether a line break is between the previous token and this one.
        package let startsLine: Bool
    }

    package let bytes: [UInt8]
    /// All tokens, and one of the kind `end` after them.
    package let tokens: [Token]
    /// The token of the bracket that closes or opens the one of a token; -1 for all other tokens.
    package let partners: [Int]
    /// What keeps the text from being read.
    package let fault: SourceDiagnostic?

    package init(_ text: String) {
        var lexer = SwiftLexer(Array(text.utf8))
        lexer.run()
        bytes = lexer.bytes
        tokens = lexer.tokens
        var partners = [Int](repeating: -1, count: tokens.count)
        var fault = lexer.fault
        var open: [Int] = []
        for (index, token) in tokens.enumerated() where token.kind == .symbol {
            switch bytes[token.start] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): open.append(index)
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard let last = open.popLast() else {
                    fault =
                        fault
                        ?? SourceDiagnostic(
                            at: token.start,
                            "This bracket has no opening bracket. Remove the bracket, or add the opening bracket.")
                    continue
                }
                guard bytes[tokens[last].start].closing == bytes[token.start] else {
                    fault =
                        fault
                        ?? SourceDiagnostic(
                            at: tokens[last].start,
                            "Another bracket closes before this bracket does. Close this bracket first.")
                    continue
                }
                (partners[index], partners[last]) = (last, index)
            default: break
            }
        }
        if let last = open.last {
            fault =
                fault
                ?? SourceDiagnostic(
                    at: tokens[last].start, "This bracket has no closing bracket. Add the closing bracket.")
        }
        self.partners = partners
        self.fault = fault
    }

    /// The text of a range of bytes.
    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The text of a token, without the backticks of an identifier.
    package func text(of index: Int) -> String {
        let token = tokens[index]
        let isQuoted = token.kind == .identifier && bytes[token.start] == UInt8(ascii: "`")
        return isQuoted ? text(token.start + 1..<token.end - 1) : text(token.start..<token.end)
    }

    /// The source text from the first to the last of some tokens.
    package func text(ofTokens range: Range<Int>) -> String {
        range.isEmpty ? "" : text(tokens[range.lowerBound].start..<tokens[range.upperBound - 1].end)
    }

    /// Whether a token is that symbol.
    package func isSymbol(_ index: Int, _ symbol: Unicode.Scalar) -> Bool {
        tokens[index].kind == .symbol && bytes[tokens[index].start] == UInt8(ascii: symbol)
    }

    /// Whether a token is that word, without backticks.
    package func isWord(_ index: Int, _ word: StaticString) -> Bool {
        let token = tokens[index]
        guard token.kind == .identifier, token.end - token.start == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { $0.elementsEqual(bytes[token.start..<token.end]) }
    }

    /// Whether nothing is between a token and the one before it.
    package func touchesPrevious(_ index: Int) -> Bool {
        index > 0 && tokens[index - 1].end == tokens[index].start
    }

    /// The line of a byte, counted from 1.
    package func line(of offset: Int) -> Int {
        1 + bytes.prefix(max(0, offset)).lazy.filter { $0 == UInt8(ascii: "\n") }.count
    }
}

/// Something to say about a place in a source.
package struct SourceDiagnostic: Sendable, Hashable {
    /// The byte in the UTF-8 text.
    package var offset: Int
    /// What is wrong and what to do about it, as a sentence.
    package var message: String
    package var isWarning = false

    package init(at offset: Int, _ message: String, isWarning: Bool = false) {
        self.offset = offset
        self.message = message
        self.isWarning = isWarning
    }
}

extension [SourceDiagnostic] {
    /// Whether any of them is more than a warning.
    package var hasErrors: Bool { contains { !$0.isWarning } }
}

extension UInt8 {
    /// The bracket that closes this one.
    fileprivate var closing: UInt8 {
        switch self {
        case UInt8(ascii: "("): UInt8(ascii: ")")
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: UInt8(ascii: "}")
        }
    }
}

extension SwiftSource {
    /// The text with another identifier in the place of an identifier. Strings, with what is interpolated in them, stay.
    func replacing(_ identifier: String, by other: String) -> String {
        var text = bytes
        for token in tokens.reversed() where token.kind == .identifier {
            if text[token.start..<token.end].elementsEqual(identifier.utf8) {
                text.replaceSubrange(token.start..<token.end, with: other.utf8)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
