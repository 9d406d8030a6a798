internal import RowStore

/// Reads a predicate from a format string.
///
/// It looks one token ahead and never goes back, so its time depends only on the length of the format. The tree has at most
/// ``mostDepth`` levels, so code that walks it may be recursive.
struct FormatParser {
    /// How deeply parentheses, functions and chains of arithmetic may be nested.
    static let mostDepth = 100
    /// The longest format, in bytes of UTF-8.
    static let mostBytes = 16 << 20

    private var lexer: FormatLexer
    private(set) var token: FormatToken
    /// The end of the last token that was taken.
    private var end = 0
    private var arguments: FormatArguments
    private var depth = 0

    static func predicate(
        _ format: String, _ arguments: [(any Sendable)?]
    ) throws(DataSourceError) -> PredicateTree.Node {
        guard format.utf8.count <= mostBytes else {
            throw DataSourceError(
                .unreadablePredicate,
                "The predicate format is \(format.utf8.count) bytes long, and at most \(mostBytes) are allowed. Pass long lists as arguments."
            )
        }
        var parser = try FormatParser(FormatSource(format), arguments)
        return try parser.whole()
    }

    private init(_ source: FormatSource, _ arguments: [(any Sendable)?]) throws(DataSourceError) {
        lexer = FormatLexer(source)
        token = try lexer.next()
        self.arguments = FormatArguments(arguments)
    }

    private mutating func whole() throws(DataSourceError) -> PredicateTree.Node {
        if token.kind == .end { throw error("It is empty. Write TRUEPREDICATE for all objects.") }
        let part = try predicate(.disjunction)
        if token.kind != .end { throw error("Expected AND, OR or the end of the format.") }
        try arguments.checkAllTaken()
        return part.node
    }

    // MARK: Tokens

    mutating func advance() throws(DataSourceError) {
        end = token.range.upperBound
        token = try lexer.next()
    }

    mutating func take(_ symbol: FormatSymbol) throws(DataSourceError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: FormatSymbol, _ place: String) throws(DataSourceError) {
        if try !take(symbol) { throw error("Expected \(symbol.rawValue) \(place).") }
    }

    mutating func argument(_ kind: FormatArgument) throws(DataSourceError) -> (any Sendable)? {
        let range = token.range
        guard let argument = arguments.next() else {
            let given = arguments.count == 1 ? "1 was" : "\(arguments.count) were"
            throw error("There is no argument for this placeholder: only \(given) given.", at: range)
        }
        try advance()
        return argument
    }

    func error(_ complaint: String, at range: Range<Int>? = nil) -> DataSourceError {
        lexer.source.error(complaint, at: range ?? token.range)
    }

    // MARK: Parts

    /// The longest part at this position without operators of lower precedence.
    mutating func part(_ power: FormatPower) throws(DataSourceError) -> FormatPart {
        depth += 1
        defer { depth -= 1 }
        // A level of the tree can use two levels here: an operator and the parentheses around it. A literal such as
        // STORED(DATA("00")) uses two more.
        if depth > 2 * Self.mostDepth + 4 { throw tooDeep }
        let start = token.range.lowerBound
        var left = try first()
        left.range = start..<end
        while let infix = FormatInfix(token.kind), infix.power >= power {
            left = try joined(left, infix)
            left.range = start..<end
        }
        return left
    }

    private mutating func joined(_ left: FormatPart, _ infix: FormatInfix) throws(DataSourceError) -> FormatPart {
        switch infix {
        case .and, .or: return try compound(left, infix)
        case .arithmetic(let operation):
            try advance()
            let one = try expression(left)
            let other = try expression(operation == .power ? .power : infix.power.next)
            return try made(.arithmetic(one.value, operation, other.value), [one, other])
        case .comparison, .text, .isIn, .between: return try comparison(left, infix)
        }
    }

    /// Everything that one kind of connective joins, as one node.
    private mutating func compound(_ first: FormatPart, _ infix: FormatInfix) throws(DataSourceError) -> FormatPart {
        var parts = [try predicate(first)]
        while FormatInfix(token.kind) == infix {
            try advance()
            parts.append(try predicate(infix.power.next))
        }
        let nodes = parts.map(\.node)
        return try made(infix == .and ? .and(nodes) : .or(nodes), parts)
    }

