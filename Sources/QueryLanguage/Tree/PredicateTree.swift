internal import ManagedModel
package import RowStore

/// A predicate for objects of any class. The predicate uses the names of attributes, not columns.
///
/// A tree has at most 1,000 levels. The resolution of a deeper tree throws `invalidPredicate`.
package struct PredicateTree: Sendable, Hashable {
    package let node: Node
    /// The number of levels of the tree.
    private let depth: Int

    /// The largest number of levels in a tree.
    static let depthLimit = 1000
    /// The longest list to which `&&` and `||` add predicates. A list that is full becomes an element of a new list.
    private static let chainLength = 64

    package init(_ node: Node) {
        self.init(node, depth: node.depth)
    }

    private init(_ node: Node, depth: Int) {
        let isTooDeep = depth > PredicateTree.depthLimit
        self.node = isTooDeep ? .invalid(InvalidPart(PredicateTree.tooDeep)) : node
        self.depth = isTooDeep ? 1 : depth
    }

    package static func && (lhs: PredicateTree, rhs: PredicateTree) -> PredicateTree {
        chain(lhs, rhs, as: Node.and) { if case .and(let parts) = $0 { parts } else { nil } }
    }

    package static func || (lhs: PredicateTree, rhs: PredicateTree) -> PredicateTree {
        chain(lhs, rhs, as: Node.or) { if case .or(let parts) = $0 { parts } else { nil } }
    }

    /// Joins two predicates in their order. Two short lists become one list. Otherwise, one side is added to the list of the
    /// other side, if that list has room. If both lists have room, the deeper list is used. So a chain stays flat, whether it
    /// grows to the left or to the right.
    private static func chain(
        _ lhs: PredicateTree, _ rhs: PredicateTree, as list: ([Node]) -> Node, parts: (Node) -> [Node]?
    ) -> PredicateTree {
        let (left, right) = (parts(lhs.node), parts(rhs.node))
        if let left, let right, left.count + right.count <= chainLength {
            return PredicateTree(list(left + right), depth: max(lhs.depth, rhs.depth))
        }
        let leftHasRoom = left.map { $0.count < chainLength } ?? false
        if let right, right.count < chainLength, !leftHasRoom || lhs.depth < rhs.depth {
            return PredicateTree(list([lhs.node] + right), depth: max(lhs.depth + 1, rhs.depth))
        }
        if let left, leftHasRoom {
            return PredicateTree(list(left + [rhs.node]), depth: max(lhs.depth, rhs.depth + 1))
        }
        return PredicateTree(list([lhs.node, rhs.node]), depth: max(lhs.depth, rhs.depth) + 1)
    }

    package static prefix func ! (predicate: PredicateTree) -> PredicateTree {
        PredicateTree(.not(predicate.node), depth: predicate.depth + 1)
    }

    /// A predicate for the attribute that a key path leads to. If there is no such attribute, the resolution throws.
    package static func named(
        _ keyPath: AnyKeyPath, _ type: any QueriedObject.Type, _ node: (FetchExpression) -> Node
    ) -> PredicateTree {
        switch FetchExpression.attribute(keyPath, of: type) {
        case .success(let attribute): PredicateTree(node(attribute))
        case .failure(let error): PredicateTree(.invalid(InvalidPart(error)))
        }
    }

    private static let tooDeep = DataSourceError(
        .invalidPredicate,
        "The predicate is nested deeper than \(depthLimit) levels. Use isIn for long lists, and put chains of AND or OR into one level."
    )
}

extension FetchExpression {
    /// The attribute that a key path of a class leads to.
    package static func attribute(
        _ keyPath: AnyKeyPath, of type: any QueriedObject.Type
    ) -> Result<FetchExpression, DataSourceError> {
        Result { () throws(DataSourceError) in .keyPath(try RelatedKeyPaths.names(keyPath, of: type)) }
    }
}

extension PredicateTree {
    /// A predicate as it was written, with the names of attributes.
    package indirect enum Node: Sendable, Hashable {
        case constant(Bool)
        case compare(FetchExpression, ComparisonOperator, FetchExpression, StringOptions)
        case text(FetchExpression, StringOperator, FetchExpression, StringOptions)
        /// The first value is an element of the second, which is a list, a variable, a to-many relationship, or a string.
        case isIn(FetchExpression, FetchExpression, StringOptions)
        /// The first value is at least the second and at most the third.
        case between(FetchExpression, FetchExpression, FetchExpression, StringOptions)
        /// The first value is between the two elements of a list. The second expression is a variable for that list.
        case isWithin(FetchExpression, FetchExpression, StringOptions)
        /// A quantifier over a to-many key path inside the node.
        case quantified(Quantifier, Node)
        case not(Node)
        case and([Node])
        case or([Node])
        /// A predicate that needs the managed object.
        case custom(ObjectMatcher)
        /// An invalid part. The resolution throws its error.
        case invalid(InvalidPart)
    }

