internal import ManagedModel
internal import RowStore

/// Reads a predicate from a format string.
///
/// The parser looks one token ahead and never goes back, so its time is linear in the length of the format. The tree has at
/// most ``maxDepth`` levels, so functions over the tree can be recursive.
struct FormatParser {
    /// The largest number of levels of nested parentheses, functions and chains of arithmetic.
    static let maxDepth = 100
    /// The longest format, in bytes of UTF-8.
    static let maxBytes = 16 << 20

    private var lexer: FormatLexer
    private(set) var token: FormatToken
    /// The position after the token that was taken last, in bytes.
    private var end = 0
    private var arguments: FormatArguments
    private var depth = 0

    static func predicate(
        _ format: String, _ arguments: [(any Sendable)?]
    ) throws(DataSourceError) -> PredicateTree.Node {
        guard format.utf8.count <= maxBytes else {
            throw DataSourceError(
                .unreadablePredicate,
                "The predicate format is \(format.utf8.count) bytes long, and at most \(maxBytes) are allowed. Pass long lists as arguments."
            )
        }
        var parser = try FormatParser(FormatSource(format), arguments)
        return try parser.parseFormat()
    }

    private init(_ source: FormatSource, _ arguments: [(any Sendable)?]) throws(DataSourceError) {
        lexer = FormatLexer(source)
        token = try lexer.next()
        self.arguments = FormatArguments(arguments)
    }

    private mutating func parseFormat() throws(DataSourceError) -> PredicateTree.Node {
        if token.kind == .end { throw error("The format is empty. Write TRUEPREDICATE for all objects.") }
        let part = try predicate(.disjunction)
        if token.kind != .end { throw error("Expected AND, OR or the end of the format.") }
        try arguments.checkAllArgumentsUsed()
        return part.node
    }

    // MARK: Tokens

    mutating func advance() throws(DataSourceError) {
        end = token.range.upperBound
        token = try lexer.next()
    }

    mutating func consume(_ symbol: FormatSymbol) throws(DataSourceError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: FormatSymbol, _ location: String) throws(DataSourceError) {
        if try !consume(symbol) { throw error("Expected \(symbol.rawValue) \(location).") }
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

    func error(_ problem: String, at range: Range<Int>? = nil) -> DataSourceError {
        lexer.source.error(problem, at: range ?? token.range)
    }

    // MARK: Parts

    /// Reads the part at this position, up to the first operator whose precedence is lower than `power`.
    mutating func part(_ power: FormatPrecedence) throws(DataSourceError) -> FormatPart {
        depth += 1
        defer { depth -= 1 }
        // A level of the tree can use two calls of this method: one for an operator and one for the parentheses around it.
        // A literal such as STORED(DATA("00")) uses two more.
        if depth > 2 * Self.maxDepth + 4 { throw tooDeep }
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
            let lhs = try expression(left)
            let rhs = try expression(operation == .power ? .power : infix.power.next)
            return try makePart(.arithmetic(lhs.value, operation, rhs.value), [lhs, rhs])
        case .comparison, .text, .isIn, .between: return try comparison(left, infix)
        }
    }

    /// Reads all operands of a chain of AND or of OR into one node.
    private mutating func compound(_ first: FormatPart, _ infix: FormatInfix) throws(DataSourceError) -> FormatPart {
        var parts = [try predicate(first)]
        while FormatInfix(token.kind) == infix {
            try advance()
            parts.append(try predicate(infix.power.next))
        }
        let nodes = parts.map(\.node)
        return try makePart(infix == .and ? .and(nodes) : .or(nodes), parts)
    }

    private mutating func comparison(_ first: FormatPart, _ infix: FormatInfix) throws(DataSourceError) -> FormatPart {
        guard case .expression = first.content else {
            throw error("A condition cannot be compared. To compare its value, write TERNARY(condition, YES, NO).")
        }
        try advance()
        let options = try textOptions()
        let lhs = try expression(first)
        let otherStart = token.range
        let rhs = try expression(.value)
        switch infix {
        case .comparison(let operation):
            return try makePart(.compare(lhs.value, operation, rhs.value, options), [lhs, rhs])
        case .text(let operation):
            return try makePart(.formatText(lhs.value, operation, with: rhs.value, options: options), [lhs, rhs])
        case .between:
            if case .variable = rhs.value {
                return try makePart(.isWithin(lhs.value, rhs.value, options), [lhs, rhs])
            }
            guard case .list(let bounds) = rhs.value, bounds.count == 2 else {
                throw error("BETWEEN takes a list of two values, as in {1, 5}.", at: otherStart)
            }
            return try makePart(.between(lhs.value, bounds[0], bounds[1], options), [lhs, rhs])
        default: return try makePart(.isIn(lhs.value, rhs.value, options), [lhs, rhs])
        }
    }

