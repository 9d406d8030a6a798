/// Splits Swift source into tokens.
struct SwiftLexer {
    typealias Token = SwiftSource.Token

    let bytes: [UInt8]
    private(set) var tokens: [Token] = []
    private(set) var syntaxError: SourceDiagnostic?
    private var position = 0
    private var startsLine = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens.reserveCapacity(bytes.count / 4 + 1)
    }

    mutating func run() {
        if byte(0) == UInt8(ascii: "#"), byte(1) == UInt8(ascii: "!") { skipLine() }
        while position < bytes.count, syntaxError == nil { next() }
        tokens.append(Token(kind: .end, start: bytes.count, end: bytes.count, startsLine: true))
    }

    private mutating func next() {
        let byte = bytes[position]
        switch byte {
        case _ where isConflictMarker:
            fail(position, "This line marks a merge conflict. Resolve the conflict, and remove the line.")
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            startsLine = true
            position += 1
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0, 0x0B, 0x0C: position += 1
        case UInt8(ascii: "/") where self.byte(position + 1) == UInt8(ascii: "/"): skipLine()
        case UInt8(ascii: "/") where self.byte(position + 1) == UInt8(ascii: "*"): skipComment()
        case UInt8(ascii: "/") where isStartOfRegex: regex(pounds: 0)
        case UInt8(ascii: "\""): string(pounds: 0)
        case UInt8(ascii: "#"): pound()
        case UInt8(ascii: "`"): quotedIdentifier()
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
        case 0xEF where self.byte(position + 1) == 0xBB && self.byte(position + 2) == 0xBF: position += 3
        case _ where isNonBreakingSpace(position): position += 2
        default:
            if byte.isIdentifierByte {
                let start = position
                while position < bytes.count, bytes[position].isIdentifierByte, !isNonBreakingSpace(position) {
                    position += 1
                }
                add(.identifier, from: start)
            } else {
                position += 1
                add(.symbol, from: position - 1)
            }
        }
    }

    private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    /// Whether the bytes at an index are a non-breaking space. The compiler reads it as a space, with a warning.
    private func isNonBreakingSpace(_ index: Int) -> Bool { byte(index) == 0xC2 && byte(index + 1) == 0xA0 }

    private mutating func add(_ kind: Token.Kind, from start: Int) {
        tokens.append(Token(kind: kind, start: start, end: position, startsLine: startsLine))
        startsLine = false
    }

    private mutating func fail(_ offset: Int, _ message: String) {
        syntaxError = syntaxError ?? SourceDiagnostic(at: offset, message)
        position = bytes.count
    }

    /// Whether a line marks a merge conflict of Git: it begins with seven equal characters, and then ends or goes on with a
    /// space.
    private var isConflictMarker: Bool {
        guard startsLine, "<=>|".utf8.contains(bytes[position]),
            position == 0 || bytes[position - 1] == UInt8(ascii: "\n") || bytes[position - 1] == UInt8(ascii: "\r")
        else { return false }
        return (1..<7).allSatisfy { byte(position + $0) == bytes[position] } && byte(position + 7) <= UInt8(ascii: " ")
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n"), bytes[position] != UInt8(ascii: "\r") {
            position += 1
        }
    }

    /// Skips a comment, including nested comments.
    private mutating func skipComment() {
        let start = position
        var depth = 0
        while position < bytes.count {
            switch (bytes[position], byte(position + 1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                position += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                position += 2
                if depth == 0 { return }
            case (UInt8(ascii: "\n"), _), (UInt8(ascii: "\r"), _):
                startsLine = true
                position += 1
            default: position += 1
            }
        }
        fail(start, "This comment has no end. Add */ at the end.")
    }

    private mutating func quotedIdentifier() {
        let start = position
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "`"), bytes[position] != UInt8(ascii: "\n") {
            position += 1
        }
        guard byte(position) == UInt8(ascii: "`"), position > start + 1 else {
            return fail(start, "This name has no closing backtick. Add the backtick.")
        }
        position += 1
        add(.identifier, from: start)
    }

    private mutating func number() {
        let start = position
        let isHexadecimal = byte(position) == UInt8(ascii: "0") && byte(position + 1) | 0x20 == UInt8(ascii: "x")
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: ".") {
                guard self.byte(position + 1).isDigit else { break }
            } else if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
                let exponent = bytes[position - 1] | 0x20
                guard exponent == UInt8(ascii: isHexadecimal ? "p" : "e") else { break }
            } else if !byte.isIdentifierByte || isNonBreakingSpace(position) {
                break
            }
            position += 1
        }
        add(.number, from: start)
    }

    /// Reads a raw string, an extended regular expression, or the number sign of a directive such as `#if`.
    private mutating func pound() {
        var pounds = 0
        while byte(position + pounds) == UInt8(ascii: "#") { pounds += 1 }
        switch byte(position + pounds) {
        case UInt8(ascii: "\""): string(pounds: pounds)
        case UInt8(ascii: "/"): regex(pounds: pounds)
        default:
            position += 1
            add(.symbol, from: position - 1)
        }
    }

    /// Whether a slash begins a regular expression: a value is expected, and no space follows the slash.
    private var isStartOfRegex: Bool {
        let next = byte(position + 1)
        guard next > UInt8(ascii: " ") else { return false }
        guard let last = tokens.last else { return hasEndOfRegex }
        switch last.kind {
        case .identifier:
            let word = String(decoding: bytes[last.start..<last.end], as: UTF8.self)
            return last.end < position && Self.wordsBeforeValues.contains(word) && hasEndOfRegex
        case .number, .string, .regex: return false
        case .symbol:
            let symbol = bytes[last.start]
            return !")]}!?>".utf8.contains(symbol) && hasEndOfRegex
        case .end: return false
        }
    }

    /// Whether a regular expression ends on this line, by the rules of Swift: the expression has no space before its last
    /// slash, and opens every parenthesis that it closes. Otherwise, the slash is an operator, as in `reduce(1, /)`.
    private var hasEndOfRegex: Bool {
        var index = position + 1
        var (parentheses, brackets) = (0, 0)
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), bytes[index] != UInt8(ascii: "\r") {
            switch bytes[index] {
            case UInt8(ascii: "/"): return bytes[index - 1] > UInt8(ascii: " ")
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "["): brackets += 1
            case UInt8(ascii: "]"): brackets = max(0, brackets - 1)
            case UInt8(ascii: "(") where brackets == 0: parentheses += 1
            case UInt8(ascii: ")") where brackets == 0:
                guard parentheses > 0 else { return false }
                parentheses -= 1
            default: break
            }
            index += 1
        }
        return false
    }

    private static let wordsBeforeValues: Set<String> = [
        "return", "in", "case", "try", "await", "throw", "where", "if", "guard", "while",
    ]

    private mutating func regex(pounds: Int) {
        let start = position
        position += pounds + 1
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "/"), isFollowed(byPounds: pounds, at: position + 1) {
                position += 1 + pounds
                return add(.regex, from: start)
            }
            if bytes[position] == UInt8(ascii: "\n"), pounds == 0 { break }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position, bytes.count)
        fail(start, "This regular expression has no end. Close the expression with a slash.")
    }

    private func isFollowed(byPounds pounds: Int, at index: Int) -> Bool {
        (0..<pounds).allSatisfy { byte(index + $0) == UInt8(ascii: "#") }
    }

    private mutating func string(pounds: Int) {
        let start = position
        var skipper = StringSkipper(bytes, at: position, pounds: pounds)
        guard let end = skipper.end() else {
            return fail(start, "This string has no end. Close the string, or nest fewer strings.")
        }
        position = end
        add(.string, from: start)
    }
}

