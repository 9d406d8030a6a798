internal import ManagedModel
internal import RowStore

/// Functions, and values that have no literal.
extension FormatParser {
    /// The call of the function with that name; the token is its opening parenthesis.
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
        if name == "NOINDEX", values.count == 1 { return try made(values[0].value, values) }
        if name == "COALESCE", values.count == 2 {
            return try made(.coalesce(values[0].value, values[1].value), values)
        }
        if let operation = ArithmeticOperator(formatFunction: name) {
            guard values.count == 2 else {
                throw error("It takes two values, but \(values.count) were given.", at: range)
            }
            return try made(.arithmetic(values[0].value, operation, values[1].value), values)
        }
        if let type = FormatLiteral(rawValue: name) {
            guard let value = type.value(values.map(\.value)) else {
                throw error("\(name)() takes \(type.argument).", at: range)
            }
            return try made(.constant(value), [])
        }
        guard let function = FetchFunction(formatName: name) else {
            throw error("There is no function with that name.", at: range)
        }
        guard function.argumentCounts.contains(values.count) else {
            throw error("\(function.formatName)() does not take \(values.count) values.", at: range)
        }
        return try made(.function(function, values.map(\.value)), values)
    }

    /// `CAST(value, "type")`.
    private mutating func cast() throws(DataSourceError) -> FormatPart {
        try advance()
        let value = try expression(.value)
        try expect(.comma, "and a type after the value of a CAST")
        guard case .text(let name) = token.kind, let type = AttributeType(castName: name) else {
            throw error("Expected a type in quotes, as in CAST(value, \"NSDate\") or CAST(value, \"Integer 64\").")
        }
        try advance()
        try expect(.rightParenthesis, "to close the CAST")
        return try made(.cast(value.value, type), [value])
    }

    /// `SUBQUERY(objects, $variable, condition)`.
    mutating func subquery() throws(DataSourceError) -> FormatPart {
        try advance()
        try expect(.leftParenthesis, "after SUBQUERY")
        let objects = try expression(.value)
        try expect(.comma, "and a variable after the objects of a SUBQUERY")
        guard case .variable(let name) = token.kind else {
            throw error("Expected a variable, as $x in SUBQUERY(messages, $x, $x.isRead == NO).")
        }
        try advance()
        try expect(.comma, "and a condition after the variable of a SUBQUERY")
        let test = try predicate(.disjunction)
        try expect(.rightParenthesis, "to close the SUBQUERY")
        return try made(.subquery(objects.value, variable: name, test.node), [objects, test])
    }

    /// `TERNARY(condition, value, value)`.
    private mutating func ternary() throws(DataSourceError) -> FormatPart {
        try advance()
        let test = try predicate(.disjunction)
        try expect(.comma, "and two values after the condition of a TERNARY")
        let values = try values(until: .rightParenthesis)
        guard values.count == 2 else { throw error("TERNARY takes a condition and two values.") }
        return try made(.conditional(test.node, values[0].value, values[1].value), [test, values[0], values[1]])
    }
}

extension ArithmeticOperator {
    /// The operator of a function with a word for each of its two values; its name in capitals.
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

    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        default: 1...1
        }
    }
}

extension AttributeType {
    /// The type with that name: a type of a model, or the class of such values elsewhere.
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

    /// `[cd]`, or nothing.
    var formatSuffix: String {
        let letters = "cdnlu".filter { StringOptions(formatLetter: $0).map(contains) ?? false }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
