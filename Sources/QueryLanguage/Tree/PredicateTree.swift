internal import ManagedModel
package import RowStore

/// A predicate by the names of attributes, for objects of any class.
///
/// It has at most 1,000 levels. Resolving a deeper one throws `invalidPredicate`.
package struct PredicateTree: Sendable, Hashable {
    package let node: Node
    /// How many levels the tree has.
    private let depth: Int

    /// The most levels that a tree may have.
    static let depthLimit = 1000
    /// The longest list to which `&&` and `||` add terms; a longer one becomes a part of a new list.
    private static let chainLength = 64

    package init(_ node: Node) {
        self.init(node, depth: node.depth)
    }

    private init(_ node: Node, depth: Int) {
        let isTooDeep = depth > PredicateTree.depthLimit
        self.node = isTooDeep ? .invalid(InvalidPart(PredicateTree.tooDeep)) : node
        self.depth = isTooDeep ? 1 : depth
    }

    package static func && (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        chain(one, other, Node.and) { if case .and(let parts) = $0 { parts } else { nil } }
    }

    package static func || (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        chain(one, other, Node.or) { if case .or(let parts) = $0 { parts } else { nil } }
    }

    /// Both in one list, in their order, if the list of either has room; otherwise the deeper list takes in the other side, so
    /// that a chain stays flat on whichever side it grows.
    private static func chain(
        _ one: PredicateTree, _ other: PredicateTree, _ list: ([Node]) -> Node, _ parts: (Node) -> [Node]?
    ) -> PredicateTree {
        let (left, right) = (parts(one.node), parts(other.node))
        if let left, let right, left.count + right.count <= chainLength {
            return PredicateTree(list(left + right), depth: max(one.depth, other.depth))
        }
        let leftHasRoom = left.map { $0.count < chainLength } ?? false
        if let right, right.count < chainLength, !leftHasRoom || one.depth < other.depth {
            return PredicateTree(list([one.node] + right), depth: max(one.depth + 1, other.depth))
        }
        if let left, leftHasRoom {
            return PredicateTree(list(left + [other.node]), depth: max(one.depth, other.depth + 1))
        }
        return PredicateTree(list([one.node, other.node]), depth: max(one.depth, other.depth) + 1)
    }

    package static prefix func ! (predicate: PredicateTree) -> PredicateTree {
        PredicateTree(.not(predicate.node), depth: predicate.depth + 1)
    }

    /// A predicate for the attribute that a key path leads to. If there is none, using the predicate throws an error.
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
