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
        case .custom(let test):
            .invalid(
                InvalidPart(
                    DataSourceError(
                        .unsupportedQuery,
                        "A part of a predicate about related objects needs the objects themselves (\(test.reason)). Fetch the related objects, and test them in code."
                    )))
        default: replacingParts({ $0.about(variable) }, { $0.about(variable) })
        }
    }
}

extension FetchExpression {
    fileprivate func about(_ variable: String) -> Self {
        switch self {
        case .keyPath(let path): .path(.variable(variable), path)
        case .object: .variable(variable)
        default: replacingParts({ $0.about(variable) }, { $0.about(variable) })
        }
    }
}

extension ObjectRequest {
    /// A request for the objects that a to-many relationship of an object leads to.
    ///
    /// ```swift
    /// let unread = ObjectRequest(thread, \.messages, where: \.isRead == false, order: [.descending(\.date)])
    /// for await update in mail.updates(unread) { print(update.snapshot.count) }
    /// ```
    ///
    /// The object can come from any context: the request keeps only its id. The relationship needs an inverse; without one,
    /// using the request throws `unsupportedQuery`.
    ///
    /// - Parameters:
    ///   - owner: The object that has the relationship.
    ///   - keyPath: A to-many relationship of that object.
    ///   - predicate: Which of the related objects; nil, the default, for all.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - limit: The most objects; nil, the default, for all.
    public init<Owner: ManagedObject>(
        _ owner: Owner, _ keyPath: KeyPath<Owner, RelatedObjects<Object>>,
        where predicate: FetchPredicate<Object>? = nil,
        order: [FetchOrder<Object>] = [], limit: Int? = nil
    ) {
        self.init(where: .related(to: owner, keyPath, predicate), order: order, limit: limit)
    }

    /// A request for the objects that an ordered to-many relationship of an object leads to. They come in the order of the
    /// request, not in that of the relationship.
    public init<Owner: ManagedObject>(
        _ owner: Owner, _ keyPath: KeyPath<Owner, [Object]>, where predicate: FetchPredicate<Object>? = nil,
        order: [FetchOrder<Object>] = [], limit: Int? = nil
    ) {
        self.init(where: .related(to: owner, keyPath, predicate), order: order, limit: limit)
    }
}

extension FetchPredicate {
    fileprivate static func related<Owner: ManagedObject>(
        to owner: Owner, _ keyPath: AnyKeyPath, _ predicate: FetchPredicate?
    ) -> FetchPredicate {
        let related = FetchPredicate(PredicateTree(relatedNode(owner, keyPath)))
        return predicate.map { related && $0 } ?? related
    }

    private static func relatedNode<Owner: ManagedObject>(_ owner: Owner, _ keyPath: AnyKeyPath) -> PredicateTree.Node {
        guard let name = Owner.relationshipKeyPaths[keyPath], let index = owner.layout.relationship(named: name) else {
            return refused(
                .unknownAttribute,
                "A request was made for a property of \(Owner.entityName) that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Owner.self) lists."
            )
        }
        let relationship = owner.layout.relationships[index]
        guard let inverse = relationship.inverse else {
            return refused(
                .unsupportedQuery,
                "\(Owner.entityName).\(name) has no inverse, so its objects cannot be found from one \(Owner.entityName). Give the relationship an inverse in the model."
            )
        }
        let id = FetchExpression.constant(.objectID(entityName: owner.layout.name, key: owner.key))
        let isToMany = owner.context?.stack.layout.model.relationship(inverse)?.isToMany ?? true
        return isToMany ? .isIn(id, .keyPath([inverse.name]), []) : .compare(.keyPath([inverse.name]), .equal, id, [])
    }

    private static func refused(_ code: DataSourceError.Code, _ message: String) -> PredicateTree.Node {
        .invalid(InvalidPart(DataSourceError(code, message, entityName: Object.entityName)))
    }
}
