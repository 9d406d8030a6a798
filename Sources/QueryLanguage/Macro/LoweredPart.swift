internal import Foundation
internal import RowStore

/// A part of a Foundation predicate, lowered to nodes and expressions of the predicate tree.
indirect enum LoweredPart {
    /// The object itself.
    case object
    /// A value of the row.
    ///
    /// - Parameter zero: The value that replaces a stored nil. There is none if the attribute is optional in Swift.
    case value(FetchExpression, zero: FetchValue?)
    /// A value of an object at the end of an optional chain.
    ///
    /// - Parameters:
    ///   - zero: The value that replaces a stored nil if the object exists.
    ///   - isMissing: A predicate that is true if the object does not exist. The value is then nil.
    case reached(FetchExpression, zero: FetchValue, isMissing: PredicateTree.Node)
    /// The destination of a to-one relationship, or an element of a to-many relationship.
    case related(FetchExpression, any QueriedObject.Type)
    /// The destinations of a to-many relationship, or a subquery of them.
    case objects(FetchExpression, any QueriedObject.Type)
    /// A calculated integer of fewer than 64 bits.
    case narrow(NarrowNumber)
    case condition(PredicateTree.Node)
    /// A predicate that can be nil; nil counts as false.
    case optionalCondition(isNil: PredicateTree.Node, PredicateTree.Node)
    /// A captured value.
    case captured(Any)
    case range(LoweredPart, LoweredPart, isClosed: Bool)

    // MARK: Conversions

    func condition() throws(NotQueryable) -> PredicateTree.Node {
        switch self {
        case .condition(let node): return node
        case .optionalCondition(_, let node): return node
        case .value(.constant(.null), _): return .constant(false)
        case .value(let value, _): return .compare(value, .equal, .constant(.boolean(true)), [])
        case .captured(let value):
            guard let flag = value as? Bool else { throw NotQueryable(construct: "a value of type \(type(of: value))") }
            return .constant(flag)
        case .reached(let value, _, let isMissing):
            return .all([.negation(isMissing), .compare(value, .equal, .constant(.boolean(true)), [])])
        case .object, .related, .objects, .narrow, .range: throw NotQueryable(construct: "an object as a condition")
        }
    }

    /// Two predicates: the first is true if the part is nil, the second is true if the part is true.
    func optionalCondition() throws(NotQueryable) -> (isNil: PredicateTree.Node, isTrue: PredicateTree.Node) {
        switch self {
        case .optionalCondition(let isNil, let isTrue): return (isNil, isTrue)
        case .captured(let value):
            guard let flag = value as? Bool? else {
                throw NotQueryable(construct: "a value of type \(type(of: value))")
            }
            return (.constant(flag == nil), .constant(flag == true))
        default: return (try isNil(), try condition())
        }
    }

    func isNil() throws(NotQueryable) -> PredicateTree.Node {
        switch self {
        case .optionalCondition(let isNil, _): return isNil
        case .value(.constant(.null), nil): return .constant(true)
        case .value(let value, nil): return value.isNil
        case .narrow(let number): return number.expression.isNil
        case .captured(let value): return .constant(isAbsent(value))
        case .reached(_, _, let isMissing): return isMissing
        case .related(.variable, _): return .constant(false)
        case .related(let object, _): return object.isNil
        case .value, .condition, .object, .objects, .range: return .constant(false)
        }
    }

    func expression() throws(NotQueryable) -> FetchExpression {
        switch self {
        case .value(let value, let zero?): return .coalesce(value, .constant(zero))
        case .value(let value, nil): return value
        case .narrow(let number): return number.expression
        case .condition(let node): return .of(node)
        case .optionalCondition(let isNil, let node): return .conditional(isNil, .constant(.null), .of(node))
        case .captured(let value): return try FetchExpression(captured: value)
        case .reached(let value, let zero, let isMissing):
            return .conditional(isMissing, .constant(.null), .coalesce(value, .constant(zero)))
        case .related(let object, _): return object
        case .object: return .object
        case .objects, .range: throw NotQueryable(construct: "many objects as a value")
        }
    }

    // MARK: Comparing

    /// Compares the part with a part of the same type. Nil equals nil, and has no order.
    func compared(
        _ operation: ComparisonOperator, _ other: LoweredPart, isText: Bool
    ) throws(NotQueryable) -> PredicateTree.Node {
        if let node = try comparedAsNarrowNumber(operation, other) { return node }
        if case .captured = self, case .captured = other {
        } else {
            if case .value(let value, let zero?) = self, let constant = try other.constant() {
                return value.compared(operation, constant, zero: zero)
            }
            if case .value(let value, let zero?) = other, let constant = try constant() {
                return value.compared(operation.mirrored, constant, zero: zero)
            }
            if case .reached(let value, let zero, let isMissing) = self, let constant = try other.constant() {
                return value.compared(operation, constant, zero: zero, isMissing: isMissing)
            }
            if case .reached(let value, let zero, let isMissing) = other, let constant = try constant() {
                return value.compared(operation.mirrored, constant, zero: zero, isMissing: isMissing)
            }
        }
        let one = try expression()
        let other = try other.expression()
        return one.compared(operation, other, isText: isText)
    }

    /// The captured value or literal; nil for a list and for other parts.
    func constant() throws(NotQueryable) -> FetchValue? {
        switch self {
        case .captured, .value(.constant, nil):
            guard case .constant(let constant) = try expression() else { return nil }
            return constant
        default: return nil
        }
    }
}

