internal import RowStore

extension FetchPredicate {
    /// The predicate that a format string says.
    ///
    /// ```swift
    /// try FetchPredicate(format: "name CONTAINS[cd] %@ AND age BETWEEN {%d, %d}", "guan", 18, 30)
    /// ```
    ///
    /// - Comparisons: `==` `=`, `!=` `<>`, `<`, `<=` `=<`, `>`, `>=` `=>`, `BETWEEN {a, b}`, `IN`.
    /// - Texts: `CONTAINS`, `BEGINSWITH`, `ENDSWITH`, `LIKE` (`?` one character, `*` any number), `MATCHES` (a regular
    ///   expression for the whole text); options in brackets: `[c]` without case, `[d]` without marks, `[n]` byte by byte,
    ///   `[l]` as in a dictionary, `[u]` character by character as Swift compares.
    /// - Conditions: `AND` `&&`, `OR` `||`, `NOT` `!`, `ANY` `SOME`, `ALL`, `NONE`, `TRUEPREDICATE`, `FALSEPREDICATE`.
    /// - Values: `'text'`, `"text"`, numbers, `YES`, `NO`, `NIL`, `SELF`, lists in braces, key paths, `+ - * / % **`,
    ///   `CAST(value, "type")` with a type of a model or a class as `"NSNumber"`, `TERNARY(condition, value, value)`,
    ///   `COALESCE(value, value)`, `now()`; of texts `uppercase`, `lowercase`, `canonical` (without case and marks),
    ///   `length`; of numbers `abs`, `floor`, `ceiling`, `trunc`, `sqrt`; of lists `sum`, `min`, `max`, `average`, `count`.
    /// - `%@` stands for a value or a list of them, `%K` for a key path, `%d` and `%f` for numbers, `$NAME` for what
    ///   ``substituting(_:)`` puts there. Nothing in quotes stands for anything.
    ///
    /// Words may be written in any case. A key that is one of them is written with a `#` before it.
    ///
    /// - Parameter arguments: Texts, numbers, flags, dates, data, UUIDs, URLs, ids of objects, other predicates; arrays and
    ///   sets of values; nil. They are values, whatever they hold: never part of the format.
    /// - Throws: `unreadablePredicate`, with the line and the column.
    public init(format: String, _ arguments: (any Sendable)?...) throws {
        try self.init(format: format, arguments: arguments)
    }

    /// The predicate that a format string says, with its arguments in an array.
    public init(format: String, arguments: [(any Sendable)?]) throws {
        self.init(try FormatParser.predicate(format, arguments))
    }

    /// The predicate as a format, which is read as an equal predicate.
    ///
    /// A part that no format can say, such as one that only Foundation can evaluate, stands in angle brackets.
    public var predicateFormat: String {
        var writer = FormatWriter()
        writer.write(node)
        return writer.text
    }
}

extension FetchPredicate: CustomStringConvertible {
    /// ``predicateFormat``.
    public var description: String { predicateFormat }
}

extension FetchPredicate: Codable {
    /// Reads the format that ``encode(to:)`` wrote. What it costs depends on the length of that and on nothing else.
    ///
    /// - Throws: `unreadablePredicate`, and what the decoder throws.
    public init(from decoder: any Decoder) throws {
        try self.init(format: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the predicate as its format.
    ///
    /// - Throws: `unsupportedQuery` for a predicate with a part that no format can say, or deeper than a format may be, and
    ///   what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var writer = FormatWriter()
        writer.write(node)
        if writer.isPartial {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because no format can say the part of it in angle brackets: \(writer.text)"
            )
        }
        if node.flat.depth > FormatParser.mostDepth {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because it is nested deeper than the \(FormatParser.mostDepth) levels of a format. Put long lists into isIn."
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(writer.text)
    }
}
