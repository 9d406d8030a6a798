internal import Foundation

/// Evaluating what Foundation evaluates, but throwing where it would trap: at sums that overflow, divisions by zero, and ranges
/// with their bounds the wrong way round. These depend on what the rows hold, which must never end an app.
///
/// Every node that can hold such a part evaluates its own parts this way.
protocol SafelyEvaluated: PredicateExpression {
    func safely(_ bindings: PredicateBindings) throws -> Output
}

/// What was avoided.
struct UnsafeValue: Error, CustomStringConvertible {
    var description: String
}

/// The value of any node.
func evaluateSafely<Node: PredicateExpression>(_ node: Node, _ bindings: PredicateBindings) throws -> Node.Output {
    guard let node = node as? any SafelyEvaluated else { return try node.evaluate(bindings) }
    func evaluated<Safe: SafelyEvaluated>(_ node: Safe) throws -> Any { try node.safely(bindings) }
    guard let value = try evaluated(node) as? Node.Output else {
        throw UnsafeValue(description: "a value of another type than \(Node.Output.self)")
    }
    return value
}

// MARK: What could trap

/// What is done with two integers.
private enum IntegerOperation {
    case add, subtract, multiply, divide, remainder

    /// The result, if the values are integers of a fixed width; nil if not.
    func result<Value>(_ one: Value, _ other: Value) throws -> Value? {
        func computed<Integer: FixedWidthInteger>(_ one: Integer) throws -> Any {
            guard let other = other as? Integer else { return one }
            if other == 0, self == .divide || self == .remainder {
                throw UnsafeValue(description: "a division by zero")
            }
            let result =
                switch self {
                case .add: one.addingReportingOverflow(other)
                case .subtract: one.subtractingReportingOverflow(other)
                case .multiply: one.multipliedReportingOverflow(by: other)
                case .divide: one.dividedReportingOverflow(by: other)
                case .remainder: one.remainderReportingOverflow(dividingBy: other)
                }
            if result.overflow { throw UnsafeValue(description: "a number too large for \(Integer.self)") }
            return result.partialValue
        }
        guard let integer = one as? any FixedWidthInteger else { return nil }
        return try computed(integer) as? Value
    }
}

extension PredicateExpressions.Arithmetic: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> LHS.Output {
        let one = try evaluateSafely(lhs, bindings)
        let other = try evaluateSafely(rhs, bindings)
        switch op {
        case .add: return try IntegerOperation.add.result(one, other) ?? one + other
        case .subtract: return try IntegerOperation.subtract.result(one, other) ?? one - other
        case .multiply: return try IntegerOperation.multiply.result(one, other) ?? one * other
        @unknown default: throw UnsafeValue(description: "arithmetic that is new")
        }
    }
}

extension PredicateExpressions.IntDivision: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> LHS.Output {
        let one = try evaluateSafely(lhs, bindings)
        let other = try evaluateSafely(rhs, bindings)
        return try IntegerOperation.divide.result(one, other) ?? one / other
    }
}

extension PredicateExpressions.IntRemainder: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> LHS.Output {
        let one = try evaluateSafely(lhs, bindings)
        let other = try evaluateSafely(rhs, bindings)
        return try IntegerOperation.remainder.result(one, other) ?? one % other
    }
}

extension PredicateExpressions.UnaryMinus: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Wrapped.Output {
        let value = try evaluateSafely(wrapped, bindings)
        return try IntegerOperation.subtract.result(Wrapped.Output.zero, value) ?? -value
    }
}

extension PredicateExpressions.Range: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Range<LHS.Output> {
        let (low, high) = (try evaluateSafely(lower, bindings), try evaluateSafely(upper, bindings))
        guard low <= high else { throw UnsafeValue(description: "a range whose end comes before its start") }
        return low..<high
    }
}

extension PredicateExpressions.ClosedRange: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> ClosedRange<LHS.Output> {
        let (low, high) = (try evaluateSafely(lower, bindings), try evaluateSafely(upper, bindings))
        guard low <= high else { throw UnsafeValue(description: "a range whose end comes before its start") }
        return low...high
    }
}

// MARK: What can hold such parts

extension PredicateExpressions.KeyPath: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Output {
        try evaluateSafely(root, bindings)[keyPath: keyPath]
    }
}

extension PredicateExpressions.Conjunction: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(lhs, bindings) && evaluateSafely(rhs, bindings)
    }
}

extension PredicateExpressions.Disjunction: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(lhs, bindings) || evaluateSafely(rhs, bindings)
    }
}

extension PredicateExpressions.Negation: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool { try !evaluateSafely(wrapped, bindings) }
}

extension PredicateExpressions.Equal: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(lhs, bindings) == evaluateSafely(rhs, bindings)
    }
}

extension PredicateExpressions.NotEqual: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(lhs, bindings) != evaluateSafely(rhs, bindings)
    }
}

extension PredicateExpressions.Comparison: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        let (one, other) = (try evaluateSafely(lhs, bindings), try evaluateSafely(rhs, bindings))
        switch op {
        case .lessThan: return one < other
        case .lessThanOrEqual: return one <= other
        case .greaterThan: return one > other
        case .greaterThanOrEqual: return one >= other
        @unknown default: throw UnsafeValue(description: "a comparison that is new")
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(range, bindings).contains(evaluateSafely(element, bindings))
    }
}

extension PredicateExpressions.Conditional: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> If.Output {
        try evaluateSafely(test, bindings)
            ? evaluateSafely(trueBranch, bindings) : evaluateSafely(falseBranch, bindings)
    }
}

extension PredicateExpressions.NilCoalesce: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> RHS.Output {
        try evaluateSafely(lhs, bindings) ?? evaluateSafely(rhs, bindings)
    }
}

extension PredicateExpressions.ForcedUnwrap: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Wrapped {
        guard let value = try evaluateSafely(inner, bindings) else {
            throw UnsafeValue(description: "a forced unwrap of nil")
        }
        return value
    }
}

// MARK: Closures

extension PredicateExpressions.OptionalFlatMap: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Result? {
        guard let value = try evaluateSafely(wrapped, bindings) else { return nil }
        return try evaluateSafely(transform, bindings.binding(variable, to: value)) as? Result
    }
}

extension PredicateExpressions.SequenceContainsWhere: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(sequence, bindings)
            .contains { try evaluateSafely(test, bindings.binding(variable, to: $0)) }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(sequence, bindings)
            .allSatisfy { try evaluateSafely(test, bindings.binding(variable, to: $0)) }
    }
}

extension PredicateExpressions.Filter: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> [LHS.Output.Element] {
        try evaluateSafely(sequence, bindings)
            .filter { try evaluateSafely(filter, bindings.binding(variable, to: $0)) }
    }
}

extension PredicateExpressions.SequenceContains: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Bool {
        try evaluateSafely(sequence, bindings).contains(evaluateSafely(element, bindings))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: SafelyEvaluated {
    func safely(_ bindings: PredicateBindings) throws -> Wrapped.Output.Element {
        let collection = try evaluateSafely(wrapped, bindings)
        let index = try evaluateSafely(index, bindings)
        guard (collection.startIndex..<collection.endIndex).contains(index) else {
            throw UnsafeValue(description: "a place beyond the end of a list")
        }
        return collection[index]
    }
}
