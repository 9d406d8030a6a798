internal import Foundation

/// Evaluates what Foundation evaluates, but never traps where Foundation would: on sums that overflow, divisions by zero,
/// ranges with reversed bounds, and infinite lists. These depend on what the rows contain, which must never end an app.
///
/// Every node evaluates its own parts this way. Only variables and values are left to Foundation.
protocol SafelyEvaluated: PredicateExpression {
    func safely(_ scope: EvaluationScope) throws -> Output
}

/// An expression without a value, where Foundation would trap. It counts as nil in comparisons.
struct MissingValue: Error, CustomStringConvertible {
    var description: String
}

/// An expression that cannot be evaluated.
struct UnsafeValue: Error, CustomStringConvertible {
    var description: String
}

/// The context in which the nodes of a predicate are evaluated, for one object.
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

    /// The value of any node.
    ///
    /// - Throws: `MissingValue`, and `UnsafeValue`, also for an unknown node.
    func value<Node: PredicateExpression>(_ node: Node) throws -> Node.Output {
        guard let safe = node as? any SafelyEvaluated else {
            throw UnsafeValue(description: "\(constructName(node)), which is not supported")
        }
        func evaluated<Safe: SafelyEvaluated>(_ node: Safe) throws -> Any { try node.safely(self) }
        guard let value = try evaluated(safe) as? Node.Output else {
            throw UnsafeValue(description: "a value of another type than \(Node.Output.self)")
        }
        return value
    }

    /// The value of a node; nil if it has none.
    func present<Node: PredicateExpression>(_ node: Node) throws -> Node.Output? {
        do { return try value(node) } catch is MissingValue { return nil }
    }

    /// Whether a condition holds. A condition without a value does not.
    func holds<Node: PredicateExpression>(_ node: Node) throws -> Bool where Node.Output == Bool {
        try present(node) ?? false
    }

    /// What Foundation evaluates itself.
    fileprivate func leaf<Node: PredicateExpression>(_ node: Node) throws -> Node.Output {
        try node.evaluate(bindings)
    }

    // MARK: Lists

    /// Calls the body with one element after the other, until it returns false.
    func each<Elements: Sequence>(_ list: Elements, _ body: (Elements.Element) throws -> Bool) throws {
        try checkEnd(list)
        let isStored = list is any StoredElements
        for element in list {
            if !isStored { try elements.count() }
            if try !body(element) { return }
        }
    }

    /// Throws if a list is a range that goes on beyond the last number of its type.
    func checkEnd<Elements: Sequence>(_ list: Elements) throws {
        if let range = list as? any EndlessRange, !range.hasNumbers(ElementCount.most) {
            throw UnsafeValue(description: "a closure over a range without an end")
        }
    }
}

/// How many elements of ranges were visited for an object.
private final class ElementCount {
    static let most = 100_000
    private var seen = 0

    func count() throws {
        seen += 1
        if seen > Self.most { throw UnsafeValue(description: "a closure over more than \(Self.most) elements") }
    }
}

/// A list whose elements are all in memory, so that their number is limited.
protocol StoredElements {}

extension Array: StoredElements {}
extension ArraySlice: StoredElements {}
extension ContiguousArray: StoredElements {}
extension Set: StoredElements {}
extension Dictionary: StoredElements {}
extension String: StoredElements {}
extension Substring: StoredElements {}
extension Data: StoredElements {}

/// A range without an end, though its numbers have one.
protocol EndlessRange {
    /// Whether more than that many numbers are left from its start.
    func hasNumbers(_ count: Int) -> Bool
}

extension PartialRangeFrom: EndlessRange where Bound: FixedWidthInteger {
    func hasNumbers(_ count: Int) -> Bool {
        guard let count = Bound(exactly: count + 1) else { return false }
        return lowerBound <= Bound.max - count
    }
}

// MARK: What Foundation evaluates

extension PredicateExpressions.Variable: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}

extension PredicateExpressions.Value: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}

extension PredicateExpressions.NilLiteral: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Output { try scope.leaf(self) }
}
