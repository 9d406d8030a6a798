internal import Foundation

/// A node that evaluates like Foundation, but never traps.
///
/// Foundation traps on sums that overflow, divisions by zero, ranges with reversed bounds, and infinite lists. These errors
/// depend on the values of rows, and a stored value must never end an app. Each node evaluates its parts safely.
/// Foundation evaluates only variables and captured values.
protocol SafelyEvaluated: PredicateExpression {
    func safeValue(in scope: EvaluationScope) throws -> Output
}

/// Thrown for an expression without a value, where Foundation would trap. The expression counts as nil in comparisons.
struct MissingValue: Error, CustomStringConvertible {
    var description: String
}

/// Thrown for an expression that cannot be evaluated.
struct UnsafeValue: Error, CustomStringConvertible {
    var description: String
}

/// The variables and limits of an evaluation for one object.
struct EvaluationScope {
    private var bindings: PredicateBindings
    private let elements: ElementCount

    init(_ bindings: PredicateBindings) {
        self.bindings = bindings
        elements = ElementCount()
    }

    func binding<Value>(_ variable: PredicateExpressions.Variable<Value>, to value: Value) -> EvaluationScope {
        var scope = self
        scope.bindings = bindings.binding(variable, to: value)
        return scope
    }

    // MARK: Values

    /// The value of a node.
    ///
    /// - Throws: `MissingValue`; `UnsafeValue`, also for an unknown node.
    func value<Node: PredicateExpression>(_ node: Node) throws -> Node.Output {
        guard let safe = node as? any SafelyEvaluated else {
            throw UnsafeValue(description: "\(constructName(node)), which is not supported")
        }
        func evaluated<Safe: SafelyEvaluated>(_ node: Safe) throws -> Any { try node.safeValue(in: self) }
        guard let value = try evaluated(safe) as? Node.Output else {
            throw UnsafeValue(description: "a value of another type than \(Node.Output.self)")
        }
        return value
    }

    /// The value of a node; nil if the node has no value.
    func present<Node: PredicateExpression>(_ node: Node) throws -> Node.Output? {
        do { return try value(node) } catch is MissingValue { return nil }
    }

    /// Whether a node is true. A node without a value counts as false.
    func holds<Node: PredicateExpression>(_ node: Node) throws -> Bool where Node.Output == Bool {
        try present(node) ?? false
    }

    /// Evaluates a variable or a captured value with Foundation.
    fileprivate func leaf<Node: PredicateExpression>(_ node: Node) throws -> Node.Output {
        try node.evaluate(bindings)
    }

    // MARK: Lists

    /// Calls the body for each element, until the body returns false.
    func each<Elements: Sequence>(_ list: Elements, _ body: (Elements.Element) throws -> Bool) throws {
        try checkEnd(list)
        let isStored = list is any StoredElements
        for element in list {
            if !isStored { try elements.count() }
            if try !body(element) { return }
        }
    }

    /// Throws if the list is an endless range whose iteration could go beyond the largest number of its type.
    func checkEnd<Elements: Sequence>(_ list: Elements) throws {
        if let range = list as? any EndlessRange, !range.hasNumbers(ElementCount.maxElements) {
            throw UnsafeValue(description: "a closure over a range without an end")
        }
    }
}

/// Counts the elements that an evaluation visits in ranges, for one object.
private final class ElementCount {
    static let maxElements = 100_000
    private var seen = 0

    func count() throws {
        seen += 1
        if seen > Self.maxElements {
            throw UnsafeValue(description: "a closure over more than \(Self.maxElements) elements")
        }
    }
}

/// A list that has all its elements in memory, so their number is limited.
protocol StoredElements {}

extension Array: StoredElements {}
extension ArraySlice: StoredElements {}
extension ContiguousArray: StoredElements {}
extension Set: StoredElements {}
extension Dictionary: StoredElements {}
extension String: StoredElements {}
extension Substring: StoredElements {}
extension Data: StoredElements {}

/// A range without an end. The type of its elements has a largest number.
protocol EndlessRange {
    /// Whether the range has more than `count` numbers.
    func hasNumbers(_ count: Int) -> Bool
}

extension PartialRangeFrom: EndlessRange where Bound: FixedWidthInteger {
    func hasNumbers(_ count: Int) -> Bool {
        guard let count = Bound(exactly: count + 1) else { return false }
        return lowerBound <= Bound.max - count
    }
}

// MARK: Nodes that Foundation evaluates

extension PredicateExpressions.Variable: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}

extension PredicateExpressions.Value: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}

extension PredicateExpressions.NilLiteral: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}

// Properties, connectives, comparisons, conditionals, optionals and casts.

extension PredicateExpressions.KeyPath: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Output {
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
    func safeValue(in scope: EvaluationScope) throws -> Bool { try scope.holds(lhs) && scope.holds(rhs) }
}

extension PredicateExpressions.Disjunction: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool { try scope.holds(lhs) || scope.holds(rhs) }
}

extension PredicateExpressions.Negation: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool { try !scope.holds(wrapped) }
}

// MARK: Comparing

extension PredicateExpressions.Equal: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool { try scope.areEqual(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool { try !scope.areEqual(lhs, rhs) }
}

extension EvaluationScope {
    /// Whether two nodes are equal. A node without a value equals nil.
    fileprivate func areEqual<One: PredicateExpression, Other: PredicateExpression>(
        _ lhs: One, _ rhs: Other
    ) throws -> Bool where One.Output == Other.Output, One.Output: Equatable {
        switch (try present(lhs), try present(rhs)) {
        case (let lhs?, let rhs?): lhs == rhs
        case (let value?, nil), (nil, let value?): isAbsent(value)
        case (nil, nil): true
        }
    }
}

/// Whether a value of any type is a nil optional.
func isAbsent(_ value: Any) -> Bool {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
}

extension PredicateExpressions.Comparison: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
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
    func safeValue(in scope: EvaluationScope) throws -> If.Output {
        try scope.holds(test) ? scope.value(trueBranch) : scope.value(falseBranch)
    }
}

extension PredicateExpressions.NilCoalesce: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> RHS.Output {
        if let value = try scope.present(lhs) ?? nil { return value }
        return try scope.value(rhs)
    }
}

extension PredicateExpressions.OptionalFlatMap: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Result? {
        guard let value = try scope.present(wrapped) ?? nil else { return nil }
        return try scope.binding(variable, to: value).present(transform) as? Result
    }
}

extension PredicateExpressions.ForcedUnwrap: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Wrapped {
        guard let value = try scope.value(inner) else { throw UnsafeValue(description: "a forced unwrap of nil") }
        return value
    }
}

// MARK: Types

extension PredicateExpressions.TypeCheck: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let value = try scope.present(input) else { return false }
        return value is Desired
    }
}

extension PredicateExpressions.ConditionalCast: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Desired? { try scope.value(input) as? Desired }
}

extension PredicateExpressions.ForceCast: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Desired {
        let value = try scope.value(input)
        guard let cast = value as? Desired else {
            throw UnsafeValue(description: "as! \(Desired.self) of a \(type(of: value))")
        }
        return cast
    }
}
