package import RowStore

extension PredicateTree {
    /// A predicate by the names of attributes, as it was written.
    package indirect enum Node: Sendable, Hashable {
        case constant(Bool)
        case compare(FetchExpression, ComparisonOperator, FetchExpression, StringOptions)
        case text(FetchExpression, StringOperator, FetchExpression, StringOptions)
        /// Whether the first is an element of the second: a list, a variable, or a string that contains it.
        case isIn(FetchExpression, FetchExpression, StringOptions)
        /// Whether the first is at least the second and at most the third.
        case between(FetchExpression, FetchExpression, FetchExpression, StringOptions)
        /// Whether the first is between the two values of the list that the second, a variable, will stand for.
        case isWithin(FetchExpression, FetchExpression, StringOptions)
        /// Over a to-many key path inside the node.
        case quantified(Quantifier, Node)
        case not(Node)
        case and([Node])
        case or([Node])
        /// A test that needs the managed object.
        case custom(ObjectMatcher)
        /// An invalid part; resolving throws the reason.
        case invalid(InvalidPart)
    }

    package enum Quantifier: String, Sendable, Hashable, Codable {
        /// `SOME` is the same.
        case any
        case all
        case none
    }
}

/// A test that needs the managed object: a part of a predicate that no store can evaluate. It equals only itself.
package final class ObjectMatcher: Sendable, Hashable {
    /// What it tests, for messages: why the rows alone are not enough.
    package let reason: String
    /// Whether it is known to follow a relationship. A property of the app's own may hide one.
    package let followsRelationship: Bool
    package let evaluate: @Sendable (any QueriedObject) throws -> Bool

    package init(
        _ reason: String, followsRelationship: Bool = false,
        _ evaluate: @escaping @Sendable (any QueriedObject) throws -> Bool
    ) {
        self.reason = reason
        self.followsRelationship = followsRelationship
        self.evaluate = evaluate
    }

    package static func == (one: ObjectMatcher, other: ObjectMatcher) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// Why a part of a predicate is invalid.
package struct InvalidPart: Sendable, Hashable {
    package let error: DataSourceError

    package init(_ error: DataSourceError) {
        self.error = error
    }

    package static func == (one: InvalidPart, other: InvalidPart) -> Bool {
        one.error.code == other.error.code && one.error.message == other.error.message
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(error.message)
    }
}

extension PredicateTree.Node {
    /// How many levels the tree has, including expressions. It is counted without recursion, for any depth.
    var depth: Int {
        var deepest = 0
        var rest: [(part: Part, depth: Int)] = [(.node(self), 1)]
        while let (part, depth) = rest.popLast() {
            deepest = max(deepest, depth)
            for inner in part.parts { rest.append((inner, depth + 1)) }
        }
        return deepest
    }

    /// A place in the tree.
    package enum Part {
        case node(PredicateTree.Node)
        case expression(FetchExpression)

        /// The places right below it.
        package var parts: [Part] {
            switch self {
            case .node(let node):
                switch node {
                case .constant, .custom, .invalid: []
                case .compare(let one, _, let other, _), .text(let one, _, let other, _), .isIn(let one, let other, _),
                    .isWithin(let one, let other, _):
                    [.expression(one), .expression(other)]
                case .between(let one, let low, let high, _): [.expression(one), .expression(low), .expression(high)]
                case .quantified(_, let node), .not(let node): [.node(node)]
                case .and(let nodes), .or(let nodes): nodes.map { .node($0) }
                }
            case .expression(let expression):
                switch expression {
                case .keyPath, .object, .constant, .variable: []
                case .path(let base, _): [.expression(base)]
                case .subquery(let objects, _, let test): [.expression(objects), .node(test)]
                case .list(let items), .function(_, let items): items.map { .expression($0) }
                case .arithmetic(let one, _, let other), .coalesce(let one, let other):
                    [.expression(one), .expression(other)]
                case .negated(let inner), .cast(let inner, _): [.expression(inner)]
                case .conditional(let test, let one, let other): [.node(test), .expression(one), .expression(other)]
                }
            }
        }
    }
}
