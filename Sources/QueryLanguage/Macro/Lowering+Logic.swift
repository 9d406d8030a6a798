internal import Foundation
internal import RowStore

// Connectives, conditionals and optionals.

extension PredicateExpressions.Conjunction: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .condition(.all([try scope.condition(lhs), try scope.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .condition(.any([try scope.condition(lhs), try scope.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        .condition(.negation(try scope.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let test = try scope.condition(test)
        if If.Output.self == Bool.self {
            return .condition(
                .any([
                    .all([test, try scope.condition(trueBranch)]),
                    .all([.negation(test), try scope.condition(falseBranch)]),
                ]))
        }
        return .value(.conditional(test, try scope.value(trueBranch), try scope.value(falseBranch)), zero: nil)
    }
}

extension PredicateExpressions.NilCoalesce: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let left = try scope.lower(lhs)
        if RHS.Output.self == Bool.self {
            let (isNil, isTrue) = try left.optionalCondition()
            return .condition(.any([isTrue, .all([isNil, try scope.condition(rhs)])]))
        }
        try left.checkIsNumber(LHS.Output.self)
        return .value(.coalesce(try left.expression(), try scope.value(rhs)), zero: nil)
    }
}

extension PredicateExpressions.OptionalFlatMap: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let wrapped = try scope.lower(wrapped)
        try wrapped.checkIsNumber(LHS.Output.self)
        let isNil = try wrapped.isNil()
        let result = try scope.binding(variable.key, to: wrapped).lower(transform)
        if case .related(let object, _) = wrapped {
            if let chained = result.chained(from: object) { return chained }
        }
        if RHS.Output.self == Bool.self {
            return .optionalCondition(isNil: isNil, .all([.negation(isNil), try result.condition()]))
        }
        if RHS.Output.self == Bool?.self {
            let (isResultNil, isTrue) = try result.optionalCondition()
            return .optionalCondition(isNil: .any([isNil, isResultNil]), .all([.negation(isNil), isTrue]))
        }
        return .value(.conditional(isNil, .constant(.null), try result.expression()), zero: nil)
    }
}

extension LoweredPart {
    /// A property of an object at the end of an optional chain. In the predicate, the property is nil if the object does
    /// not exist. The method returns nil for a value that is calculated from properties.
    fileprivate func chained(from object: FetchExpression) -> LoweredPart? {
        switch self {
        case .related: self
        case .value(let value, let zero) where value.isPath:
            zero.map { .reached(value, zero: $0, isMissing: object.isNil) } ?? self
        case .reached(let value, let zero, let isMissing):
            .reached(value, zero: zero, isMissing: .any([object.isNil, isMissing]))
        default: nil
        }
    }
}

extension FetchExpression {
    /// Whether the expression is a key path whose value is nil if an object on the path is missing.
    fileprivate var isPath: Bool {
        switch self {
        // An aggregate is excluded: the count of no objects is 0, not nil.
        case .keyPath(let path), .path(_, let path): path.last?.hasPrefix("@") != true
        default: false
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart { try scope.lower(inner) }
}

// A cast to the same type does nothing. Any other cast is evaluated on the object.

extension PredicateExpressions.ConditionalCast: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerCast(input, to: Desired.self, "as?", scope)
    }
}

extension PredicateExpressions.ForceCast: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerCast(input, to: Desired.self, "as!", scope)
    }
}

private func lowerCast<Input: PredicateExpression, Desired>(
    _ input: Input, to type: Desired.Type, _ word: String, _ scope: LoweringScope
) throws(NotQueryable) -> LoweredPart {
    guard Input.Output.self == Desired.self || Input.Output.self == Desired?.self else {
        throw NotQueryable(construct: "\(word) \(type)")
    }
    return try scope.lower(input)
}

// Arithmetic of integers and doubles. Floats round differently, and decimals have their own rules, so both are evaluated on the
// objects.

extension PredicateExpressions.Arithmetic: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let operation: ArithmeticOperator =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw NotQueryable(construct: "an unknown arithmetic operation")
            }
        return try lowerArithmetic(lhs, operation, with: rhs, in: scope)
    }
}

extension PredicateExpressions.IntDivision: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .divide, with: rhs, in: scope)
    }
}

extension PredicateExpressions.IntRemainder: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .remainder, with: rhs, in: scope)
    }
}

extension PredicateExpressions.FloatDivision: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        try lowerArithmetic(lhs, .divide, with: rhs, in: scope)
    }
}

extension PredicateExpressions.UnaryMinus: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let part = try scope.lower(wrapped)
        try checkArithmetic(Wrapped.Output.self)
        let value = try part.expression()
        // Fold the minus sign into a literal.
        if case .constant(.double(let number)) = value { return .value(.constant(.double(-number)), zero: nil) }
        if case .constant(.integer(let number)) = value, number != .min {
            return .value(.constant(.integer(-number)), zero: nil)
        }
        guard let width = NarrowNumber.width(of: Wrapped.Output.self) else { return .value(.negated(value), zero: nil) }
        return .narrow(try NarrowNumber(part, width).negated())
    }
}

private func lowerArithmetic<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS, _ operation: ArithmeticOperator, with rhs: RHS, in scope: LoweringScope
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

// MARK: NaN

extension LoweredPart {
    /// Throws if the part can be NaN. Call this for a part that is compared with nil: NaN is nil in the store, but not in
    /// Foundation.
    func checkIsNumber(_ type: Any.Type) throws(NotQueryable) {
        let types: [Any.Type] = [Double.self, Double?.self, Float.self, Float?.self, Date.self, Date?.self]
        guard types.contains(where: { $0 == type }) else { return }
        if try expression().mayBeNotANumber {
            throw NotQueryable(construct: "a calculated number that may be NaN and is compared with nil")
        }
    }
}

extension FetchExpression {
    /// Whether the expression is a finite constant. If `besidesZero` is true, the constant must not be zero either.
    func isFinite(besidesZero: Bool) -> Bool {
        guard case .constant(.double(let number)) = self else { return false }
        return number.isFinite && !(besidesZero && number == 0)
    }

    /// Whether the value can be NaN. Attributes are never NaN.
    fileprivate var mayBeNotANumber: Bool {
        switch self {
        case .arithmetic(let one, let operation, let other):
            // The difference of infinities and the product of infinity and zero are NaN.
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