    /// Reads options such as `[cd]`.
    private mutating func textOptions() throws(DataSourceError) -> StringOptions {
        var options: StringOptions = []
        guard try consume(.leftBracket) else { return options }
        let problem = "The options of an operator are the letters c, d, n, l and u in brackets, as in [cd]."
        guard case .word(let letters) = token.kind, letters.utf8.count <= 5 else { throw error(problem) }
        for letter in letters.lowercased() {
            guard let option = StringOptions(formatLetter: letter) else { throw error(problem) }
            options.insert(option)
        }
        try advance()
        try expect(.rightBracket, "after the options of an operator")
        return options
    }

    // MARK: Making parts

    /// Reads the next part, which must be a predicate.
    mutating func predicate(_ power: FormatPrecedence) throws(DataSourceError) -> FormatPredicatePart {
        let part = try part(power)
        return try predicate(part)
    }

    /// Reads the next part, which must be a value.
    mutating func expression(_ power: FormatPrecedence) throws(DataSourceError) -> FormatExpressionPart {
        let part = try part(power)
        return try expression(part)
    }

    /// - Throws: `unreadablePredicate` if the part is not a predicate.
    func predicate(_ part: FormatPart) throws(DataSourceError) -> FormatPredicatePart {
        guard case .predicate(let node) = part.content else {
            let ends: [FormatToken.Kind] = [.end, .symbol(.rightParenthesis), .symbol(.comma)]
            let isAtEnd = ends.contains(token.kind) || FormatInfix(token.kind) != nil
            throw isAtEnd
                ? error(
                    "Expected a comparison, but this is a value. Compare the value, as in isFavorite == YES.",
                    at: part.range)
                : error("Expected an operator, such as == or CONTAINS.")
        }
        return FormatPredicatePart(node: node, height: part.height)
    }

    /// - Throws: `unreadablePredicate` if the part is not a value.
    func expression(_ part: FormatPart) throws(DataSourceError) -> FormatExpressionPart {
        guard case .expression(let value) = part.content else {
            throw error("Expected a value, but this is a condition.", at: part.range)
        }
        return FormatExpressionPart(value: value, height: part.height)
    }

    func makePart(_ node: PredicateTree.Node, _ parts: [any FormatHeight]) throws(DataSourceError) -> FormatPart {
        try makePart(.predicate(node), parts)
    }

    func makePart(_ value: FetchExpression, _ parts: [any FormatHeight]) throws(DataSourceError) -> FormatPart {
        try makePart(.expression(value), parts)
    }

    private func makePart(
        _ content: FormatPart.Content, _ parts: [any FormatHeight]
    ) throws(DataSourceError) -> FormatPart {
        let height = 1 + (parts.lazy.map(\.height).max() ?? 0)
        if height > Self.maxDepth { throw tooDeep }
        return FormatPart(content: content, height: height, range: end..<end)
    }

    private var tooDeep: DataSourceError {
        error(
            "The nesting is deeper than \(Self.maxDepth) levels. Pass lists as arguments, and join conditions with AND or OR."
        )
    }
}

/// Parses functions, and literals that are written as calls.
extension FormatParser {
    /// Reads the call of a function. The current token must be the opening parenthesis.
    mutating func function(_ word: String, at range: Range<Int>) throws(DataSourceError) -> FormatPart {
        let name = word.uppercased()
        switch name {
        case "CAST": return try cast()
        case "TERNARY": return try ternary()
        case "FUNCTION":
            throw error("FUNCTION() is not supported. Compute the value in code and pass it as an argument.", at: range)
        default: break
        }
        try advance()
        let values = try values(until: .rightParenthesis)
        if name == "NOINDEX", values.count == 1 { return try makePart(values[0].value, values) }
        if name == "COALESCE", values.count == 2 {
            return try makePart(.coalesce(values[0].value, values[1].value), values)
        }
        if let operation = ArithmeticOperator(formatFunction: name) {
            guard values.count == 2 else {
                throw error("\(name) takes two values, but the number of given values is \(values.count).", at: range)
            }
            return try makePart(.arithmetic(values[0].value, operation, values[1].value), values)
        }
        if let type = FormatLiteral(rawValue: name) {
            guard let value = type.value(values.map(\.value)) else {
                throw error("\(name)() takes \(type.argument).", at: range)
            }
            return try makePart(.constant(value), [])
        }
        guard let function = FetchFunction(formatName: name) else {
            throw error("No function has the name \(name).", at: range)
        }
        let count = function == .now ? 0 : 1
        guard values.count == count else {
            let expected = count == 0 ? "no values" : "one value"
            throw error(
                "\(function.formatName)() takes \(expected), but the number of given values is \(values.count).",
                at: range)
        }
        return try makePart(.function(function, values.map(\.value)), values)
    }

