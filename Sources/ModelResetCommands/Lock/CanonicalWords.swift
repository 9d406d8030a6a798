/// A line of a canonical form, taken apart: names in quotes, and words.
struct CanonicalWords {
    enum Word: Equatable {
        case name(String)
        case word(String)
    }

    private(set) var words: [Word] = []
    private var next = 0

    /// Nil for a line with a quote that does not end.
    init?(_ line: String) {
        var rest = Substring(line).unicodeScalars
        while let first = rest.first {
            if first == " " || first == "." {
                rest.removeFirst()
            } else if first == "\"" {
                rest.removeFirst()
                guard let name = CanonicalWords.takeName(&rest) else { return nil }
                words.append(.name(name))
            } else {
                let word = rest.prefix { $0 != " " }
                words.append(.word(String(word)))
                rest = rest.dropFirst(word.count)
            }
        }
    }

    private static func takeName(_ rest: inout Substring.UnicodeScalarView) -> String? {
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

    mutating func takeName() -> String? {
        guard next < words.count, case .name(let name) = words[next] else { return nil }
        next += 1
        return name
    }

    mutating func takeNames() -> [String] {
        var names: [String] = []
        while let name = takeName() { names.append(name) }
        return names
    }

    mutating func takeWord() -> String? {
        guard next < words.count, case .word(let word) = words[next] else { return nil }
        next += 1
        return word
    }

    /// Takes the word if it is next.
    mutating func take(_ word: String) -> Bool {
        guard next < words.count, words[next] == .word(word) else { return false }
        next += 1
        return true
    }

    var isAtEnd: Bool { next == words.count }
}

extension String {
    /// The text in quotes, on one line, as ``CanonicalWords`` reads it.
    var quoted: String {
        let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r"]
        return "\"" + unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
    }
}
