/// Writing JSON: one string for each value, with sorted keys.
extension JSONValue {
    /// On one line and without spaces.
    var text: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// On several lines, so that a change of one value is one changed line.
    var prettyText: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer, .real, .digits: text += numberText ?? "null"
        case .string(let string): JSONValue.write(string, to: &text)
        case .array(let elements):
            JSONValue.write(elements, "[", "]", to: &text, indent) { element, text, indent in
                element.write(to: &text, indent: indent)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            JSONValue.write(sorted, "{", "}", to: &text, indent) { member, text, indent in
                JSONValue.write(member.key.text, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, to text: inout String, _ indent: Int?,
        _ body: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: "  ", count: inner) }
            body(element, &text, inner)
        }
        if let indent, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{8}": text += "\\b"
            case "\u{C}": text += "\\f"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
