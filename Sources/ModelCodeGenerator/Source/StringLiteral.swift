/// A string as a Swift literal.
enum StringLiteral {
    /// The literal with its quotes. It is always one line, and nothing in it is interpolated.
    static func of(_ string: String) -> String {
        "\"\(escaped(string))\""
    }

    /// The string with everything escaped that a literal or a comment cannot contain.
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

    /// Control, formatting and separating characters, which are invisible in the source.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }
}
