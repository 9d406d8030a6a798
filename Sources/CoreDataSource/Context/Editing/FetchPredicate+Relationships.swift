internal import QueryLanguage
internal import RowStore

/// Predicates over relationships.
extension FetchPredicate {
    /// Matches if any object of a to-many relationship matches the given predicate.
    ///
    /// ```swift
    /// let threads = try mail.fetch(
    ///     ThreadEntity.self,
    ///     where: .any(\.messages, \.isRead == false && \.size > 1000))
    /// ```
    ///
    /// An object without related objects does not match.
    public static func any<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        some(keyPath, predicate.tree)
    }

    /// Matches if any object of an ordered to-many relationship matches the given predicate.
    ///
    /// ```swift
    /// let large: FetchPredicate<MessageEntity> = .any(
    ///     \.attachments, \.size > 1_000_000)
    /// ```
    public static func any<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        some(keyPath, predicate.tree)
    }

    /// Matches if a to-many relationship contains the given object. The object may belong to any context. For an id, write
    /// `.any(\.labels, \.objectID == id)`.
    ///
    /// ```swift
    /// let thread = try mail.fetch(
    ///     ThreadEntity.self, where: .contains(\.messages, message))
    /// ```
    public static func contains<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ object: Related
    ) -> Self {
        any(keyPath, \.objectID == object.objectID)
    }

    /// Matches if an ordered to-many relationship contains the given object.
    ///
    /// ```swift
    /// let message = try mail.fetch(
    ///     MessageEntity.self, where: .contains(\.attachments, attachment))
    /// ```
    public static func contains<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ object: Related
    ) -> Self {
        any(keyPath, \.objectID == object.objectID)
    }

    /// Matches if all objects of a to-many relationship match the given predicate.
    ///
    /// ```swift
    /// let grown: FetchPredicate<GroupEntity> = .all(\.members, \.age >= 18)
    /// ```
    ///
    /// An object without related objects matches.
    public static func all<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related>
    ) -> Self {
        !some(keyPath, (!predicate).tree)
    }

    /// Matches if all objects of an ordered to-many relationship match the given predicate.
    ///
    /// ```swift
    /// let small: FetchPredicate<MessageEntity> = .all(
    ///     \.attachments, \.size < 1_000_000)
    /// ```
    public static func all<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related>
    ) -> Self {
        !some(keyPath, (!predicate).tree)
    }

    /// Matches if no object of a to-many relationship matches the given predicate.
    ///
    /// ```swift
    /// let empty: FetchPredicate<GroupEntity> = .none(\.members)
    /// ```
    ///
    /// An object without related objects matches.
    public static func none<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, RelatedObjects<Related>>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        !some(keyPath, predicate.tree)
    }

    /// Matches if no object of an ordered to-many relationship matches the given predicate.
    ///
    /// ```swift
    /// let plain: FetchPredicate<MessageEntity> = .none(\.attachments)
    /// ```
    public static func none<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, [Related]>, _ predicate: FetchPredicate<Related> = .all
    ) -> Self {
        !some(keyPath, predicate.tree)
    }

    /// Matches if a to-one relationship leads to an object with one of the given ids.
    ///
    /// ```swift
    /// let found = try mail.fetch(
    ///     MessageEntity.self, where: .isIn(\.thread, threads.map(\.objectID)))
    /// ```
    ///
    /// **Complexity**: linear in the number of ids.
    public static func isIn<Related: ManagedObject>(
        _ keyPath: KeyPath<Object, Related?>, _ ids: some Sequence<ManagedObjectID>
    ) -> Self {
        named(keyPath) {
            .isIn($0, .list(ids.map { .constant(FetchValue($0)) }), [])
        }
    }

    /// Matches the objects with the given ids.
    ///
    /// ```swift
    /// let found = try mail.fetch(
    ///     ThreadEntity.self, where: .isIn(\.objectID, threads.map(\.objectID)),
    ///     order: [.ascending(\.title)])
    /// ```
    ///
    /// Any number of ids is allowed, because a store gets all ids as one value. Ids of deleted objects and of other entities
    /// match nothing. To get the objects in the order of their ids, use ``ManagedObjectContext/objects(_:ids:)``.
    ///
    /// **Complexity**: linear in the number of ids. The store finds the objects by their keys, without reading other rows.
    ///
    /// - Parameters:
    ///   - keyPath: `\.objectID`. With another property, the fetch throws `unknownAttribute`.
    ///   - ids: The ids, in any order.
    public static func isIn(
        _ keyPath: KeyPath<Object, ManagedObjectID>, _ ids: some Sequence<ManagedObjectID>
    ) -> Self {
        guard keyPath == Object.identification else {
            return named(keyPath) { .compare($0, .equal, .constant(.null), []) }
        }
        return Self(PredicateTree(.isIn(.object, .list(ids.map { .constant(FetchValue($0)) }), [])))
    }

    private static func some(_ keyPath: AnyKeyPath, _ predicate: PredicateTree) -> Self {
        named(keyPath) { objects in
            let variable = predicate.unusedVariable
            return .anyMatches(objects, variable, predicate.node.qualified(variable))
        }
    }
}

