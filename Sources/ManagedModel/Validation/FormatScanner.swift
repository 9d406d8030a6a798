/// A token of a predicate format.
enum FormatToken: Equatable {
    /// A name or a word of the format language, such as `AND`.
    case word(String)
    /// A name that cannot be a word of the language, because of its number sign: `#from`.
    case name(String)
    case variable(String, hasKeys: Bool)
    /// A number or a string.
    case value
    /// `=`, `<`, `&&` and so on.
    case relation
    /// `+`, `-`, `*` and `/`, with one or two operands.
    case arithmetic
    case comma
    case open, close

    /// The kind of a token, to check that values and operators alternate.
    enum Role {
        case value, relation, opening, closing, separator, prefix, call
    }

    func role(isCall: Bool) -> Role {
        switch self {
        case .value, .name, .variable: return .value
        case .relation: return .relation
        case .comma, .arithmetic: return .separator
        case .open: return .opening
        case .close: return .closing
        case .word(let word):
            let word = word.uppercased()
            if FormatToken.prefixes.contains(word) { return .prefix }
            if FormatToken.relations.contains(word) { return .relation }
            return isCall ? .call : .value
        }
    }

    private static let prefixes: Set = ["NOT", "ANY", "ALL", "SOME", "NONE"]
    private static let relations: Set = [
        "AND", "OR", "IN", "BETWEEN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "UTI", "UNION",
        "INTERSECT", "MINUS",
    ]
    private static let constants: Set = [
        "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "FIRST", "LAST", "SIZE",
    ]

    static func isReserved(_ word: String) -> Bool {
        let word = word.uppercased()
        return prefixes.contains(word) || relations.contains(word) || constants.contains(word)
    }
}

/// Splits a predicate format into tokens. String options such as [cd] belong to the token before them, and so do the keys after
/// the first key of a key path.
struct FormatScanner {
    private(set) var syntaxError: String?
    private var rest: Substring.UnicodeScalarView
    private var openBrackets: [Unicode.Scalar] = []

    init(_ format: String) {
        rest = format.unicodeScalars[...]
    }

    mutating func next() -> FormatToken? {
        while let scalar = rest.popFirst() {
            if let token = token(scalar) { return token }
        }
        if let last = openBrackets.last { syntaxError = syntaxError ?? "\(last) in its predicate is not closed" }
        return nil
    }

    /// Returns the token that begins with a character. Returns nil for a space, for a character that belongs to the
    /// previous token, and for an unknown character.
    private mutating func token(_ scalar: Unicode.Scalar) -> FormatToken? {
        switch scalar {
        case "'", "\"":
            if !skipString(quote: scalar) { syntaxError = syntaxError ?? "a quote in its predicate is not closed" }
            return .value
        case "(", "{":
            openBrackets.append(scalar)
            return .open
        case ")", "}":
            close(scalar)
            skipKeyPath()
            return .close
        case "[":
            openBrackets.append(scalar)
            while let inner = rest.first, inner != "]" { skip(inner) }
            if rest.popFirst() != nil { close("]") }
            skipKeyPath()
            return nil
        case "]":
            close(scalar)
            return nil
        case "$":
            let name = scanName()
            if name.isEmpty { syntaxError = syntaxError ?? "a $ in its predicate has no name after it" }
            return .variable(name, hasKeys: skipKeyPath())
        case "%":
            if rest.first == "@" || rest.first == "K" {
                syntaxError = syntaxError ?? "its predicate has a %@ or %K, but only a $VARIABLE can have a value"
            }
            return nil
        case "#":
            let name = scanName()
            skipKeyPath()
            return .name(name)
        case ",": return .comma
        case "@":
            _ = scanName()
            skipKeyPath()
            return .value
        default: return scanWordNumberOrOperator(scalar)
        }
    }

    private mutating func scanWordNumberOrOperator(_ scalar: Unicode.Scalar) -> FormatToken? {
        if scalar.properties.isXIDStart || scalar == "_" {
            let word = String(scalar) + scanName()
            skipKeyPath()
            return .word(word)
        }
        if ("0"..."9").contains(scalar) {
            rest = rest.drop { $0.properties.isXIDContinue || $0 == "." }
            return .value
        }
        if "+-*/".unicodeScalars.contains(scalar) { return .arithmetic }
        guard "=<>!&|".unicodeScalars.contains(scalar) else { return nil }
        if scalar == "!", rest.first != "=" { return .word("NOT") }
        rest = rest.drop { "=<>&|".unicodeScalars.contains($0) }
        return .relation
    }

    private mutating func skip(_ scalar: Unicode.Scalar) {
        rest.removeFirst()
        if scalar == "'" || scalar == "\"", !skipString(quote: scalar) {
            syntaxError = syntaxError ?? "a quote in its predicate is not closed"
        }
    }

    private mutating func scanName() -> String {
        let name = rest.prefix { $0.properties.isXIDContinue }
        rest = rest.dropFirst(name.count)
        return String(name)
    }

    /// Skips the keys after the first key of a key path. The dots can have spaces around them.
    ///
    /// - Returns: Whether the key path has such keys.
    @discardableResult
    private mutating func skipKeyPath() -> Bool {
        var hasKeys = false
        while let dot = rest.drop(while: \.properties.isWhitespace).first, dot == "." {
            rest = rest.drop(while: \.properties.isWhitespace).dropFirst().drop(while: \.properties.isWhitespace)
            if rest.first == "@" || rest.first == "#" { rest.removeFirst() }
            _ = scanName()
            hasKeys = true
        }
        return hasKeys
    }

    private mutating func close(_ scalar: Unicode.Scalar) {
        let opening: [Unicode.Scalar: Unicode.Scalar] = [")": "(", "}": "{", "]": "["]
        if openBrackets.popLast() != opening[scalar] {
            syntaxError = syntaxError ?? "its predicate has a \(scalar) without an opening bracket"
        }
    }

    /// Skips a quoted string. Returns false if the closing quote is missing.
    private mutating func skipString(quote: Unicode.Scalar) -> Bool {
        while let scalar = rest.popFirst() {
            if scalar == quote { return true }
            if scalar == "\\" { _ = rest.popFirst() }
        }
        return false
    }
}
