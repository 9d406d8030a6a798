internal import Foundation
internal import RowStore

/// Splits a format string into tokens, in one pass over its bytes.
struct FormatLexer {
    let source: FormatSource
    private var bytes: [UInt8] { source.bytes }
    private var position = 0

    init(_ source: FormatSource) {
        self.source = source
    }

    mutating func next() throws(DataSourceError) -> FormatToken {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
        let start = position
        guard position < bytes.count else { return FormatToken(kind: .end, range: start..<start) }
        let kind = try kind(bytes[position])
        return FormatToken(kind: kind, range: start..<position)
    }

    private mutating func kind(_ byte: UInt8) throws(DataSourceError) -> FormatToken.Kind {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .text(try quoted())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "#"): return .key(try escapedKey())
        case UInt8(ascii: "$"): return .variable(try nameAfterSign("A variable is a $ and a name, as in $NAME."))
        case UInt8(ascii: "@"):
            return .word("@" + (try nameAfterSign("An operator of a key path is an @ and a name, as in @count.")))
        case UInt8(ascii: "%"): if let argument = try argument() { return .argument(argument) }
        default: break
        }
        if let symbol = symbol() { return .symbol(symbol) }
        guard let word = word() else {
            throw source.error("This character is not part of the format language.", at: position..<position + 1)
        }
        return FormatKeyword(word: word).map { .keyword($0) } ?? .word(word)
    }

    private func byte(_ offset: Int) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    // MARK: Words

    /// Reads the name at this position; nil if there is none.
    private mutating func word() -> String? {
        let start = position
        while let (scalar, count) = source.scalar(at: position),
            Self.isNameCharacter(scalar, isFirst: position == start)
        {
            position += count
        }
        return start == position ? nil : source.text(start..<position)
    }

    static func isNameCharacter(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9": !isFirst
        case _ where scalar.isASCII: false
        default: isFirst ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue
        }
    }

    /// Reads a sign and the name after it.
    private mutating func nameAfterSign(_ problem: String) throws(DataSourceError) -> String {
        position += 1
        guard let name = word() else { throw source.error(problem, at: position - 1..<position) }
        return name
    }

    /// Reads `#word`, or `#'any string'` for a key that is not a word.
    private mutating func escapedKey() throws(DataSourceError) -> String {
        if let quote = byte(1), quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
            position += 1
            return try quoted()
        }
        return try nameAfterSign("A # is followed by a key, as in #size.")
    }

    // MARK: Symbols

    private mutating func symbol() -> FormatSymbol? {
        if let second = byte(1), let symbol = Self.pairs[Pair(first: bytes[position], second: second)] {
            position += 2
            return symbol
        }
        guard let symbol = Self.singles[bytes[position]] else { return nil }
        position += 1
        return symbol
    }

    private struct Pair: Hashable {
        var first: UInt8
        var second: UInt8

        init(first: UInt8, second: UInt8) {
            self.first = first
            self.second = second
        }

        init(_ text: StaticString) {
            first = text.utf8Start[0]
            second = text.utf8Start[1]
        }
    }

    private static let pairs: [Pair: FormatSymbol] = [
        Pair("=="): .equal, Pair("!="): .notEqual, Pair("<>"): .notEqual, Pair("<="): .lessOrEqual,
        Pair("=<"): .lessOrEqual, Pair(">="): .greaterOrEqual, Pair("=>"): .greaterOrEqual, Pair("&&"): .and,
        Pair("||"): .or, Pair("**"): .power, Pair("<<"): .shiftLeft, Pair(">>"): .shiftRight,
    ]

    private static let singles: [UInt8: FormatSymbol] = {
        let symbols: [FormatSymbol] = [
            .less, .greater, .not, .plus, .minus, .times, .over, .remainder, .leftParenthesis, .rightParenthesis,
            .bitwiseAnd, .bitwiseOr, .bitwiseXor, .onesComplement, .leftBrace, .rightBrace, .leftBracket, .rightBracket,
            .comma, .dot, .colon,
        ]
        var singles = Dictionary(uniqueKeysWithValues: symbols.map { ($0.rawValue.utf8.first ?? 0, $0) })
        singles[UInt8(ascii: "=")] = .equal
        return singles
    }()

    /// Reads `%@`, `%K` or a number placeholder of printf; nil if the `%` is the remainder operator.
    private mutating func argument() throws(DataSourceError) -> FormatArgument? {
        var end = position + 1
        while end < bytes.count, end - position <= 2, "hlqzjt".utf8.contains(bytes[end]) { end += 1 }
        guard end < bytes.count else { return nil }
        let argument: FormatArgument
        switch bytes[end] {
        case UInt8(ascii: "@") where end == position + 1: argument = .value
        case UInt8(ascii: "K") where end == position + 1: argument = .keyPath
        case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "D"), UInt8(ascii: "U"):
            argument = .integer
        case UInt8(ascii: "f"), UInt8(ascii: "g"), UInt8(ascii: "e"): argument = .double
        default: return nil
        }
        // In `a %day`, the `%` is the remainder operator. It does not begin the placeholder `%d`.
        if argument != .value, let (scalar, _) = source.scalar(at: end + 1),
            Self.isNameCharacter(scalar, isFirst: false)
        {
            return nil
        }
        position = end + 1
        return argument
    }
}

