internal import Foundation
internal import ManagedModel
internal import RowStore

/// The string of a format. Makes errors that show a position in the string.
struct FormatSource {
    let bytes: [UInt8]

    init(_ format: String) {
        bytes = Array(format.utf8)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// The scalar that begins at a byte, and the length of the scalar in bytes; nil at the end of the format.
    func scalar(at position: Int) -> (scalar: Unicode.Scalar, count: Int)? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        if byte < 0x80 { return (Unicode.Scalar(byte), 1) }
        let count = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        let text = String(decoding: bytes[position..<min(position + count, bytes.count)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, count) }
    }

    /// Makes an error that shows the line, the column, and a mark below the range.
    func error(_ problem: String, at range: Range<Int>) -> DataSourceError {
        let start = min(range.lowerBound, bytes.count)
        let lineStart = bytes[..<start].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[start...].firstIndex(of: newline) ?? bytes.count
        let line = 1 + bytes[..<lineStart].count { $0 == newline }
        let before = characters(lineStart..<start)
        let after = characters(start..<lineEnd)
        let shown = before.suffix(maxContext) + after.prefix(maxContext)
        let length = max(1, min(characters(start..<min(range.upperBound, lineEnd)).count, maxContext))
        let mark = String(repeating: " ", count: min(before.count, maxContext)) + String(repeating: "^", count: length)
        return DataSourceError(
            .unreadablePredicate,
            """
            The predicate format cannot be read at line \(line), column \(before.count + 1): \(problem)
                \(String(shown))
                \(mark)
            """)
    }

    /// The characters of a range. Control characters become spaces, so that the mark is below the right character.
    private func characters(_ range: Range<Int>) -> [Character] {
        text(range).map { $0.unicodeScalars.allSatisfy { $0.value < 0x20 } ? " " : $0 }
    }
}

/// The largest number of characters to show before the start of a fault, and after it.
private let maxContext = 60
private let newline = UInt8(ascii: "\n")

/// The arguments of a format, which are taken in order.
struct FormatArguments {
    private let arguments: [(any Sendable)?]
    private var taken = 0

    init(_ arguments: [(any Sendable)?]) {
        self.arguments = arguments
    }

    var count: Int { arguments.count }

    /// Takes the next argument. The outer optional is nil if there is no argument left; the inner optional is nil if the
    /// argument is nil.
    mutating func next() -> (any Sendable)?? {
        guard taken < arguments.count else { return nil }
        taken += 1
        return .some(arguments[taken - 1])
    }

    func checkAllArgumentsUsed() throws(DataSourceError) {
        if taken == arguments.count { return }
        let placeholders = taken == 1 ? "1 placeholder" : "\(taken) placeholders"
        let given = arguments.count == 1 ? "1 argument was" : "\(arguments.count) arguments were"
        throw DataSourceError(
            .unreadablePredicate,
            "The predicate format has \(placeholders), but \(given) given. Placeholders in quotes do not count.")
    }
}

extension FetchExpression {
    /// The keys of an argument for `%K`. The argument is a string with dots, or a key path to a property of the model.
    /// Returns nil for other arguments.
    ///
    /// - Throws: `unknownAttribute` for a key path to a property that is not in the model.
    static func keys(_ argument: Any) throws(DataSourceError) -> [String]? {
        if let keyPath = argument as? AnyKeyPath {
            guard let type = type(of: keyPath).rootType as? any QueriedObject.Type else { return nil }
            return try RelatedKeyPaths.names(keyPath, of: type)
        }
        guard let text = argument as? String, !text.isEmpty else { return nil }
        return text.parts(separatedBy: ".")
    }
}

extension PredicateTree {
    /// - Throws: `unreadablePredicate`.
    package init(format: String, _ arguments: (any Sendable)?...) throws {
        try self.init(format: format, arguments: arguments)
    }

    /// - Throws: `unreadablePredicate`.
    package init(format: String, arguments: [(any Sendable)?]) throws {
        self.init(try FormatParser.predicate(format, arguments))
    }

    /// The predicate as a format. Reading the format gives an equal predicate.
    ///
    /// A part that cannot be written as a format is described in angle brackets.
    package var predicateFormat: String {
        var writer = FormatWriter()
        writer.write(node)
        return writer.text
    }

    /// Whether all parts of the predicate can be written as a format.
    package var hasFormat: Bool {
        var writer = FormatWriter()
        writer.write(node)
        return !writer.isPartial
    }
}

extension PredicateTree: Codable {
    /// Reads the format that ``encode(to:)`` wrote. The time is linear in the length of the format.
    package init(from decoder: any Decoder) throws {
        try self.init(format: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the predicate as its format.
    ///
    /// - Throws: `unsupportedQuery` if a part of the predicate cannot be written as a format, or if the predicate has more
    ///   levels than a format can have; the errors of the encoder.
    package func encode(to encoder: any Encoder) throws {
        var writer = FormatWriter()
        writer.write(node)
        if writer.isPartial {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because the part in angle brackets has no format: \(writer.text)"
            )
        }
        if node.flat.depth > FormatParser.maxDepth {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because it is nested deeper than the \(FormatParser.maxDepth) levels of a format. Use isIn for long lists."
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(writer.text)
    }
}
