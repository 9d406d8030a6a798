internal import Foundation
internal import ManagedModel
package import RowStore

/// Writes a predicate as a format. Reading the format gives an equal predicate.
struct FormatWriter {
    private(set) var text = ""
    /// Whether a part cannot be written as a format.
    private(set) var isPartial = false

    mutating func write(_ node: PredicateTree.Node) {
        switch node {
        case .constant(let answer): text += answer ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let lhs, let operation, let rhs, let options):
            write(lhs, operation.formatName, options: options, before: rhs)
        case .text(let lhs, let operation, let rhs, let options):
            write(lhs, operation, options: options, before: rhs)
        case .isIn(let lhs, let rhs, let options): write(lhs, "IN", options: options, before: rhs)
        case .between(let lhs, let low, let high, let options):
            write(lhs, "BETWEEN", options: options, before: .list([low, high]))
        case .isWithin(let lhs, let range, let options): write(lhs, "BETWEEN", options: options, before: range)
        case .quantified(let quantifier, let node):
            text += quantifier.formatName + " "
            writeOperand(node)
        case .not(let node):
            text += "NOT "
            writeOperand(node)
        case .and: write(node.operands(isAnd: true), " AND ", none: "TRUEPREDICATE")
        case .or: write(node.operands(isAnd: false), " OR ", none: "FALSEPREDICATE")
        case .custom(let test): writeUnreadable(test.reason)
        case .invalid(let part): writeUnreadable(part.error.message)
        }
    }

    private mutating func write(
        _ lhs: FetchExpression, _ operation: StringOperator, options: StringOptions, before rhs: FetchExpression
    ) {
        let format = PredicateTree.Node.formatText(lhs, operation, with: rhs, options: options)
        guard format != .text(lhs, operation, rhs, options) else {
            return write(lhs, operation.formatName, options: options, before: rhs)
        }
        // This operator finds an empty string in every string, but the operator of the format never finds an empty string. So
        // the format also needs a condition for an empty string.
        let isText = PredicateTree.Node.compare(lhs, .notEqual, .constant(.null), [])
        if rhs.isEmptyString { return write(isText) }
        let isEmpty = PredicateTree.Node.compare(rhs, .equal, .constant(.text("")), [])
        parenthesized { $0.write(.or([format, .and([isEmpty, isText])])) }
    }

    /// Writes the description of a part that cannot be written as a format. The result cannot be read again.
    private mutating func writeUnreadable(_ reason: String) {
        text += "<\(reason)>"
        isPartial = true
    }

    private mutating func write(
        _ lhs: FetchExpression, _ operation: String, options: StringOptions, before rhs: FetchExpression
    ) {
        writeOperand(lhs)
        text += " \(operation)\(options.formatSuffix) "
        writeOperand(rhs)
    }

    private mutating func write(_ nodes: [PredicateTree.Node], _ connective: String, none: String) {
        if nodes.isEmpty { text += none }
        if nodes.count == 1 { return write(nodes[0]) }
        for (index, node) in nodes.enumerated() {
            if index > 0 { text += connective }
            writeOperand(node)
        }
    }

    /// Writes a predicate, in parentheses if it is compound.
    private mutating func writeOperand(_ node: PredicateTree.Node) {
        switch node {
        case .and, .or, .not, .quantified: parenthesized { $0.write(node) }
        default: write(node)
        }
    }

    private mutating func parenthesized(_ write: (inout FormatWriter) -> Void) {
        text += "("
        write(&self)
        text += ")"
    }

    // MARK: Values

    private mutating func write(_ value: FetchExpression) {
        switch value {
        case .keyPath(let keys): text += FormatWriter.keyPath(keys)
        case .object: text += "SELF"
        case .path(let base, let keys):
            write(base)
            text += "." + FormatWriter.keyPath(keys)
        case .subquery(let objects, let name, let predicate):
            text += "SUBQUERY("
            write(objects)
            text += ", $\(name), "
            write(predicate)
            text += ")"
        case .constant(let constant): text += constant.formatText
        case .list(let elements):
            text += "{"
            write(elements)
            text += "}"
        case .variable(let name): text += "$" + name
        case .arithmetic(let lhs, let operation, let rhs):
            writeOperand(lhs)
            text += " \(operation.formatName) "
            writeOperand(rhs)
        case .negated(let value):
            text += "-"
            parenthesized { $0.write(value) }
        case .function(let function, let values): write(function.formatName, values)
        case .conditional(let condition, let first, let second):
            text += "TERNARY("
            write(condition)
            text += ", "
            write([first, second])
            text += ")"
        case .coalesce(let lhs, let rhs): write("COALESCE", [lhs, rhs])
        case .cast(let value, let type):
            text += "CAST("
            write(value)
            text += ", \"\(type.rawValue)\")"
        }
    }

    private mutating func write(_ function: String, _ values: [FetchExpression]) {
        text += function + "("
        write(values)
        text += ")"
    }

    private mutating func write(_ values: [FetchExpression]) {
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            write(value)
        }
    }

    /// Writes a value, in parentheses if it has an operator.
    private mutating func writeOperand(_ value: FetchExpression) {
        switch value {
        case .arithmetic, .negated: parenthesized { $0.write(value) }
        default: write(value)
        }
    }

    // MARK: Words

    /// The keys joined by dots, and escaped where necessary.
    static func keyPath(_ keys: [String]) -> String {
        keys.enumerated().map { index, key in
            let name = key.hasPrefix("@") ? key.dropFirst() : key[...]
            let isWord =
                name.unicodeScalars.enumerated().allSatisfy { FormatLexer.isNameCharacter($1, isFirst: $0 == 0) }
                && !name.isEmpty
            if isWord && FormatKeyword(word: key) == nil { return key }
            return isWord && !key.hasPrefix("@") ? "#" + key : "#" + quoted(key)
        }.joined(separator: ".")
    }

    /// The string in quotes, on one line.
    static func quoted(_ text: String) -> String {
        text.inQuotes { $0.value < 0x20 || $0.value == 0x7F ? $0.controlEscape : nil }
    }
}