/// Numbers and strings.
extension FormatLexer {
    private mutating func number() throws(DataSourceError) -> FormatToken.Kind {
        let start = position
        if bytes[position] == UInt8(ascii: "0"), let radix = radix(byte(1)) {
            position += 2
            let digits = skip { $0.isDigit(ofRadix: radix) }
            guard let number = UInt64(source.text(digits), radix: radix), !isInWord else {
                throw source.error("This number cannot be read.", at: start..<position)
            }
            return .integer(number)
        }
        _ = skip { $0.isDigit(ofRadix: 10) }
        let isWhole = try !skipFraction(start)
        let text = source.text(start..<position)
        if isWhole, let number = UInt64(text) { return .integer(number) }
        if isWhole, text.utf8.count <= 38, let number = Decimal(string: text) { return .decimal(number) }
        guard let number = Double(text), number.isFinite, !isInWord else {
            throw source.error("This number cannot be read.", at: start..<position)
        }
        return Self.needsDecimal(text, number) ? .digits(text) : .double(number)
    }

    /// Whether a `Double` would lose digits that a decimal keeps.
    private static func needsDecimal(_ text: String, _ number: Double) -> Bool {
        guard !isEqual(text, "\(number)"), let decimal = Decimal(rowText: text) else { return false }
        return isEqual(text, decimal.description)
    }

    private static func isEqual(_ lhs: String, _ rhs: String) -> Bool {
        ValueOrder.decimal.compare(.text(lhs), .text(rhs)) == 0
    }

    /// Skips a fraction and an exponent.
    ///
    /// - Returns: Whether there is a fraction or an exponent.
    private mutating func skipFraction(_ start: Int) throws(DataSourceError) -> Bool {
        let whole = position
        if byte(0) == UInt8(ascii: "."), byte(1)?.isDigit(ofRadix: 10) == true {
            position += 1
            _ = skip { $0.isDigit(ofRadix: 10) }
        }
        if byte(0) == UInt8(ascii: "e") || byte(0) == UInt8(ascii: "E") {
            position += 1
            if byte(0) == UInt8(ascii: "-") || byte(0) == UInt8(ascii: "+") { position += 1 }
            if skip({ $0.isDigit(ofRadix: 10) }).isEmpty {
                throw source.error("The exponent of a number has no digits.", at: start..<position)
            }
        }
        if isInWord { throw source.error("This number cannot be read.", at: start..<position + 1) }
        return position > whole
    }

    /// Whether a letter, a digit or an underscore follows the number directly.
    private var isInWord: Bool {
        source.scalar(at: position).map { Self.isNameCharacter($0.scalar, isFirst: false) } ?? false
    }