    package enum Quantifier: String, Sendable, Hashable, Codable {
        /// `ANY` or `SOME`.
        case any
        case all
        case none
    }
}

/// A part of a predicate that needs the managed object, because no store can evaluate it. A matcher equals only itself.
package final class ObjectMatcher: Sendable, Hashable {
    /// The construct that needs the object, for messages.
    package let reason: String
    /// Whether the matcher is known to follow a relationship. If false, a computed property of the app can still follow
    /// a relationship.
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

    package static func == (lhs: ObjectMatcher, rhs: ObjectMatcher) -> Bool { lhs === rhs }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// The error of an invalid part of a predicate.
package struct InvalidPart: Sendable, Hashable {
    package let error: DataSourceError

    package init(_ error: DataSourceError) {
        self.error = error
    }

    package static func == (lhs: InvalidPart, rhs: InvalidPart) -> Bool {
        lhs.error.code == rhs.error.code && lhs.error.message == rhs.error.message
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(error.message)
    }
}

extension PredicateTree.Node {
    /// The number of levels of the tree, including expressions. Computed without recursion, because the tree can have any
    /// depth.
    var depth: Int {
        var deepest = 0
        var rest: [(part: Part, depth: Int)] = [(.node(self), 1)]
        while let (part, depth) = rest.popLast() {
            deepest = max(deepest, depth)
            for inner in part.parts { rest.append((inner, depth + 1)) }
        }
        return deepest
    }

    /// A node or an expression of the tree.
    package enum Part {
        case node(PredicateTree.Node)
        case expression(FetchExpression)

        /// The parts one level below.
        package var parts: [Part] {
            switch self {
            case .node(let node):
                switch node {
                case .constant, .custom, .invalid: []
                case .compare(let lhs, _, let rhs, _), .text(let lhs, _, let rhs, _), .isIn(let lhs, let rhs, _),
                    .isWithin(let lhs, let rhs, _):
                    [.expression(lhs), .expression(rhs)]
                case .between(let lhs, let low, let high, _): [.expression(lhs), .expression(low), .expression(high)]
                case .quantified(_, let node), .not(let node): [.node(node)]
                case .and(let nodes), .or(let nodes): nodes.map { .node($0) }
                }
            case .expression(let expression):
                switch expression {
                case .keyPath, .object, .constant, .variable: []
                case .path(let base, _): [.expression(base)]
                case .subquery(let objects, _, let predicate): [.expression(objects), .node(predicate)]
                case .list(let items), .function(_, let items): items.map { .expression($0) }
                case .arithmetic(let lhs, _, let rhs), .coalesce(let lhs, let rhs):
                    [.expression(lhs), .expression(rhs)]
                case .negated(let inner), .cast(let inner, _): [.expression(inner)]
                case .conditional(let condition, let first, let second):
                    [.node(condition), .expression(first), .expression(second)]
                }
            }
        }
    }
}

extension PredicateTree.Node {
    /// Makes one node that matches if all nodes match, with as few parts as possible.
    package static func all(_ nodes: [Self]) -> Self { joined(nodes, isAll: true) }

    /// Makes one node that matches if any node matches, with as few parts as possible.
    package static func any(_ nodes: [Self]) -> Self { joined(nodes, isAll: false) }

    private static func joined(_ nodes: [Self], isAll: Bool) -> Self {
        var operands: [Self] = []
        for node in nodes {
            switch node {
            case .constant(isAll): break
            case .constant: return node
            case .and(let inner) where isAll, .or(let inner) where !isAll: operands += inner
            default: operands.append(node)
            }
        }
        if operands.isEmpty { return .constant(isAll) }
        return operands.count == 1 ? operands[0] : isAll ? .and(operands) : .or(operands)
    }

    /// Makes a node that matches if `node` does not match. Moves the negation inward where possible.
    package static func negation(_ node: Self) -> Self {
        switch node {
        case .constant(let answer): .constant(!answer)
        case .not(let inner): inner
        case .and(let nodes): .any(nodes.map(negation))
        case .or(let nodes): .all(nodes.map(negation))
        case .compare(let lhs, .equal, let rhs, let options): .compare(lhs, .notEqual, rhs, options)
        case .compare(let lhs, .notEqual, let rhs, let options): .compare(lhs, .equal, rhs, options)
        default: .not(node)
        }
    }

    /// The operands of a chain of AND or of OR, however deeply nested. Computed without recursion, because there can be
    /// thousands.
    package func operands(isAnd: Bool) -> [Self] {
        var operands: [Self] = []
        var rest = [self]
        while let node = rest.popLast() {
            switch node {
            case .and(let parts) where isAnd, .or(let parts) where !isAnd: rest += parts.reversed()
            default: operands.append(node)
            }
        }
        return operands
    }
}

/// Two predicates are equal if they differ only in the nesting of chains of AND or of OR.
extension PredicateTree {
    package static func == (lhs: PredicateTree, rhs: PredicateTree) -> Bool { lhs.node.flat == rhs.node.flat }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(node.flat)
    }
}

