internal import Foundation
internal import ManagedModel
internal import RowStore

extension FormatParser {
    mutating func first() throws(DataSourceError) -> FormatPart {
        switch token.kind {
        case .keyword(let keyword): return try first(keyword)
        case .symbol(let symbol): return try first(symbol)
        case .text(let text): return try constant(.text(text))
        case .integer(let number): return try constant(.of(number))
        case .double(let number): return try constant(.double(number))
        case .digits(let text): return try constant(.digits(text))
        case .decimal(let number): return try constant(.decimal(number))
        case .variable(let name):
            try advance()
            return try path(of: makePart(.variable(name), []))
        case .argument(let argument): return try first(argument)
        case .word(let word): return try keyPathOrFunction(word)
        case .key: return try keyPath()
        case .end: throw error("The format ends where a value or a condition is expected.")
        }
    }

    private mutating func constant(_ value: FetchValue) throws(DataSourceError) -> FormatPart {
        try advance()
        return try makePart(.constant(value), [])
    }

    private mutating func first(_ keyword: FormatKeyword) throws(DataSourceError) -> FormatPart {
        switch keyword {
        case .null, .nil: return try constant(.null)
        case .true, .yes: return try constant(.boolean(true))
        case .false, .no: return try constant(.boolean(false))
        case .truePredicate, .falsePredicate:
            try advance()
            return try makePart(PredicateTree.Node.constant(keyword == .truePredicate), [])
        case .not: return try negation()
        case .any, .some: return try quantified(.any)
        case .all: return try quantified(.all)
        case .none: return try quantified(.none)
        case .object:
            try advance()
            return try consume(.dot) ? keyPath() : makePart(.object, [])
        case .subquery: return try path(of: subquery())
        case .anyKey: throw error("ANYKEY is not supported. Name the keys and join the comparisons with OR.")
        default:
            throw error("Expected a value or a condition. If \(keyword.rawValue) is a key, write a # before it.")
        }
    }

    private mutating func first(_ symbol: FormatSymbol) throws(DataSourceError) -> FormatPart {
        switch symbol {
        case .leftParenthesis:
            try advance()
            let inner = try part(.disjunction)
            try expect(.rightParenthesis, "to close the parenthesis")
            return inner
        case .leftBrace: return try list()
        case .not: return try negation()
        case .minus: return try negative()
        case .onesComplement:
            try advance()
            let operand = try expression(.prefix)
            return try makePart(.function(.onesComplement, [operand.value]), [operand])
        case .plus: throw error("Write the number without a +.")
        default: throw error("Expected a value or a condition.")
        }
    }

    private mutating func negation() throws(DataSourceError) -> FormatPart {
        try advance()
        let operand = try predicate(.comparison)
        return try makePart(.not(operand.node), [operand])
    }

    private mutating func quantified(_ quantifier: PredicateTree.Quantifier) throws(DataSourceError) -> FormatPart {
        try advance()
        let operand = try predicate(.comparison)
        return try makePart(.quantified(quantifier, operand.node), [operand])
    }

    /// Reads a minus sign: the sign of a number, or the negation of another value.
    private mutating func negative() throws(DataSourceError) -> FormatPart {
        try advance()
        switch token.kind {
        case .integer(let number): return try constant(.negative(number))
        case .double(let number): return try constant(.double(-number))
        case .digits(let text): return try constant(.digits("-" + text))
        case .decimal(let number): return try constant(.decimal(-number))
        default: break
        }
        let operand = try expression(.prefix)
        return try makePart(.negated(operand.value), [operand])
    }

    private mutating func list() throws(DataSourceError) -> FormatPart {
        try advance()
        let elements = try values(until: .rightBrace)
        return try makePart(.list(elements.map(\.value)), elements)
    }

    /// Reads values separated by commas, and the closing token.
    mutating func values(until end: FormatSymbol) throws(DataSourceError) -> [FormatExpressionPart] {
        var values: [FormatExpressionPart] = []
        if try consume(end) { return values }
        repeat { values.append(try expression(.value)) } while try consume(.comma)
        try expect(end, "or a comma")
        return values
    }

    // MARK: Arguments

    private mutating func first(_ kind: FormatArgument) throws(DataSourceError) -> FormatPart {
        let range = token.range
        if kind == .keyPath { return try keyPath() }
        let argument = try argument(kind)
        if kind == .value, let predicate = argument as? any PredicateTreeConvertible {
            return try makePart(predicate.tree.node, [])
        }
        guard let value = FetchExpression(argument: argument) else {
            throw error(
                "An argument of the type \(FetchExpression.typeName(argument)) is neither a value that an attribute can have, nor a list of at most \(FetchExpression.maxElements) such values.",
                at: range)
        }
        switch (kind, value) {
        case (.integer, .constant(.integer)), (.integer, .constant(.decimal)), (.double, .constant(.double)),
            (.value, _):
            return try makePart(value, [])
        case (.integer, .constant(.boolean(let flag))): return try makePart(.constant(.integer(flag ? 1 : 0)), [])
        case (.double, .constant(.integer(let number))): return try makePart(.constant(.double(Double(number))), [])
        default:
            let word = kind == .integer ? "a whole number" : "a number with a fraction"
            throw error(
                "The placeholder stands for \(word), but the argument is a \(FetchExpression.typeName(argument)). Use %@.",
                at: range)
        }
    }

    // MARK: Key paths

    /// Reads the keys after a dot, if a dot follows. Returns the part with these keys.
    private mutating func path(of base: FormatPart) throws(DataSourceError) -> FormatPart {
        guard try consume(.dot) else { return base }
        let keys = try path(after: self.keys())
        let base = try expression(base)
        return try makePart(.path(base.value, keys), [base])
    }

