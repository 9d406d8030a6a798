internal import QueryLanguage
internal import RowStore

/// Relationships in predicates of key paths.
extension FetchPredicate {
    /// Any of the objects that a to-many relationship leads to matches.
    ///
    /// ```swift
    /// try mail.fetch(ThreadEntity.self, where: .any(\.messages, \.isRead == false && \.size > 1000))
    /// ```
    ///
    /// An object without related objects does not match.
    public static func any<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        some(keyPath, predicate.tree)
    }

    /// Any of the objects that an ordered to-many relationship leads to matches.
    public static func any<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        some(keyPath, predicate.tree)
    }

    /// All of the objects that a to-many relationship leads to match.
    ///
    /// An object without related objects matches.
    public static func all<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related>
    ) -> Self {
        !some(keyPath, (!predicate).tree)
    }

    /// All of the objects that an ordered to-many relationship leads to match.
    public static func all<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related>
    ) -> Self {
        !some(keyPath, (!predicate).tree)
    }

    /// None of the objects that a to-many relationship leads to matches.
    ///
    /// An object without related objects matches.
    public static func none<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        !some(keyPath, predicate.tree)
    }

    /// None of the objects that an ordered to-many relationship leads to matches.
    public static func none<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        !some(keyPath, predicate.tree)
    }

    /// The object that a to-one relationship leads to is one of those.
    public static func isIn<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, Related?>, _ ids: some Sequence<ManagedObjectID>
    ) -> Self {
        named(keyPath) {
            .isIn($0, .list(ids.map { .constant(.objectID(entityName: $0.entityName, key: $0.key)) }), [])
        }
    }

    private static func some(_ keyPath: AnyKeyPath, _ test: PredicateTree) -> Self {
        named(keyPath) { objects in
            let variable = "_any\(test.subqueryDepth)"
            return .someOf(objects, variable, test.node.about(variable))
        }
    }
}

/// The relationship leads to the object with that id; nil means that it leads to none.
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, id: ManagedObjectID?
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .equal, .constant(FetchValue(id)), []) }
}

/// The relationship leads to another object than the one with that id, or to none.
public func != <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, id: ManagedObjectID?
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .notEqual, .constant(FetchValue(id)), []) }
}

/// The relationship leads to the object, from any context; nil means that it leads to none.
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, object: Related?
) -> FetchPredicate<Object> {
    keyPath == object?.objectID
}

/// The relationship leads to another object, or to none.
public func != <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, object: Related?
) -> FetchPredicate<Object> {
    keyPath != object?.objectID
}

/// The relationship leads to no object.
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, none: _OptionalNilComparisonType
) -> FetchPredicate<Object> {
    keyPath == ManagedObjectID?.none
}

/// The relationship leads to an object.
public func != <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, none: _OptionalNilComparisonType
) -> FetchPredicate<Object> {
    keyPath != ManagedObjectID?.none
}

extension FetchValue {
    fileprivate init(_ id: ManagedObjectID?) {
        self = id.map { .objectID(entityName: $0.entityName, key: $0.key) } ?? .null
    }
}

extension PredicateTree {
    /// How deeply subqueries are nested in it, so that each gets a different variable.
    fileprivate var subqueryDepth: Int {
        var deepest = 0
        var rest: [(part: Node.Part, depth: Int)] = [(.node(node), 0)]
        while let (part, depth) = rest.popLast() {
            deepest = max(deepest, depth)
            let isSubquery = if case .expression(.subquery) = part { true } else { false }
            for inner in part.parts { rest.append((inner, isSubquery ? depth + 1 : depth)) }
        }
        return deepest
    }
}

extension PredicateTree.Node {
    /// The same test of the object that a variable stands for.
    func about(_ variable: String) -> Self {
        switch self {
        case .constant, .invalid: self
        case .custom(let test):
            .invalid(
                InvalidPart(
                    DataSourceError(
                        .unsupportedQuery,
                        "A part of a predicate about related objects needs the objects themselves (\(test.reason)). Fetch the related objects, and test them in code."
                    )))
        case .compare(let one, let relation, let other, let options):
            .compare(one.about(variable), relation, other.about(variable), options)
        case .text(let one, let comparison, let other, let options):
            .text(one.about(variable), comparison, other.about(variable), options)
        case .isIn(let one, let list, let options): .isIn(one.about(variable), list.about(variable), options)
        case .isWithin(let one, let range, let options): .isWithin(one.about(variable), range.about(variable), options)
        case .between(let one, let low, let high, let options):
            .between(one.about(variable), low.about(variable), high.about(variable), options)
        case .quantified(let quantifier, let node): .quantified(quantifier, node.about(variable))
        case .not(let node): .not(node.about(variable))
        case .and(let nodes): .and(nodes.map { $0.about(variable) })
        case .or(let nodes): .or(nodes.map { $0.about(variable) })
        }
    }
}

extension FetchExpression {
    fileprivate func about(_ variable: String) -> Self {
        switch self {
        case .keyPath(let path): .path(.variable(variable), path)
        case .object: .variable(variable)
        case .constant, .variable: self
        case .path(let base, let path): .path(base.about(variable), path)
        case .subquery(let objects, let name, let test):
            .subquery(objects.about(variable), variable: name, test.about(variable))
        case .list(let items): .list(items.map { $0.about(variable) })
        case .arithmetic(let one, let operation, let other):
            .arithmetic(one.about(variable), operation, other.about(variable))
        case .negated(let inner): .negated(inner.about(variable))
        case .function(let function, let items): .function(function, items.map { $0.about(variable) })
        case .conditional(let test, let one, let other):
            .conditional(test.about(variable), one.about(variable), other.about(variable))
        case .coalesce(let one, let other): .coalesce(one.about(variable), other.about(variable))
        case .cast(let inner, let type): .cast(inner.about(variable), type)
        }
    }
}
