/// The source of a Swift file or of one declaration, split into tokens.
///
/// The lexer recognizes comments, all kinds of strings, regular expressions and backticks, so that it never takes a brace
/// inside of them for a brace of the code. Time and memory are linear in the length of the source, and the lexer does not
/// recurse.
package struct SwiftSource: Sendable {
    /// A token. Each symbol is one character. An operator of several characters is a sequence of touching symbols.
    package struct Token: Sendable, Equatable {
        package enum Kind: UInt8, Sendable {
            case identifier, number, string, regex, symbol, end
        }

        package let kind: Kind
        /// The byte offset of the token in the UTF-8 source.
        package let start: Int
        package let end: Int
        /// Whether a line break precedes the token.
        package let startsLine: Bool
    }

    package let bytes: [UInt8]
    /// All tokens, followed by a token of the kind `end`.
    package let tokens: [Token]
    /// The index of the matching bracket for each token; -1 for a token without a matching bracket.
    package let matchingBrackets: [Int]
    /// The reason why the source cannot be read.
    package let syntaxError: SourceDiagnostic?

    package init(_ text: String) {
        var lexer = SwiftLexer(Array(text.utf8))
        lexer.run()
        bytes = lexer.bytes
        tokens = lexer.tokens
        var matchingBrackets = [Int](repeating: -1, count: tokens.count)
        var syntaxError = lexer.syntaxError
        var open: [Int] = []
        for (index, token) in tokens.enumerated() where token.kind == .symbol {
            switch bytes[token.start] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): open.append(index)
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard let last = open.popLast() else {
                    syntaxError =
                        syntaxError
                        ?? SourceDiagnostic(
                            at: token.start,
                            "This bracket has no opening bracket. Remove the bracket, or add the opening bracket.")
                    continue
                }
                guard bytes[tokens[last].start].closing == bytes[token.start] else {
                    syntaxError =
                        syntaxError
                        ?? SourceDiagnostic(
                            at: tokens[last].start,
                            "The next unmatched closing bracket is of another kind. Close this bracket first.")
                    continue
                }
                (matchingBrackets[index], matchingBrackets[last]) = (last, index)
            default: break
            }
        }
        if let last = open.last {
            syntaxError =
                syntaxError
                ?? SourceDiagnostic(
                    at: tokens[last].start, "This bracket has no closing bracket. Add the closing bracket.")
        }
        self.matchingBrackets = matchingBrackets
        self.syntaxError = syntaxError
    }

    /// Returns the source in a range of bytes.
    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the source of a token, without the backticks of an identifier.
    package func text(of index: Int) -> String {
        let token = tokens[index]
        let isQuoted = token.kind == .identifier && bytes[token.start] == UInt8(ascii: "`")
        return isQuoted ? text(token.start + 1..<token.end - 1) : text(token.start..<token.end)
    }

    /// Returns the source in a range of tokens.
    package func text(ofTokens range: Range<Int>) -> String {
        range.isEmpty ? "" : text(tokens[range.lowerBound].start..<tokens[range.upperBound - 1].end)
    }

    /// Whether a token is the given symbol.
    package func isSymbol(_ index: Int, _ symbol: Unicode.Scalar) -> Bool {
        tokens[index].kind == .symbol && bytes[tokens[index].start] == UInt8(ascii: symbol)
    }

    /// Whether a token is the given word. A word in backticks does not count.
    package func isWord(_ index: Int, _ word: StaticString) -> Bool {
        let token = tokens[index]
        guard token.kind == .identifier, token.end - token.start == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { $0.elementsEqual(bytes[token.start..<token.end]) }
    }

    /// Whether there is nothing between a token and the previous token.
    package func isAdjacentToPrevious(_ index: Int) -> Bool {
        index > 0 && tokens[index - 1].end == tokens[index].start
    }

    /// Returns the line of a byte offset, counted from 1.
    package func line(of offset: Int) -> Int {
        1 + bytes.prefix(max(0, offset)).lazy.filter { $0 == UInt8(ascii: "\n") }.count
    }
}

/// A message about a location in a source.
package struct SourceDiagnostic: Sendable, Hashable {
    /// The byte offset in the UTF-8 source.
    package var offset: Int
    /// Describes the fault and how to correct it.
    package var message: String
    package var isWarning = false

    package init(at offset: Int, _ message: String, isWarning: Bool = false) {
        self.offset = offset
        self.message = message
        self.isWarning = isWarning
    }
}

extension [SourceDiagnostic] {
    /// Whether any diagnostic is an error.
    package var hasErrors: Bool { contains { !$0.isWarning } }
}

extension UInt8 {
    /// The closing bracket for this opening bracket.
    fileprivate var closing: UInt8 {
        switch self {
        case UInt8(ascii: "("): UInt8(ascii: ")")
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: UInt8(ascii: "}")
        }
    }
}

extension SwiftSource {
    /// Whether a token follows a single dot. Two or more dots are an operator.
    private func followsDot(_ index: Int) -> Bool {
        guard index > 0, isSymbol(index - 1, ".") else { return false }
        return index < 2 || !isSymbol(index - 2, ".")
    }

    /// Replaces an identifier everywhere except in the text of strings and after a dot. Interpolations are code.
    func replacing(_ identifier: String, by other: String) -> String {
        var text = bytes
        for (index, token) in tokens.enumerated().reversed() {
            switch token.kind {
            case .identifier where text[token.start..<token.end].elementsEqual(identifier.utf8) && !followsDot(index):
                text.replaceSubrange(token.start..<token.end, with: other.utf8)
            case .string:
                for range in StringSkipper.interpolations(in: bytes, at: token.start).reversed() {
                    let code = SwiftSource(self.text(range)).replacing(identifier, by: other)
                    text.replaceSubrange(range, with: code.utf8)
                }
            default: break
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