    private func radix(_ letter: UInt8?) -> Int? {
        switch letter {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): 16
        case UInt8(ascii: "o"), UInt8(ascii: "O"): 8
        case UInt8(ascii: "b"), UInt8(ascii: "B"): 2
        default: nil
        }
    }

    private mutating func skip(_ isPart: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while position < bytes.count, isPart(bytes[position]) { position += 1 }
        return start..<position
    }

    /// Reads a string in single or double quotes.
    private mutating func quoted() throws(DataSourceError) -> String {
        let start = position
        let quote = bytes[position]
        var text: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") { text += try escape() } else { text.append(byte) }
        }
        throw source.error("The string that begins here has no closing quote.", at: start..<start + 1)
    }

    private mutating func escape() throws(DataSourceError) -> [UInt8] {
        guard position < bytes.count else { return [] }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try scalar(digits: 4)
        case UInt8(ascii: "U"): return try scalar(digits: 8)
        default: return [letter]
        }
    }

    /// Reads the code of a character, or the two codes of a surrogate pair of UTF-16.
    private mutating func scalar(digits: Int) throws(DataSourceError) -> [UInt8] {
        let start = position - 2
        var number = try hexadecimal(digits)
        if digits == 4, number & 0xFC00 == 0xD800, byte(0) == UInt8(ascii: "\\"), byte(1) == UInt8(ascii: "u") {
            position += 2
            let low = try hexadecimal(4)
            number = low & 0xFC00 == 0xDC00 ? 0x10000 + (number & 0x3FF) << 10 + low & 0x3FF : number
        }
        guard let scalar = Unicode.Scalar(number) else {
            throw source.error("No character has this code.", at: start..<position)
        }
        return Array(String(scalar).utf8)
    }

    private mutating func hexadecimal(_ digits: Int) throws(DataSourceError) -> UInt32 {
        let end = min(position + digits, bytes.count)
        guard end - position == digits, bytes[position..<end].allSatisfy({ $0.isDigit(ofRadix: 16) }),
            let number = UInt32(source.text(position..<end), radix: 16)
        else { throw source.error("A \\u is followed by 4 hexadecimal digits, a \\U by 8.", at: position..<end) }
        position = end
        return number
    }
}

extension UInt8 {
    fileprivate func isDigit(ofRadix radix: Int) -> Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self - UInt8(ascii: "0")) < radix
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): radix == 16
        default: false
        }
    }
}

/// A token of a format string, with its position.
struct FormatToken {
    enum Kind: Equatable {
        case word(String)
        /// `#word`: a key, even if the word is a keyword.
        case key(String)
        case keyword(FormatKeyword)
        case symbol(FormatSymbol)
        case text(String)
        /// The digits of a whole number, without a sign.
        case integer(UInt64)
        case double(Double)
        /// A number with more digits than a `Double` can hold.
        case digits(String)
        /// An integer beyond 64 bits.
        case decimal(Decimal)
        /// `$NAME`.
        case variable(String)
        case argument(FormatArgument)
        case end
    }

    var kind: Kind
    /// The position in bytes of UTF-8, from the start of the format.
    var range: Range<Int>
}

/// A placeholder for an argument of the format.
enum FormatArgument: Equatable {
    /// `%@`.
    case value
    /// `%K`.
    case keyPath
    /// `%d`, `%i`, `%u` and their variants.
    case integer
    /// `%f`, `%g`, `%e` and their variants.
    case double
}

/// The keywords, in upper or lower case. After `#`, a keyword is a key.
enum FormatKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case isIn = "IN"
    case between = "BETWEEN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case object = "SELF"
    case null = "NULL"
    case `nil` = "NIL"
    case `true` = "TRUE"
    case yes = "YES"
    case `false` = "FALSE"
    case no = "NO"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case subquery = "SUBQUERY"
    case anyKey = "ANYKEY"

    /// Nil if the word is not a keyword.
    init?(word: String) {
        guard word.utf8.count <= 14, let keyword = Self.byName[word.uppercased()] else { return nil }
        self = keyword
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}

enum FormatSymbol: String {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case power = "**"
    case over = "/"
    case remainder = "%"
    case bitwiseAnd = "&"
    case bitwiseOr = "|"
    case bitwiseXor = "^"
    case onesComplement = "~"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case dot = "."
    case colon = ":"
}
