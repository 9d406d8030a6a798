internal import Foundation
internal import RowStore

// Conditions, choices and optionals.

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
    /// A property of an object at the end of an optional chain; its value is nil if there is no such object. Returns nil for
    /// values that are calculated from properties.
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
    /// Whether it is the value of keys, which is nil if they lead nowhere.
    fileprivate var isPath: Bool {
        switch self {
        // The number of no objects is 0, not nil.
        case .keyPath(let path), .path(_, let path): path.last?.hasPrefix("@") != true
        default: false
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart { try scope.lower(inner) }
}

// A cast to the type that the value already has does nothing; any other cast is evaluated on the object.

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