extension FetchExpression {
    /// The Boolean value of a predicate.
    static func of(_ node: PredicateTree.Node) -> FetchExpression {
        switch node {
        case .constant(let answer): .constant(.boolean(answer))
        default: .conditional(node, .constant(.boolean(true)), .constant(.boolean(false)))
        }
    }

    /// - Throws: `NotQueryable` if no attribute can have the captured value.
    init(captured value: Any) throws(NotQueryable) {
        guard let value = FetchExpression(argument: value) else {
            throw NotQueryable(construct: "a value of type \(Swift.type(of: value))")
        }
        if case .constant(.url(let url)) = value, url.baseURL != nil {
            throw NotQueryable(construct: "a relative URL")
        }
        self = value
    }

    var isNil: PredicateTree.Node { .compare(self, .equal, .constant(.null), []) }

    /// The value at the end of the keys, starting at the object of the expression.
    func appending(_ keys: [String]) -> FetchExpression {
        switch self {
        case .object: .keyPath(keys)
        case .keyPath(let path): .keyPath(path + keys)
        case .path(let base, let path): .path(base, path + keys)
        default: .path(self, keys)
        }
    }

    /// Compares as Swift does: strings character by character, and NaN equals nothing.
    func compared(
        _ operation: ComparisonOperator, _ other: FetchExpression, isText: Bool
    ) -> PredicateTree.Node {
        if isNotANumber || other.isNotANumber { return .constant(operation == .notEqual) }
        guard isText else { return .compare(self, operation, other, []) }
        if operation == .equal || operation == .notEqual {
            if let spellings = other.spellings { return isOne(of: spellings, operation) }
            if let spellings { return other.isOne(of: spellings, operation) }
        }
        return .compare(self, operation, other, .characters)
    }

    /// Compares the expression with several strings byte by byte, so that an index can be used.
    private func isOne(of texts: [FetchExpression], _ operation: ComparisonOperator) -> PredicateTree.Node {
        if texts.count == 1 { return .compare(self, operation, texts[0], []) }
        let node = PredicateTree.Node.isIn(self, .list(texts), [])
        return operation == .equal ? node : .negation(node)
    }

    /// Compares an attribute with a constant. If the attribute is nil, `zero` is compared instead.
    ///
    /// - Parameter isMissing: A predicate that is true if the object does not exist. The value is then nil.
    fileprivate func compared(
        _ operation: ComparisonOperator, _ constant: FetchValue, zero: FetchValue,
        isMissing: PredicateTree.Node = .constant(false)
    ) -> PredicateTree.Node {
        if constant == .null, operation == .equal || operation == .notEqual {
            return operation == .equal ? isMissing : .negation(isMissing)
        }
        let isText = if case .text = constant { true } else { false }
        let node = compared(operation, .constant(constant), isText: isText)
        if case .constant = node { return node }
        let answer = operation.holds(zero.order(to: constant))
        if answer == (operation == .notEqual) { return node }
        let isZero = PredicateTree.Node.all([isNil, .negation(isMissing)])
        return answer ? .any([node, isZero]) : .all([node, .negation(isZero)])
    }

    /// Whether the expression is the constant NaN, which equals nothing.
    var isNotANumber: Bool {
        switch self {
        case .constant(.double(let number)): number.isNaN
        case .constant(.date(let date)): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }

    /// All values that equal a constant: for a string, all its spellings. Nil if there are many values, or if the expression is
    /// not a constant.
    var spellings: [FetchExpression]? {
        guard case .constant(let value) = self else { return nil }
        guard case .text(let text) = value else { return [self] }
        return text.spellings?.map { .constant(.text($0)) }
    }
}

extension String {
    /// Whether no other string is canonically equivalent to this string. This is true for ASCII strings without five
    /// characters. K, the semicolon and the backquote have equivalent scalars. A carriage return and a line feed together make one
    /// character.
    var hasSingleSpelling: Bool {
        utf8.allSatisfy { $0 < 0x80 && !Self.doubled.contains($0) }
    }

    private static let doubled: [UInt8] = Array("K;`\r\n".utf8)
}

extension ComparisonOperator {
    /// Whether the comparison is true for two values with the given order. The order is nil if the values have none.
    func holds(_ order: Int?) -> Bool { order.map { holds($0) } ?? (self == .notEqual) }
}

extension FetchValue {
    /// The order of two values of one type; nil if they have no order.
    func order(to other: FetchValue) -> Int? {
        switch (self, other) {
        case (.text(let lhs), .text(let rhs)): order(lhs, rhs)
        case (.integer(let lhs), .integer(let rhs)): order(lhs, rhs)
        case (.double(let lhs), .double(let rhs)): order(lhs, rhs)
        case (.decimal(let lhs), .decimal(let rhs)): order(lhs, rhs)
        case (.date(let lhs), .date(let rhs)): order(lhs, rhs)
        case (.uuid(let lhs), .uuid(let rhs)): order(lhs, rhs)
        default: self == other ? 0 : nil
        }
    }

    private func order<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Int {
        lhs == rhs ? 0 : lhs < rhs ? -1 : 1
    }
}