/// Matches the object with the given id.
///
/// ```swift
/// let found = try mail.fetch(
///     MessageEntity.self, where: \.objectID == message.objectID)
/// ```
///
/// - Parameters:
///   - keyPath: `\.objectID`. With another property, the fetch throws `unknownAttribute`.
///   - id: The id. The id of a deleted object, or of another entity, matches nothing.
public func == <Object: ManagedObject>(
    keyPath: KeyPath<Object, ManagedObjectID>, id: ManagedObjectID
) -> FetchPredicate<Object> {
    .isIn(keyPath, [id])
}

/// Matches if the relationship leads to the object with the given id. Nil matches a relationship without an object.
///
/// ```swift
/// let messages = try mail.fetch(
///     MessageEntity.self, where: \.thread == thread.objectID)
/// ```
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, id: ManagedObjectID?
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .equal, .constant(FetchValue(id)), []) }
}

/// Matches if the relationship does not lead to the object with the given id. A relationship without an object matches for
/// every id except nil.
///
/// ```swift
/// let others = try mail.fetch(
///     MessageEntity.self, where: \.thread != thread.objectID)
/// ```
public func != <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, id: ManagedObjectID?
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .notEqual, .constant(FetchValue(id)), []) }
}

/// Matches if the relationship leads to the given object. The object may belong to any context. Nil matches a relationship
/// without an object.
///
/// ```swift
/// let messages = try mail.fetch(MessageEntity.self, where: \.thread == thread)
/// ```
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, object: Related?
) -> FetchPredicate<Object> {
    keyPath == object?.objectID
}

/// Matches if the relationship does not lead to the given object. A relationship without an object matches for every object
/// except nil.
///
/// ```swift
/// let others = try mail.fetch(MessageEntity.self, where: \.thread != thread)
/// ```
public func != <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, object: Related?
) -> FetchPredicate<Object> {
    keyPath != object?.objectID
}

/// Matches if the relationship leads to no object.
///
/// ```swift
/// let single = try mail.fetch(MessageEntity.self, where: \.thread == nil)
/// ```
public func == <Object: ManagedObject, Related: ManagedObject>(
    keyPath: KeyPath<Object, Related?>, none: _OptionalNilComparisonType
) -> FetchPredicate<Object> {
    keyPath == ManagedObjectID?.none
}