    private mutating func comparison(_ first: FormatPart, _ infix: FormatInfix) throws(DataSourceError) -> FormatPart {
        guard case .expression = first.content else {
            throw error("A condition is compared here. Write TERNARY(condition, YES, NO) to compare its value.")
        }
        try advance()
        let options = try textOptions()
        let one = try expression(first)
        let otherStart = token.range
        let other = try expression(.value)
        switch infix {
        case .comparison(let operation):
            return try made(.compare(one.value, operation, other.value, options), [one, other])
        case .text(let operation):
            return try made(.formatText(one.value, operation, other.value, options), [one, other])
        case .between:
            if case .variable = other.value {
                return try made(.isWithin(one.value, other.value, options), [one, other])
            }
            guard case .list(let bounds) = other.value, bounds.count == 2 else {
                throw error("BETWEEN takes a list of two values, as in {1, 5}.", at: otherStart)
            }
            return try made(.between(one.value, bounds[0], bounds[1], options), [one, other])
        default: return try made(.isIn(one.value, other.value, options), [one, other])
        }
    }

    /// `[cd]` and the like.
    private mutating func textOptions() throws(DataSourceError) -> StringOptions {
        var options: StringOptions = []
        guard try take(.leftBracket) else { return options }
        let complaint = "The options of an operator are the letters c, d, n, l and u in brackets, as in [cd]."
        guard case .word(let letters) = token.kind, letters.utf8.count <= 5 else { throw error(complaint) }
        for letter in letters.lowercased() {
            guard let option = StringOptions(formatLetter: letter) else { throw error(complaint) }
            options.insert(option)
        }
        try advance()
        try expect(.rightBracket, "after the options of an operator")
        return options
    }

    // MARK: Making parts

    /// The next part, which must be a condition.
    mutating func predicate(_ power: FormatPower) throws(DataSourceError) -> FormatPredicatePart {
        let part = try part(power)
        return try predicate(part)
    }

    /// The next part, which must be a value.
    mutating func expression(_ power: FormatPower) throws(DataSourceError) -> FormatExpressionPart {
        let part = try part(power)
        return try expression(part)
    }

    /// The part, if it is a condition.
    func predicate(_ part: FormatPart) throws(DataSourceError) -> FormatPredicatePart {
        guard case .predicate(let node) = part.content else {
            let ends: [FormatToken.Kind] = [.end, .symbol(.rightParenthesis), .symbol(.comma)]
            let isAtEnd = ends.contains(token.kind) || FormatInfix(token.kind) != nil
            throw isAtEnd
                ? error(
                    "Expected a comparison, but this is a value. Compare it, as in isFavorite == YES.", at: part.range)
                : error("Expected an operator, as == or CONTAINS.")
        }
        return FormatPredicatePart(node: node, height: part.height)
    }

    /// The part, if it is a value.
    func expression(_ part: FormatPart) throws(DataSourceError) -> FormatExpressionPart {
        guard case .expression(let value) = part.content else {
            throw error("Expected a value, but this is a condition.", at: part.range)
        }
        return FormatExpressionPart(value: value, height: part.height)
    }

    func made(_ node: PredicateTree.Node, _ parts: [any FormatHeight]) throws(DataSourceError) -> FormatPart {
        try made(.predicate(node), parts)
    }

    func made(_ value: FetchExpression, _ parts: [any FormatHeight]) throws(DataSourceError) -> FormatPart {
        try made(.expression(value), parts)
    }

    private func made(
        _ content: FormatPart.Content, _ parts: [any FormatHeight]
    ) throws(DataSourceError) -> FormatPart {
        let height = 1 + (parts.lazy.map(\.height).max() ?? 0)
        if height > Self.mostDepth { throw tooDeep }
        return FormatPart(content: content, height: height, range: end..<end)
    }

    private var tooDeep: DataSourceError {
        error(
            "The nesting is deeper than \(Self.mostDepth) levels. Pass lists as arguments, and join conditions with AND or OR."
        )
    }
}
