internal import QueryLanguage
internal import RowStore

extension FetchRequest {
    /// A request for the objects that a to-many relationship of an object leads to.
    ///
    /// ```swift
    /// let unread = FetchRequest(thread, \.messages, where: \.isRead == false, order: [.descending(\.date)])
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
