/// A JSON value whose members keep their order, so that the same result is always the same string.
enum JSON {
    case string(String)
    case number(Int)
    /// A string if JSON has no such number.
    case real(Double)
    case flag(Bool)
    case null
    case list([JSON])
    case object([(String, JSON)])

    static func string(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    static func strings(_ texts: [String]) -> JSON { .list(texts.map(JSON.string)) }

    /// The value on one line.
    var text: String {
        switch self {
        case .string(let text): JSON.quoted(text)
        case .number(let number): String(number)
        case .real(let number): number.isFinite ? String(number) : JSON.quoted(String(number))
        case .flag(let flag): flag ? "true" : "false"
        case .null: "null"
        case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSON.quoted($0)):\($1.text)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            case "\u{0}"..<" ", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
