internal import Foundation
internal import RowStore

// Arithmetic of whole numbers and of doubles. Floats round differently, and decimals have their own rules, so they are
// evaluated on the objects.

extension PredicateExpressions.Arithmetic: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let operation: ArithmeticOperator =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw NotQueryable(construct: "an unknown arithmetic operation")
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
        let part = try scope.lower(wrapped)
        try checkArithmetic(Wrapped.Output.self)
        let value = try part.expression()
        // A literal with a minus before it.
        if case .constant(.double(let number)) = value { return .value(.constant(.double(-number)), zero: nil) }
        if case .constant(.integer(let number)) = value, number != .min {
            return .value(.constant(.integer(-number)), zero: nil)
        }
        guard let width = NarrowNumber.width(of: Wrapped.Output.self) else { return .value(.negated(value), zero: nil) }
        return .narrow(try NarrowNumber(part, width).negated())
    }
}

private func lowerArithmetic<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS, _ operation: ArithmeticOperator, _ rhs: RHS, _ scope: LoweringScope
) throws(NotQueryable) -> LoweredPart {
    let (one, other) = (try scope.lower(lhs), try scope.lower(rhs))
    try checkArithmetic(LHS.Output.self)
    if let width = NarrowNumber.width(of: LHS.Output.self) {
        return .narrow(try NarrowNumber(one, width).combined(operation, NarrowNumber(other, width)))
    }
    let divisor = try other.expression()
    if operation == .divide, LHS.Output.self == Double.self, !divisor.isFinite(besidesZero: true) {
        throw NotQueryable(construct: "a division by a number that may be zero")
    }
    return .value(.arithmetic(try one.expression(), operation, divisor), zero: nil)
}

private func checkArithmetic(_ type: Any.Type) throws(NotQueryable) {
    let types: [Any.Type] = [Int16.self, Int32.self, Int64.self, Int.self, Double.self]
    if !types.contains(where: { $0 == type }) { throw NotQueryable(construct: "arithmetic of \(type)") }
}

// MARK: What is not a number

extension LoweredPart {
    /// Throws if it may be NaN, where that differs from nil, which the store uses instead.
    func checkIsNumber(_ type: Any.Type) throws(NotQueryable) {
        let types: [Any.Type] = [Double.self, Double?.self, Float.self, Float?.self, Date.self, Date?.self]
        guard types.contains(where: { $0 == type }) else { return }
        if try expression().mayBeNotANumber {
            throw NotQueryable(construct: "a calculated number that may be NaN and is compared with nil")
        }
    }
}

extension FetchExpression {
    /// Whether it is a finite constant.
    func isFinite(besidesZero: Bool) -> Bool {
        guard case .constant(.double(let number)) = self else { return false }
        return number.isFinite && !(besidesZero && number == 0)
    }

    /// Whether its value may be NaN. Attributes never contain NaN.
    fileprivate var mayBeNotANumber: Bool {
        switch self {
        case .arithmetic(let one, let operation, let other):
            // Infinities may cancel each other out, and give NaN when multiplied by zero.
            let isMultiplied = operation == .multiply
            let isSafe =
                other.isFinite(besidesZero: isMultiplied || operation == .divide)
                || operation != .divide && one.isFinite(besidesZero: isMultiplied)
            return !isSafe || one.mayBeNotANumber || other.mayBeNotANumber
        case .negated(let inner): return inner.mayBeNotANumber
        case .conditional(_, let one, let other), .coalesce(let one, let other):
            return one.mayBeNotANumber || other.mayBeNotANumber
        default: return isNotANumber
        }
    }
}
