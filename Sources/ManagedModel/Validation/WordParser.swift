/// A line of a canonical form or a lock file, split into words and quoted names.
package struct WordParser {
    package enum Word: Equatable {
        case name(String)
        case word(String)
    }

    package private(set) var words: [Word] = []
    private var next = 0

    /// Nil if a quote in the line is not closed.
    package init?(_ line: String) {
        var rest = Substring(line).unicodeScalars
        while let first = rest.first {
            if first == " " || first == "." {
                rest.removeFirst()
            } else if first == "\"" {
                rest.removeFirst()
                guard let name = WordParser.consumeName(&rest) else { return nil }
                words.append(.name(name))
            } else {
                let word = rest.prefix { $0 != " " }
                words.append(.word(String(word)))
                rest = rest[word.endIndex...]
            }
        }
    }

    private static func consumeName(_ rest: inout Substring.UnicodeScalarView) -> String? {
        var name = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return String(name) }
            guard scalar == "\\" else {
                name.append(scalar)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            name.append(escaped == "n" ? "\n" : escaped == "r" ? "\r" : escaped)
        }
        return nil
    }

    package mutating func consumeName() -> String? {
        guard next < words.count, case .name(let name) = words[next] else { return nil }
        next += 1
        return name
    }

    package mutating func consumeNames() -> [String] {
        var names: [String] = []
        while let name = consumeName() { names.append(name) }
        return names
    }

    package mutating func consumeWord() -> String? {
        guard next < words.count, case .word(let word) = words[next] else { return nil }
        next += 1
        return word
    }

    /// Takes the next word if it equals the argument. Returns whether the two are equal.
    package mutating func consume(_ word: String) -> Bool {
        guard next < words.count, words[next] == .word(word) else { return false }
        next += 1
        return true
    }

    /// Takes the given word and the name after it. Returns nil if the next word differs, or if no name follows.
    package mutating func consumeName(after word: String) -> String? {
        consume(word) ? consumeName() : nil
    }

    package var isAtEnd: Bool { next == words.count }
}

extension String {
    /// The string in quotes, escaped so that it fits on one line. ``WordParser`` decodes the string.
    package var quotedWord: String { inQuotes { _ in nil } }

    /// Returns the string in quotes, on one line. Quotes, backslashes and line breaks are escaped.
    ///
    /// - Parameter escape: Returns the escape of another character; nil if the character stays as it is. Not called for printable
    ///   ASCII characters: they stay as they are.
    package func inQuotes(_ escape: (Unicode.Scalar) -> String?) -> String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\", "\"": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case " "..."~": quoted.unicodeScalars.append(scalar)
            default: if let escape = escape(scalar) { quoted += escape } else { quoted.unicodeScalars.append(scalar) }
            }
        }
        return quoted + "\""
    }
}

extension Unicode.Scalar {
    /// The escape of a control character or a separator in JSON and in predicate formats: `\t`, or `\u` and four digits.
    package var controlEscape: String {
        if self == "\t" { return "\\t" }
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