/// Matches if the relationship leads to any object.
///
/// ```swift
/// let inThreads = try mail.fetch(MessageEntity.self, where: \.thread != nil)
/// ```
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
    /// The name of a variable that the predicate does not use.
    fileprivate var unusedVariable: String {
        var names: Set<String> = []
        var rest: [Node.Part] = [.node(node)]
        while let part = rest.popLast() {
            switch part {
            case .expression(.subquery(_, let name, _)), .expression(.variable(let name)): names.insert(name)
            default: break
            }
            rest += part.parts
        }
        var number = 0
        while names.contains("_any\(number)") { number += 1 }
        return "_any\(number)"
    }
}

extension PredicateTree.Node {
    /// Returns the predicate, applied to the object that a variable stands for.
    func qualified(_ variable: String) -> Self {
        switch self {
        case .custom(let predicate):
            .invalid(
                InvalidPart(
                    DataSourceError(
                        .unsupportedQuery,
                        "A part of a predicate about related objects needs the objects themselves (\(predicate.reason)). Fetch the related objects, and test them in code."
                    )))
        default: replacingParts({ $0.qualified(variable) }, { $0.qualified(variable) })
        }
    }
}

extension FetchExpression {
    fileprivate func qualified(_ variable: String) -> Self {
        switch self {
        case .keyPath(let path): .path(.variable(variable), path)
        case .object: .variable(variable)
        default: replacingParts({ $0.qualified(variable) }, { $0.qualified(variable) })
        }
    }
}

extension ObjectRequest {
    /// Creates a request for the related objects of one object, along a to-many relationship.
    ///
    /// ```swift
    /// let unread = ObjectRequest(
    ///     thread, \.messages, where: \.isRead == false, order: [.descending(\.date)])
    /// for await update in mail.updates(unread) { print(update.snapshot.count) }
    /// ```
    ///
    /// The object can belong to any context, because the request keeps only the object's id. The relationship must have an
    /// inverse. Otherwise the fetch throws `unsupportedQuery`.
    ///
    /// - Parameters:
    ///   - owner: The object with the relationship.
    ///   - keyPath: A to-many relationship of the object.
    ///   - predicate: The predicate for the related objects; nil, the default, for all related objects.
    ///   - order: The sort order, the most significant attribute first. Objects that compare equal come in the order of
    ///     creation.
    ///   - limit: The largest number of objects; nil, the default, for all objects.
    public init<Owner: ManagedObject>(
        _ owner: Owner, _ keyPath: KeyPath<Owner, RelatedObjects<Object>>,
        where predicate: FetchPredicate<Object>? = nil,
        order: [FetchOrder<Object>] = [], limit: Int? = nil
    ) {
        self.init(where: .related(to: owner, keyPath, predicate), order: order, limit: limit)
    }

    /// Creates a request for the related objects of one object, along an ordered to-many relationship.
    ///
    /// ```swift
    /// let large = ObjectRequest(
    ///     message, \.attachments, where: \.size > 1_000_000,
    ///     order: [.ascending(\.name)])
    /// ```
    ///
    /// **Ordering**: the order of the request, not the order of the relationship.
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
            return invalidNode(
                .unknownAttribute,
                "A request was made for a property of \(Owner.entityName) that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Owner.self) lists."
            )
        }
        let relationship = owner.layout.relationships[index]
        guard let inverse = relationship.inverse else {
            return invalidNode(
                .unsupportedQuery,
                "\(Owner.entityName).\(name) has no inverse, so a request cannot find the objects that belong to one \(Owner.entityName). Give the relationship an inverse in the model."
            )
        }
        let id = FetchExpression.constant(.objectID(entityName: owner.layout.name, key: owner.key))
        let isToMany = owner.context?.stack.layout.model.relationship(inverse)?.isToMany ?? true
        return isToMany ? .isIn(id, .keyPath([inverse.name]), []) : .compare(.keyPath([inverse.name]), .equal, id, [])
    }

    private static func invalidNode(_ code: DataSourceError.Code, _ message: String) -> PredicateTree.Node {
        .invalid(InvalidPart(DataSourceError(code, message, entityName: Object.entityName)))
    }
}
