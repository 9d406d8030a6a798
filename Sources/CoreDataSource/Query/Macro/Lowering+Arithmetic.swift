internal import Foundation
internal import RowStore

// Arithmetic of whole numbers and of doubles. Floats round differently, and decimals have their own rules: they are asked
// of the object.

extension PredicateExpressions.Arithmetic: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let operation: ArithmeticOperator =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw NotQueryable(construct: "arithmetic that is new")
            }
        return try lowerArithmetic(lhs, operation, rhs, scope)
    }
}

extension PredicateExpressions.IntDivision: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .divide, rhs, scope)
    }
}

extension PredicateExpressions.IntRemainder: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .remainder, rhs, scope)
    }
}

extension PredicateExpressions.FloatDivision: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .divide, rhs, scope)
    }
}

extension PredicateExpressions.UnaryMinus: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try checkArithmetic(Wrapped.Output.self)
        let value = try scope.value(wrapped)
        // A literal with a minus before it.
        if case .constant(.integer(let number)) = value, number != .min {
            return .value(.constant(.integer(-number)), zero: nil)
        }
        if case .constant(.double(let number)) = value { return .value(.constant(.double(-number)), zero: nil) }
        return .value(.negated(value), zero: nil)
    }
}

private func lowerArithmetic<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS, _ operation: ArithmeticOperator, _ rhs: RHS, _ scope: LoweringScope
) throws(NotQueryable) -> LoweredPart {
    try checkArithmetic(LHS.Output.self)
    return .value(.arithmetic(try scope.value(lhs), operation, try scope.value(rhs)), zero: nil)
}

private func checkArithmetic(_ type: Any.Type) throws(NotQueryable) {
    let types: [Any.Type] = [Int16.self, Int32.self, Int64.self, Double.self]
    if !types.contains(where: { $0 == type }) { throw NotQueryable(construct: "arithmetic of \(type)") }
}
