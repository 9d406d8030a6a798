/// The name of a member of a JSON object. Names are compared by their bytes: `é` as one scalar differs from `é` as two.
struct JSONName: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }

    static func == (one: JSONName, other: JSONName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: JSONName, other: JSONName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONName: Codable, CodingKeyRepresentable {
    init(from decoder: any Decoder) throws {
        text = try String(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }

    var codingKey: any CodingKey { Key(stringValue: text) }

    init?(codingKey: some CodingKey) {
        text = codingKey.stringValue
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