    /// Reads `CAST(value, "type")`.
    private mutating func cast() throws(DataSourceError) -> FormatPart {
        try advance()
        let value = try expression(.value)
        try expect(.comma, "and a type after the value of a CAST")
        guard case .text(let name) = token.kind, let type = AttributeType(castName: name) else {
            throw error("Expected a type in quotes, as in CAST(value, \"NSDate\") or CAST(value, \"Integer 64\").")
        }
        try advance()
        try expect(.rightParenthesis, "to close the CAST")
        return try makePart(.cast(value.value, type), [value])
    }

    /// Reads `SUBQUERY(objects, $variable, predicate)`.
    mutating func subquery() throws(DataSourceError) -> FormatPart {
        try advance()
        try expect(.leftParenthesis, "after SUBQUERY")
        let objects = try expression(.value)
        try expect(.comma, "and a variable after the objects of a SUBQUERY")
        guard case .variable(let name) = token.kind else {
            throw error("Expected a variable, such as $x in SUBQUERY(messages, $x, $x.isRead == NO).")
        }
        try advance()
        try expect(.comma, "and a condition after the variable of a SUBQUERY")
        let test = try predicate(.disjunction)
        try expect(.rightParenthesis, "to close the SUBQUERY")
        return try makePart(.subquery(objects.value, variable: name, test.node), [objects, test])
    }

    /// Reads `TERNARY(predicate, value, value)`.
    private mutating func ternary() throws(DataSourceError) -> FormatPart {
        try advance()
        let test = try predicate(.disjunction)
        try expect(.comma, "and two values after the condition of a TERNARY")
        let values = try values(until: .rightParenthesis)
        guard values.count == 2 else { throw error("TERNARY takes a condition and two values.") }
        return try makePart(.conditional(test.node, values[0].value, values[1].value), [test, values[0], values[1]])
    }
}

extension ArithmeticOperator {
    /// The operator of a function such as `modulus:by:`.
    ///
    /// - Parameter name: The name in capitals.
    fileprivate init?(formatFunction name: String) {
        switch name {
        case "ADD:TO": self = .add
        case "FROM:SUBTRACT": self = .subtract
        case "MULTIPLY:BY": self = .multiply
        case "DIVIDE:BY": self = .divide
        case "MODULUS:BY": self = .remainder
        case "RAISE:TOPOWER": self = .power
        case "BITWISEAND:WITH": self = .bitwiseAnd
        case "BITWISEOR:WITH": self = .bitwiseOr
        case "BITWISEXOR:WITH": self = .bitwiseXor
        case "LEFTSHIFT:BY": self = .shiftLeft
        case "RIGHTSHIFT:BY": self = .shiftRight
        default: return nil
        }
    }
}

extension FetchFunction {
    init?(formatName name: String) {
        guard let function = Self.byName[name.uppercased()] else { return nil }
        self = function
    }

    var formatName: String { rawValue }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.formatName.uppercased(), $0) })
}

extension AttributeType {
    /// The type that a CAST names: `castName` is a type of a model, or a class of Foundation such as `NSNumber`.
    init?(castName name: String) {
        if let type = AttributeType(rawValue: name) {
            self = type
            return
        }
        switch name {
        case "NSNumber": self = .double
        case "NSDecimalNumber": self = .decimal
        case "NSString": self = .string
        case "NSDate": self = .date
        case "NSData": self = .binary
        case "NSUUID": self = .uuid
        case "NSURL": self = .uri
        default: return nil
        }
    }
}

extension StringOptions {
    init?(formatLetter letter: Character) {
        switch letter {
        case "c": self = .caseInsensitive
        case "d": self = .diacriticInsensitive
        case "n": self = .normalized
        case "u": self = .characters
        case "l": self = .localized
        default: return nil
        }
    }

    /// The options as a format writes them: `[cd]`; an empty string for no options.
    var formatSuffix: String {
        let letters = "cdnlu".filter { StringOptions(formatLetter: $0).map(contains) ?? false }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
