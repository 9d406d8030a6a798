internal import Foundation

// Conditions, comparisons, choices, optionals and casts.

extension PredicateExpressions.KeyPath: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Output {
        let root = try scope.value(root)
        if let range = root as? any CountedRange, range.safeCount == nil, range.isCounted(by: keyPath) {
            throw MissingValue(description: "a number too large for \(Output.self)")
        }
        return root[keyPath: keyPath]
    }
}

extension CountedRange {
    fileprivate func isCounted(by keyPath: AnyKeyPath) -> Bool { Self.countKeyPaths.contains(keyPath) }
}

extension PredicateExpressions.Conjunction: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool { try scope.holds(lhs) && scope.holds(rhs) }
}

extension PredicateExpressions.Disjunction: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool { try scope.holds(lhs) || scope.holds(rhs) }
}

extension PredicateExpressions.Negation: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool { try !scope.holds(wrapped) }
}

// MARK: Comparing

extension PredicateExpressions.Equal: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool { try scope.areEqual(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool { try !scope.areEqual(lhs, rhs) }
}

extension EvaluationScope {
    /// Whether two nodes are equal. A node without a value equals nil.
    fileprivate func areEqual<One: PredicateExpression, Other: PredicateExpression>(
        _ one: One, _ other: Other
    ) throws -> Bool where One.Output == Other.Output, One.Output: Equatable {
        switch (try present(one), try present(other)) {
        case (let one?, let other?): one == other
        case (let value?, nil), (nil, let value?): isAbsent(value)
        case (nil, nil): true
        }
    }
}

/// Whether a value of any type is an optional that holds nothing.
func isAbsent(_ value: Any) -> Bool {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
}

extension PredicateExpressions.Comparison: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let one = try scope.present(lhs), let other = try scope.present(rhs) else { return false }
        switch op {
        case .lessThan: return one < other
        case .lessThanOrEqual: return one <= other
        case .greaterThan: return one > other
        case .greaterThanOrEqual: return one >= other
        @unknown default: throw UnsafeValue(description: "an unknown comparison")
        }
    }
}

// MARK: Choices and optionals

extension PredicateExpressions.Conditional: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> If.Output {
        try scope.holds(test) ? scope.value(trueBranch) : scope.value(falseBranch)
    }
}

extension PredicateExpressions.NilCoalesce: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> RHS.Output {
        if let value = try scope.present(lhs) ?? nil { return value }
        return try scope.value(rhs)
    }
}

extension PredicateExpressions.OptionalFlatMap: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Result? {
        guard let value = try scope.present(wrapped) ?? nil else { return nil }
        return try scope.binding(variable, to: value).present(transform) as? Result
    }
}

extension PredicateExpressions.ForcedUnwrap: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Wrapped {
        guard let value = try scope.value(inner) else { throw UnsafeValue(description: "a forced unwrap of nil") }
        return value
    }
}

// MARK: Types

extension PredicateExpressions.TypeCheck: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let value = try scope.present(input) else { return false }
        return value is Desired
    }
}

extension PredicateExpressions.ConditionalCast: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Desired? { try scope.value(input) as? Desired }
}

extension PredicateExpressions.ForceCast: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Desired {
        let value = try scope.value(input)
        guard let cast = value as? Desired else {
            throw UnsafeValue(description: "as! \(Desired.self) of a \(type(of: value))")
        }
        return cast
    }
}
