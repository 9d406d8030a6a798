internal import ManagedModel
internal import RowStore

/// Which objects a fetch returns.
///
/// ```swift
/// let grown = FetchPredicate.compare(\ContactEntity.age, .greaterOrEqual, 18)
/// let named = FetchPredicate.compare(\ContactEntity.name, .notEqual, "")
/// try contacts.fetch(ContactEntity.self, where: grown && named)
/// ```
///
/// A comparison with nil is false, but for `equal` and `notEqual`, for which nil is a value; `not` is plain negation. Text is
/// compared byte by byte unless an option folds it. Numbers of all kinds are compared by their exact values; a real counts as
/// the shortest decimal number that stands for it when it is compared with a decimal. What a calculation has no result for,
/// such as a division by zero or an integer beyond 64 bits, is nil.
///
/// A predicate is a tree of at most 1,000 levels. One that would be deeper is none: a fetch by it throws
/// `invalidPredicate`.
public struct FetchPredicate: Sendable, Hashable {
    package let node: Node
    /// How many levels the tree has.
    private let depth: Int

    /// The most levels that a tree may have.
    static let depthLimit = 1000
    /// The longest list to which `&&` and `||` add; a longer one becomes a part of a new one.
    private static let chainLength = 64

    package init(_ node: Node) {
        self.init(node, depth: node.depth)
    }

    private init(_ node: Node, depth: Int) {
        let isTooDeep = depth > FetchPredicate.depthLimit
        self.node = isTooDeep ? .invalid(InvalidPart(FetchPredicate.tooDeep)) : node
        self.depth = isTooDeep ? 1 : depth
    }

    /// How an attribute stands to a value.
    public struct Relation: Sendable {
        let comparison: ComparisonOperator

        public static let equal = Relation(comparison: .equal)
        public static let notEqual = Relation(comparison: .notEqual)
        public static let less = Relation(comparison: .less)
        public static let lessOrEqual = Relation(comparison: .lessOrEqual)
        public static let greater = Relation(comparison: .greater)
        public static let greaterOrEqual = Relation(comparison: .greaterOrEqual)
    }

    /// The attribute stands in that relation to the value.
    public static func compare<Object: ManagedObject, Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ relation: Relation, _ value: Value
    ) -> FetchPredicate {
        named(keyPath, Object.self) { .compare($0, relation.comparison, .constant(FetchValue(value)), []) }
    }

    public static func && (one: FetchPredicate, other: FetchPredicate) -> FetchPredicate {
        chain(one, other, Node.and) { if case .and(let parts) = $0 { parts } else { nil } }
    }

    public static func || (one: FetchPredicate, other: FetchPredicate) -> FetchPredicate {
        chain(one, other, Node.or) { if case .or(let parts) = $0 { parts } else { nil } }
    }

    /// Both in one list, in their order, as long as there is room in the list of either; otherwise the deeper list takes
    /// the other side in, so that a chain stays flat on whichever side it grows.
    private static func chain(
        _ one: FetchPredicate, _ other: FetchPredicate, _ list: ([Node]) -> Node, _ parts: (Node) -> [Node]?
    ) -> FetchPredicate {
        let (left, right) = (parts(one.node), parts(other.node))
        if let left, let right, left.count + right.count <= chainLength {
            return FetchPredicate(list(left + right), depth: max(one.depth, other.depth))
        }
        let leftHasRoom = left.map { $0.count < chainLength } ?? false
        if let right, right.count < chainLength, !leftHasRoom || one.depth < other.depth {
            return FetchPredicate(list([one.node] + right), depth: max(one.depth + 1, other.depth))
        }
        if let left, leftHasRoom {
            return FetchPredicate(list(left + [other.node]), depth: max(one.depth, other.depth + 1))
        }
        return FetchPredicate(list([one.node, other.node]), depth: max(one.depth, other.depth) + 1)
    }

    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.node), depth: predicate.depth + 1)
    }

    /// A predicate about the attribute that a key path leads to; if it leads to none, one whose use throws that.
    static func named(
        _ keyPath: AnyKeyPath, _ type: ManagedObject.Type, _ node: (FetchExpression) -> Node
    ) -> FetchPredicate {
        switch FetchExpression.attribute(keyPath, of: type) {
        case .success(let attribute): FetchPredicate(node(attribute))
        case .failure(let error): FetchPredicate(.invalid(InvalidPart(error)))
        }
    }

    private static let tooDeep = DataSourceError(
        .invalidPredicate,
        "The predicate is nested deeper than \(depthLimit) levels. Put long lists into isIn, and chains of AND or OR into one level."
    )
}

extension FetchExpression {
    /// The attribute that a key path of a class leads to.
    static func attribute(
        _ keyPath: AnyKeyPath, of type: ManagedObject.Type
    ) -> Result<FetchExpression, DataSourceError> {
        guard let name = type.attributeKeyPaths[keyPath] else {
            return .failure(
                DataSourceError(
                    .unknownAttribute,
                    "A property of \(type) of the type \(Swift.type(of: keyPath).valueType) is not a stored attribute of \(type.entityName). Fetch by an attribute of the model.",
                    entityName: type.entityName))
        }
        return .success(.keyPath(name.parts(separatedBy: ".", omittingEmpty: true)))
    }
}
