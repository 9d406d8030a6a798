internal import Foundation
internal import RowStore

// Comparisons and ranges.

extension PredicateExpressions.Equal: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .condition(try lowerEquality(lhs, rhs, scope))
    }
}

extension PredicateExpressions.NotEqual: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .condition(.negation(try lowerEquality(lhs, rhs, scope)))
    }
}

private func lowerEquality<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS, _ rhs: RHS, _ scope: LoweringScope
) throws(NotQueryable) -> PredicateTree.Node {
    let left = try scope.lower(lhs)
    let right = try scope.lower(rhs)
    if LHS.Output.self == Bool.self || LHS.Output.self == Bool?.self {
        return same(try left.optionalCondition(), try right.optionalCondition())
    }
    guard PlainType.isEquatable(LHS.Output.self) || left.isObject && right.isObject else {
        throw NotQueryable(construct: "a comparison of \(LHS.Output.self)")
    }
    // NaN equals nothing, but the store treats NaN as nil, and nil equals nil. So if both sides can be nil, neither may be
    // NaN.
    if try left.constant() ?? .null == .null, try right.constant() ?? .null == .null {
        try left.checkIsNumber(LHS.Output.self)
        try right.checkIsNumber(LHS.Output.self)
    }
    return try left.compared(.equal, right, isText: PlainType.isText(LHS.Output.self))
}

extension LoweredPart {
    /// Whether the part is one object, or nil.
    fileprivate var isObject: Bool {
        switch self {
        case .object, .related, .value(.constant(.null), _): true
        default: false
        }
    }
}

private typealias OptionalCondition = (isNil: PredicateTree.Node, isTrue: PredicateTree.Node)

/// A predicate that is true if both conditions are nil, both are true or both are false.
private func same(_ lhs: OptionalCondition, _ rhs: OptionalCondition) -> PredicateTree.Node {
    let isFalse = PredicateTree.Node.any([lhs.isNil, lhs.isTrue])
    let isOtherFalse = PredicateTree.Node.any([rhs.isNil, rhs.isTrue])
    return .any([
        .all([lhs.isNil, rhs.isNil]), .all([lhs.isTrue, rhs.isTrue]),
        .all([.negation(isFalse), .negation(isOtherFalse)]),
    ])
}

extension PredicateExpressions.Comparison: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let (left, right) = (try scope.lower(lhs), try scope.lower(rhs))
        guard PlainType.includes(LHS.Output.self) else {
            throw NotQueryable(construct: "a comparison of \(LHS.Output.self)")
        }
        let operation: ComparisonOperator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw NotQueryable(construct: "an unknown comparison")
            }
        return .condition(try left.compared(operation, right, isText: PlainType.isText(LHS.Output.self)))
    }
}

extension PredicateExpressions.Range: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .range(try scope.lower(lower), try scope.lower(upper), isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .range(try scope.lower(lower), try scope.lower(upper), isClosed: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let element = try scope.lower(element)
        guard PlainType.includes(Element.Output.self) else {
            throw NotQueryable(construct: "a range of \(Element.Output.self)")
        }
        let isText = PlainType.isText(Element.Output.self)
        switch try scope.lower(range) {
        case .range(let low, let high, let isClosed):
            return .condition(
                try lowerContainment(of: element, from: low, to: high, isClosed: isClosed, isText: isText))
        case .captured(let range as any CapturedRange):
            return .condition(
                try lowerContainment(
                    of: element, from: range.low, to: range.high, isClosed: range.isClosed, isText: isText))
        default: throw NotQueryable(construct: "a range of type \(RangeExpression.Output.self)")
        }
    }
}

private func lowerContainment(
    of element: LoweredPart, from low: LoweredPart?, to high: LoweredPart?, isClosed: Bool, isText: Bool
) throws(NotQueryable) -> PredicateTree.Node {
    let bounds: [(part: LoweredPart, operation: ComparisonOperator)] =
        (low.map { [($0, .greaterOrEqual)] } ?? []) + (high.map { [($0, isClosed ? .lessOrEqual : .less)] } ?? [])
    var isZeroInside = true
    var nodes: [PredicateTree.Node] = []
    for bound in bounds {
        // With constant bounds, keep the row's value alone on its side, so that an index can be used.
        guard case .value(let value, let zero?) = element, let constant = try bound.part.constant() else {
            return .all(
                try bounds.map { bound throws(NotQueryable) in
                    try element.compared(bound.operation, bound.part, isText: isText)
                })
        }
        isZeroInside = isZeroInside && bound.operation.holds(zero.order(to: constant))
        nodes.append(value.compared(bound.operation, .constant(constant), isText: isText))
    }
    guard isZeroInside, case .value(let value, _) = element else { return .all(nodes) }
    return .any([.all(nodes), value.isNil])
}

/// A captured range.
private protocol CapturedRange {
    var low: LoweredPart? { get }
    var high: LoweredPart? { get }
    var isClosed: Bool { get }
}

extension Range: CapturedRange {
    fileprivate var low: LoweredPart? { .captured(lowerBound) }
    fileprivate var high: LoweredPart? { .captured(upperBound) }
    fileprivate var isClosed: Bool { false }
}

extension ClosedRange: CapturedRange {
    fileprivate var low: LoweredPart? { .captured(lowerBound) }
    fileprivate var high: LoweredPart? { .captured(upperBound) }
    fileprivate var isClosed: Bool { true }
}

extension PartialRangeFrom: CapturedRange {
    fileprivate var low: LoweredPart? { .captured(lowerBound) }
    fileprivate var high: LoweredPart? { nil }
    fileprivate var isClosed: Bool { true }
}

extension PartialRangeThrough: CapturedRange {
    fileprivate var low: LoweredPart? { nil }
    fileprivate var high: LoweredPart? { .captured(upperBound) }
    fileprivate var isClosed: Bool { true }
}

extension PartialRangeUpTo: CapturedRange {
    fileprivate var low: LoweredPart? { nil }
    fileprivate var high: LoweredPart? { .captured(upperBound) }
    fileprivate var isClosed: Bool { false }
}
