internal import RowStore

/// Which objects a fetch returns.
///
/// ```swift
/// let grown = FetchPredicate.compare(\ContactEntity.age, .greaterOrEqual, 18)
/// let named = FetchPredicate.compare(\ContactEntity.name, .notEqual, "")
/// try contacts.fetch(ContactEntity.self, where: grown && named)
/// ```
///
/// Text is compared byte by byte. A comparison with nil is false, but for `equal` and `notEqual`, for which nil is a value.
public struct FetchPredicate: Sendable {
    indirect enum Node: Sendable {
        case constant(Bool)
        case compare(String, ComparisonOperator, StoredValue)
        case isIn(String, [StoredValue])
        case not(Node)
        case and(Node, Node)
        case or(Node, Node)
        /// A key path that is no attribute; the fetch throws it.
        case unknown(DataSourceError)
    }

    let node: Node

    init(_ node: Node) {
        self.node = node
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
        named(keyPath, Object.self) { .compare($0, relation.comparison, value.storedValue) }
    }

    /// The attribute has one of the values.
    public static func isIn<Object: ManagedObject, Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> FetchPredicate {
        named(keyPath, Object.self) { .isIn($0, values.map(\.storedValue)) }
    }

    public static func && (one: FetchPredicate, other: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.and(one.node, other.node))
    }

    public static func || (one: FetchPredicate, other: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.or(one.node, other.node))
    }

    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.node))
    }

    private static func named(
        _ keyPath: AnyKeyPath, _ type: ManagedObject.Type, _ node: (String) -> Node
    ) -> FetchPredicate {
        guard let name = type.attributeKeyPaths[keyPath] else {
            return FetchPredicate(
                .unknown(
                    DataSourceError(
                        .unknownAttribute,
                        "\(keyPath) is not a stored attribute of \(type.entityName). Fetch by an attribute of the model.",
                        entityName: type.entityName)))
        }
        return FetchPredicate(node(name))
    }

    /// The predicate over the columns of an entity.
    func resolved(_ layout: EntityLayout) throws(DataSourceError) -> RowPredicate {
        try node.resolved(layout)
    }
}

extension FetchPredicate.Node {
    fileprivate func resolved(_ layout: EntityLayout) throws(DataSourceError) -> RowPredicate {
        switch self {
        case .constant(let answer): .constant(answer)
        case .compare(let name, let relation, let value):
            .compare(column: try column(name, layout), relation, value.value)
        case .isIn(let name, let values): .isIn(column: try column(name, layout), values.map(\.value))
        case .not(let node): .not(try node.resolved(layout))
        case .and: .and(try resolved(operands(isAnd: true), layout))
        case .or: .or(try resolved(operands(isAnd: false), layout))
        case .unknown(let error): throw error
        }
    }

    private func resolved(_ nodes: [Self], _ layout: EntityLayout) throws(DataSourceError) -> [RowPredicate] {
        var predicates: [RowPredicate] = []
        for node in nodes { predicates.append(try node.resolved(layout)) }
        return predicates
    }

    /// What a chain of one connective joins, however deep it is nested: thousands of terms are no thousands of calls.
    private func operands(isAnd: Bool) -> [Self] {
        var operands: [Self] = []
        var rest = [self]
        while let node = rest.popLast() {
            switch node {
            case .and(let one, let other) where isAnd, .or(let one, let other) where !isAnd: rest += [other, one]
            default: operands.append(node)
            }
        }
        return operands
    }

    private func column(_ name: String, _ layout: EntityLayout) throws(DataSourceError) -> Int {
        if let column = layout.column(named: name), layout.columns[column].isStored { return column }
        throw DataSourceError(
            .unknownAttribute,
            "\(layout.name) has no stored attribute \"\(name)\". Fetch by an attribute of the model.",
            entityName: layout.name, attributeName: name)
    }
}