/// Finds the end of a string literal. The literal can contain interpolations, and these can contain further strings.
struct StringSkipper {
    /// An open string, interpolation or comment. The last frame is the innermost.
    private enum Frame {
        case string(pounds: Int, isMultiline: Bool)
        case interpolation(parentheses: Int)
        case comment
    }

    private let bytes: [UInt8]
    private var position: Int
    private var frames: [Frame] = []
    /// The code of the interpolations that are directly in the literal.
    private var interpolations: [Range<Int>] = []
    static let nestingLimit = 64

    init(_ bytes: [UInt8], at position: Int, pounds: Int) {
        self.bytes = bytes
        self.position = position
        open(pounds: pounds)
    }

    /// Returns the code of the interpolations in a literal.
    static func interpolations(in bytes: [UInt8], at start: Int) -> [Range<Int>] {
        var pounds = 0
        while bytes[start + pounds] == UInt8(ascii: "#") { pounds += 1 }
        var skipper = StringSkipper(bytes, at: start, pounds: pounds)
        return skipper.end() == nil ? [] : skipper.interpolations
    }

    private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    private func isQuotes(_ index: Int) -> Bool {
        byte(index) == UInt8(ascii: "\"") && byte(index + 1) == UInt8(ascii: "\"")
            && byte(index + 2) == UInt8(ascii: "\"")
    }