extension FetchValue {
    /// The value as a literal of the format.
    fileprivate var formatText: String {
        switch self {
        case .null: "NULL"
        case .boolean(let flag): flag ? "TRUE" : "FALSE"
        case .integer(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : "DOUBLE(\"\(number)\")"
        case .digits(let text): text
        case .decimal(let number): "DECIMAL(\"\(number)\")"
        case .text(let text): FormatWriter.quoted(text)
        case .date(let date): "DATE(\(FetchValue.double(date.timeIntervalSinceReferenceDate).formatText))"
        case .data(let data): "DATA(\"\(data.hexadecimal)\")"
        case .uuid(let uuid): "UUID(\"\(uuid.uuidString)\")"
        case .url(let url): "URL(\(FormatWriter.quoted(url.absoluteString)))"
        case .objectID(let entity, let key): "OBJECTID(\(FormatWriter.quoted(entity)), \(key))"
        case .stored(let stored): "STORED(\(stored.formatText))"
        }
    }
}

extension StoredValue {
    fileprivate var formatText: String {
        switch value {
        case .null: FetchValue.null.formatText
        case .integer(let number): FetchValue.integer(number).formatText
        case .real(let number): FetchValue.double(number).formatText
        case .text(let text): FetchValue.text(text).formatText
        case .blob(let bytes): FetchValue.data(Data(bytes)).formatText
        }
    }
}

extension ComparisonOperator {
    fileprivate var formatName: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension StringOperator {
    fileprivate var formatName: String {
        switch self {
        case .contains: "CONTAINS"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }
}

extension PredicateTree.Quantifier {
    fileprivate var formatName: String {
        switch self {
        case .any: "ANY"
        case .all: "ALL"
        case .none: "NONE"
        }
    }
}

extension ArithmeticOperator {
    fileprivate var formatName: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .remainder: "%"
        case .power: "**"
        case .bitwiseAnd: "&"
        case .bitwiseOr: "|"
        case .bitwiseXor: "^"
        case .shiftLeft: "<<"
        case .shiftRight: ">>"
        }
    }
}

/// In a format, `CONTAINS`, `BEGINSWITH` and `ENDSWITH` never find an empty string, as in Foundation. Swift's functions, the
/// operators of key paths and `#Predicate` find an empty string in every string.
extension StringOptions {
    /// The option of a format: an empty string on the right side is never found.
    static let findsNoEmptyString = StringOptions(rawValue: 32)
}

extension PredicateTree.Node {
    /// A comparison of strings that treats an empty string as the operators of a format do.
    package static func formatText(
        _ lhs: FetchExpression, _ operation: StringOperator, with rhs: FetchExpression, options: StringOptions
    ) -> Self {
        let isDifferent = operation.findsEmptyStrings && !rhs.isNotEmpty
        return .text(
            lhs, operation, rhs,
            isDifferent ? options.union(.findsNoEmptyString) : options.subtracting(.findsNoEmptyString))
    }
}

extension StringOperator {
    /// Whether Swift's function finds an empty string in every string, while Foundation's operator never finds it.
    var findsEmptyStrings: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith: true
        default: false
        }
    }
}

extension FetchExpression {
    /// Whether the expression is an empty constant string.
    var isEmptyString: Bool { constantText?.isEmpty ?? false }

    /// Whether the expression is a constant other than an empty string.
    fileprivate var isNotEmpty: Bool {
        guard case .constant = self else { return false }
        return !isEmptyString
    }

    private var constantText: String? {
        switch self {
        case .constant(.text(let text)): text
        case .constant(.stored(let stored)): if case .text(let text) = stored.value { text } else { nil }
        default: nil
        }
    }
}