extension PredicateTree.Node {
    /// The same node, in which each chain of one connective is a single list.
    var flat: Self {
        switch self {
        case .and: flatChain(isAnd: true)
        case .or: flatChain(isAnd: false)
        default: replacingParts(\.flat, \.flat)
        }
    }

    private func flatChain(isAnd: Bool) -> Self {
        let operands = operands(isAnd: isAnd).map(\.flat)
        // A list with one element can hide a chain of the same kind.
        let isNested = operands.contains {
            switch $0 {
            case .and: isAnd
            case .or: !isAnd
            default: false
            }
        }
        if isNested { return (isAnd ? Self.and(operands) : Self.or(operands)).flatChain(isAnd: isAnd) }
        switch operands.count {
        case 0: return .constant(isAnd)
        case 1: return operands[0]
        default: return isAnd ? .and(operands) : .or(operands)
        }
    }
}

extension FetchExpression {
    /// The same expression with flat predicates. Only conditionals and subqueries contain predicates.
    fileprivate var flat: Self { replacingParts(\.flat, \.flat) }
}

extension PredicateTree.Node {
    /// The same node, after replacing the nodes and expressions one level below it.
    package func replacingParts(_ node: (Self) -> Self, _ expression: (FetchExpression) -> FetchExpression) -> Self {
        switch self {
        case .constant, .custom, .invalid: self
        case .compare(let lhs, let relation, let rhs, let options):
            .compare(expression(lhs), relation, expression(rhs), options)
        case .text(let lhs, let comparison, let rhs, let options):
            .text(expression(lhs), comparison, expression(rhs), options)
        case .isIn(let lhs, let rhs, let options): .isIn(expression(lhs), expression(rhs), options)
        case .between(let lhs, let low, let high, let options):
            .between(expression(lhs), expression(low), expression(high), options)
        case .isWithin(let lhs, let range, let options): .isWithin(expression(lhs), expression(range), options)
        case .quantified(let quantifier, let inner): .quantified(quantifier, node(inner))
        case .not(let inner): .not(node(inner))
        case .and(let nodes): .and(nodes.map(node))
        case .or(let nodes): .or(nodes.map(node))
        }
    }
}

extension FetchExpression {
    /// The same expression, after replacing the nodes and expressions one level below it.
    package func replacingParts(
        _ node: (PredicateTree.Node) -> PredicateTree.Node, _ expression: (Self) -> Self
    ) -> Self {
        switch self {
        case .keyPath, .object, .constant, .variable: self
        case .path(let base, let keys): .path(expression(base), keys)
        case .subquery(let objects, let name, let predicate):
            .subquery(expression(objects), variable: name, node(predicate))
        case .list(let items): .list(items.map(expression))
        case .function(let function, let items): .function(function, items.map(expression))
        case .arithmetic(let lhs, let operation, let rhs): .arithmetic(expression(lhs), operation, expression(rhs))
        case .coalesce(let lhs, let rhs): .coalesce(expression(lhs), expression(rhs))
        case .negated(let inner): .negated(expression(inner))
        case .cast(let inner, let type): .cast(expression(inner), type)
        case .conditional(let condition, let first, let second):
            .conditional(node(condition), expression(first), expression(second))
        }
    }
}

/// A predicate of any class, as an argument of a format.
package protocol PredicateTreeConvertible {
    var tree: PredicateTree { get }
}

extension PredicateTree: PredicateTreeConvertible {
    package var tree: PredicateTree { self }
}