    private func pounds(at index: Int) -> Int {
        var count = 0
        while byte(index + count) == UInt8(ascii: "#") { count += 1 }
        return count
    }

    /// Whether the end of a raw string is on the line of an index, at the index or after it.
    private func endsOnLine(_ index: Int, pounds: Int) -> Bool {
        var index = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), bytes[index] != UInt8(ascii: "\r") {
            if bytes[index] == UInt8(ascii: "\""), self.pounds(at: index + 1) >= pounds { return true }
            index += 1
        }
        return false
    }

    private mutating func open(pounds: Int) {
        position += pounds
        // Three quotes open a multiline string. After number signs, they do so only if the string does not end on this line:
        // #"""# is a string with one quote.
        let isMultiline = isQuotes(position) && !(pounds > 0 && endsOnLine(position + 2, pounds: pounds))
        position += isMultiline ? 3 : 1
        frames.append(.string(pounds: pounds, isMultiline: isMultiline))
    }

    /// Returns the position after the literal; nil if the literal has no end.
    mutating func end() -> Int? {
        while let frame = frames.last {
            guard position < bytes.count, frames.count <= Self.nestingLimit else { return nil }
            switch frame {
            case .string(let pounds, let isMultiline): if !string(pounds, isMultiline) { return nil }
            case .interpolation(let parentheses): interpolation(parentheses)
            case .comment:
                let closes = byte(position) == UInt8(ascii: "*") && byte(position + 1) == UInt8(ascii: "/")
                if closes { frames.removeLast() }
                position += closes ? 2 : 1
            }
        }
        return min(position, bytes.count)
    }

    /// - Returns: False if a string that is not multiline reaches the end of its line.
    private mutating func string(_ pounds: Int, _ isMultiline: Bool) -> Bool {
        switch bytes[position] {
        case UInt8(ascii: "\"") where !isMultiline || isQuotes(position):
            let quotes = isMultiline ? 3 : 1
            guard self.pounds(at: position + quotes) >= pounds else {
                position += 1
                return true
            }
            position += quotes + pounds
            frames.removeLast()
        case UInt8(ascii: "\\") where self.pounds(at: position + 1) >= pounds:
            position += 1 + pounds
            if byte(position) == UInt8(ascii: "(") {
                frames.append(.interpolation(parentheses: 1))
                if frames.count == 2 { interpolations.append(position + 1..<position + 1) }
            } else if byte(position) == UInt8(ascii: "\n"), !isMultiline {
                return false
            }
            position += 1
        case UInt8(ascii: "\n") where !isMultiline, UInt8(ascii: "\r") where !isMultiline: return false
        default: position += 1
        }
        return true
    }

    private mutating func interpolation(_ parentheses: Int) {
        let count = pounds(at: position)
        switch bytes[position] {
        case UInt8(ascii: "("): set(parentheses + 1)
        case UInt8(ascii: ")") where parentheses == 1:
            if frames.count == 2, let start = interpolations.popLast()?.lowerBound {
                interpolations.append(start..<position)
            }
            frames.removeLast()
        case UInt8(ascii: ")"): set(parentheses - 1)
        case UInt8(ascii: "\""): return open(pounds: 0)
        case UInt8(ascii: "#") where byte(position + count) == UInt8(ascii: "\""): return open(pounds: count)
        case UInt8(ascii: "/") where byte(position + 1) == UInt8(ascii: "*"): frames.append(.comment)
        default: break
        }
        position += 1
    }

    private mutating func set(_ parentheses: Int) {
        frames[frames.count - 1] = .interpolation(parentheses: parentheses)
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether a name can contain the byte. Every byte that is not ASCII counts as a letter.
    var isIdentifierByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"):
            true
        default: isDigit || self >= 0x80
        }
    }
}
