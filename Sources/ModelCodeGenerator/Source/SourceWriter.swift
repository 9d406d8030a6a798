internal import ManagedModel

/// Collects lines of Swift source and indents them.
struct SourceWriter {
    private var lines: [String] = []
    private var depth = 0

    /// The whole source, with one newline at the end.
    var text: String { lines.joined(separator: "\n") + "\n" }

    /// Adds the lines of a string, indented.
    mutating func line(_ line: String = "") {
        for part in line.parts(separatedBy: "\n") {
            lines.append(part.isEmpty ? "" : String(repeating: "    ", count: depth) + part)
        }
    }

    /// Adds the parts, with as many on each line as fit.
    mutating func wrappedList(_ parts: [String]) {
        var present = ""
        for part in parts {
            if !present.isEmpty, present.count + part.count + 1 > SourceWriter.width {
                line(present)
                present = ""
            }
            present += (present.isEmpty ? "" : " ") + part
        }
        if !present.isEmpty { line(present) }
    }

    private static let width = 120

    /// Adds a line of a doc comment for each string.
    mutating func documentation(_ comments: [String]) {
        for comment in comments { line(comment.isEmpty ? "///" : "/// \(Self.comment(comment))") }
    }

    /// Adds an opening line, an indented body, and a closing line.
    mutating func block(_ opening: String, closing: String = "}", _ write: (inout SourceWriter) -> Void) {
        line(opening)
        depth += 1
        write(&self)
        depth -= 1
        line(closing)
    }

    /// Returns the string on one line. Characters that could end a comment are escaped.
    static func comment(_ text: String) -> String {
        StringLiteral.escaped(text, asComment: true)
    }
}

/// The access level of the generated declarations.
public enum AccessLevel: String, Sendable, CaseIterable {
    case `public`
    case package
    case `internal`

    /// The first word of a declaration and a space; empty for internal declarations.
    var prefix: String { self == .internal ? "" : rawValue + " " }
}

/// Writes strings as Swift literals.
enum StringLiteral {
    /// Returns the literal with its quotes, on one line and without interpolation.
    static func of(_ string: String) -> String {
        "\"\(escaped(string))\""
    }

    /// Escapes every character that a literal or a comment cannot contain.
    static func escaped(_ string: String, asComment: Bool = false) -> String {
        var result = ""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\\" where !asComment: result += "\\\\"
            case "\"" where !asComment: result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isInvisible(scalar): result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether the character is invisible in source: a control, formatting or separating character.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }
}
