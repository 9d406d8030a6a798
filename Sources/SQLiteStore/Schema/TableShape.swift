/// The name of a table and the declarations of its columns, in any order. They are compared byte by byte.
struct TableShape: Hashable {
    /// ``sql`` in UTF-8.
    private let bytes: [UInt8]

    /// - Parameters:
    ///   - name: Unquoted.
    ///   - declarations: A quoted name and a type each.
    init(name: String, _ declarations: [String]) {
        let sorted = declarations.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        bytes = Array((TableShape.start(name) + sorted.joined(separator: ", ") + ")").utf8)
    }

    /// - Parameter sql: The SQL with which the table was made. If another program has made it, the shape is that of none of this
    ///   library's tables.
    init(name: String, sql: String) {
        let start = TableShape.start(name)
        let isOwn = sql.utf8.starts(with: start.utf8) && sql.utf8.last == UInt8(ascii: ")")
        self.init(
            name: name, isOwn ? TableShape.parts(Array(sql.utf8.dropFirst(start.utf8.count).dropLast())) : [])
    }

    /// The same for all tables of the shape.
    var sql: String { String(decoding: bytes, as: UTF8.self) }

    private static func start(_ name: String) -> String { "CREATE TABLE \(name.quoted) (" }

    /// The parts between commas that are outside of quotes.
    private static func parts(_ body: [UInt8]) -> [String] {
        var parts: [String] = []
        var start = 0
        var isQuoted = false
        for (index, byte) in body.enumerated() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == UInt8(ascii: ","), !isQuoted else { continue }
            parts.append(String(decoding: body[start..<index], as: UTF8.self))
            // After the space.
            start = min(index + 2, body.count)
        }
        return parts + [String(decoding: body[start...], as: UTF8.self)]
    }
}