    /// Reads a key path, or a function if a parenthesis follows.
    private mutating func keyPathOrFunction(_ word: String) throws(DataSourceError) -> FormatPart {
        let start = token.range
        try advance()
        var name = word
        let hasColon = try consume(.colon)
        if hasColon, case .word(let second) = token.kind {
            // The name of the function has a word for each of its two values, as in modulus:by:(a, b).
            name += ":" + second
            try advance()
            try expect(.colon, "after \(name)")
        }
        if token.kind == .symbol(.leftParenthesis) { return try function(name, at: start) }
        if hasColon { throw error("Expected ( after \(name):.") }
        return try keyPath(after: word)
    }

    /// Reads the key path at this position.
    private mutating func keyPath() throws(DataSourceError) -> FormatPart {
        let keys = try self.keys()
        return try keyPath(after: keys)
    }

    private mutating func keyPath(after word: String) throws(DataSourceError) -> FormatPart {
        try keyPath(after: [word])
    }

    private mutating func keyPath(after first: [String]) throws(DataSourceError) -> FormatPart {
        try makePart(.keyPath(path(after: first)), [])
    }

    /// Reads the rest of a key path, and returns all its keys.
    private mutating func path(after first: [String]) throws(DataSourceError) -> [String] {
        var keys = first
        while true {
            if try consume(.dot) {
                keys += try self.keys()
            } else if try consume(.leftBracket) {
                keys.append(try subscriptKey())
            } else {
                return keys
            }
        }
    }

    /// Reads the index in brackets after a key: `[0]`, `[FIRST]`, `[LAST]` or `[SIZE]`. Returns the index as a key,
    /// such as `@0` or `@count`.
    private mutating func subscriptKey() throws(DataSourceError) -> String {
        let key: String
        switch token.kind {
        case .integer(let number): key = "@\(number)"
        case .word(let word) where word.uppercased() == "SIZE": key = "@count"
        case .word(let word) where ["FIRST", "LAST"].contains(word.uppercased()): key = "@" + word.lowercased()
        default: throw error("Expected a number, FIRST, LAST or SIZE.")
        }
        try advance()
        try expect(.rightBracket, "after the index in a list")
        return key
    }

    /// Reads one component of a key path. The argument for a placeholder can contain several keys.
    private mutating func keys() throws(DataSourceError) -> [String] {
        switch token.kind {
        case .word(let key), .key(let key):
            try advance()
            return [key]
        case .keyword(let keyword):
            throw error("Expected a key. If \(keyword.rawValue) is a key, write a # before it.")
        case .argument(.keyPath):
            let range = token.range
            let argument = try argument(.keyPath)
            guard let argument, let keys = try FetchExpression.keys(argument) else {
                throw error(
                    "The placeholder stands for a key path, but the argument is a \(FetchExpression.typeName(argument)).",
                    at: range)
            }
            return keys
        default: throw error("Expected a key.")
        }
    }
}

/// Literals that are written as calls.
enum FormatLiteral: String {
    case date = "DATE"
    case data = "DATA"
    case uuid = "UUID"
    case url = "URL"
    case decimal = "DECIMAL"
    case double = "DOUBLE"
    case objectID = "OBJECTID"
    case stored = "STORED"

    var argument: String {
        switch self {
        case .date: "the seconds since 1 January 2001"
        case .data: "an even number of hexadecimal digits in quotes"
        case .uuid: "a UUID in quotes"
        case .url: "a URL in quotes"
        case .decimal: "a number in quotes"
        case .double: "nan, inf or -inf in quotes"
        case .objectID: "the name of an entity in quotes and a number"
        case .stored: "a string, a number or DATA()"
        }
    }

    func value(_ arguments: [FetchExpression]) -> FetchValue? {
        if case .constant(.digits(let text)) = arguments.first, let near = Double(text) {
            return value([.constant(.double(near))] + arguments.dropFirst())
        }
        return switch (self, arguments.first, arguments.count) {
        case (.date, .constant(.double(let seconds)), 1): .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.date, .constant(.integer(let seconds)), 1): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case (.objectID, .constant(.text(let name)), 2): objectID(name, arguments[1])
        case (.stored, .constant(let constant), 1): Self.stored(constant)
        case (_, .constant(.text(let text)), 1): value(text)
        default: nil
        }
    }

    private func value(_ text: String) -> FetchValue? {
        switch self {
        case .data: Data(hexadecimal: text).map(FetchValue.data)
        case .uuid: UUID(uuidString: text).map(FetchValue.uuid)
        case .url: URL(string: text).flatMap { $0.absoluteString == text ? .url($0) : nil }
        case .decimal where text == "NaN": .decimal(.nan)
        case .decimal: Decimal(string: text, locale: posix).flatMap { "\($0)" == text ? .decimal($0) : nil }
        case .double where ["nan", "inf", "-inf"].contains(text): Double(text).map(FetchValue.double)
        case .double, .date, .objectID, .stored: nil
        }
    }

    private func objectID(_ entity: String, _ key: FetchExpression) -> FetchValue? {
        guard case .constant(.integer(let key)) = key else { return nil }
        return .objectID(entityName: entity, key: key)
    }

    private static func stored(_ constant: FetchValue) -> FetchValue? {
        switch constant {
        case .text(let text): .stored(StoredValue(.text(text)))
        case .integer(let number): .stored(StoredValue(.integer(number)))
        case .double(let number): .stored(StoredValue(.real(number)))
        case .data(let data): .stored(StoredValue(.blob(Array(data))))
        case .null: .stored(StoredValue(.null))
        default: nil
        }
    }
}

extension Data {
    /// The bytes of a string of hexadecimal digits; nil for other strings.
    init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        self.init(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }

    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

private let posix = Locale(identifier: "en_US_POSIX")
