/// A message of PostgreSQL's protocol: a letter for its type, its length, and its body.
///
/// https://www.postgresql.org/docs/15/protocol-message-formats.html
struct WireMessage {
    /// The letter; 0 for the first message of a client, which has no type.
    let type: UInt8
    let body: ArraySlice<UInt8>

    init(_ type: Character?, _ body: [UInt8]) {
        self.type = type?.asciiValue ?? 0
        self.body = body[...]
    }

    fileprivate init(type: UInt8, body: ArraySlice<UInt8>) {
        self.type = type
        self.body = body
    }

    func hasType(_ type: Character) -> Bool { self.type == type.asciiValue }

    var bytes: [UInt8] {
        let length = UInt32(body.count + 4)
        return (type == 0 ? [] : [type]) + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + body
    }

    /// The strings at the beginning of the body. Each of them ends with a zero.
    func strings(_ count: Int) -> [String] {
        body.split(separator: 0, maxSplits: count, omittingEmptySubsequences: false).prefix(count)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number at the beginning of the body.
    var number: UInt32 { body.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    /// An error with the severity and message in another language. All other fields are unchanged.
    var translated: WireMessage {
        let fields = body.split(separator: 0).map { field -> [UInt8] in
            switch field.first {
            case UInt8(ascii: "S"): Array("SSCHWERWIEGEND".utf8)
            case UInt8(ascii: "M"): Array("Mes geht nicht".utf8)
            default: Array(field)
            }
        }
        return WireMessage("E", fields.flatMap { $0 + [0] } + [0])
    }

    static func encoded(_ strings: String...) -> [UInt8] { strings.flatMap { Array($0.utf8) + [0] } }
}

/// Divides a stream of bytes into messages.
struct WireMessages {
    private var pending: ArraySlice<UInt8> = []
    private var isFirst: Bool

    /// - Parameter isFromClient: Whether the first message has no type.
    init(isFromClient: Bool) { isFirst = isFromClient }

    mutating func append(_ bytes: [UInt8]) {
        // A new buffer, so that the bytes of old messages do not pile up.
        pending = pending.isEmpty ? bytes[...] : Array(pending + bytes)[...]
    }

    /// The next complete message; nil if there is none yet.
    mutating func next() -> WireMessage? {
        let header = isFirst ? 0 : 1
        guard pending.count >= header + 4 else { return nil }
        let lengthBytes = pending.dropFirst(header).prefix(4)
        let length = Int(lengthBytes.reduce(0) { $0 << 8 | UInt32($1) })
        guard length >= 4, pending.count >= header + length else { return nil }
        let type = isFirst ? 0 : pending[pending.startIndex]
        let body = pending.dropFirst(header + 4).prefix(length - 4)
        pending = pending.dropFirst(header + length)
        isFirst = false
        return WireMessage(type: type, body: body)
    }
}
