internal import RowStore

extension PredicateTree {
    /// Reads the predicate of a format string.
    package init(format: String, _ arguments: (any Sendable)?...) throws {
        try self.init(format: format, arguments: arguments)
    }

    /// Reads the predicate of a format string.
    package init(format: String, arguments: [(any Sendable)?]) throws {
        self.init(try FormatParser.predicate(format, arguments))
    }

    /// The predicate as a format, which is read as an equal predicate.
    ///
    /// A part without a format, such as one that only Foundation can evaluate, is in angle brackets.
    package var predicateFormat: String {
        var writer = FormatWriter()
        writer.write(node)
        return writer.text
    }
}

extension PredicateTree: Codable {
    /// Reads the format that ``encode(to:)`` wrote. The cost depends only on its length.
    package init(from decoder: any Decoder) throws {
        try self.init(format: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the predicate as its format.
    ///
    /// - Throws: `unsupportedQuery` for a predicate with a part that has no format, or with more levels than a format may have,
    ///   and what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var writer = FormatWriter()
        writer.write(node)
        if writer.isPartial {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because the part in angle brackets has no format: \(writer.text)"
            )
        }
        if node.flat.depth > FormatParser.mostDepth {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate cannot be encoded, because it is nested deeper than the \(FormatParser.mostDepth) levels of a format. Use isIn for long lists."
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(writer.text)
    }
}
