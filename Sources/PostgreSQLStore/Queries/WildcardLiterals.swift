/// The literal parts of a LIKE pattern. Every string that matches contains them, byte by byte.
struct WildcardLiterals {
    private(set) var hasWildcards = false
    /// The part before the first wildcard.
    let prefix: String
    /// The longest part without wildcards.
    let longest: String

    init(_ pattern: String) {
        var parts = [String.UnicodeScalarView()]
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped, "*" where !isEscaped:
                hasWildcards = true
                parts.append(String.UnicodeScalarView())
            default: parts[parts.count - 1].append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { parts[parts.count - 1].append("\\") }
        prefix = String(parts[0])
        longest = parts.max { $0.count < $1.count }.map { String($0) } ?? ""
    }
}
