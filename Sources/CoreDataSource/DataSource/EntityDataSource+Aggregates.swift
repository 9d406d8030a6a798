/// Makes counts, sums, minimums and maximums that are updated after every save.
extension EntityDataSource {
    /// Makes an observable aggregate, and calculates it at once. See ``LiveAggregate``.
    ///
    /// ```swift
    /// let totals = try contacts.liveAggregate(
    ///     ObjectRequest(ContactEntity.self, where: \.age >= 18),
    ///     .count(), .max(\.age))
    /// let (count, oldest) = totals.value
    /// ```
    ///
    /// For a single aggregate, the value is its result. For several aggregates, the value is a tuple.
    ///
    /// **Complexity**: reads all matching rows once, on the main actor, and does not keep the rows.
    ///
    /// - Parameters:
    ///   - request: The predicate, limit and cursor. The entity may belong to another data source. The order has an effect only
    ///     with a limit or a cursor.
    ///   - aggregates: The calculations. The results are in the same order.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)`` and of ``ManagedObjectContext/aggregate(_:_:)``.
    public func liveAggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> LiveAggregate<(repeat each Result)> {
        try mainTier.liveAggregate(request, repeat each aggregates)
    }

    /// Makes observable aggregates for each group of objects with the same value. See ``LiveAggregate``.
    ///
    /// ```swift
    /// let unread = try mail.liveAggregate(
    ///     ObjectRequest(MessageEntity.self, where: \.isRead == false),
    ///     groupBy: \.priority, .count())
    /// print(unread.value[1] ?? 0)
    /// ```
    ///
    /// The value is a dictionary with an entry for each group that has objects. After a save, the cost of the update
    /// depends only on the saved rows and on their groups.
    ///
    /// Groups by a to-one relationship have the id of the related object as their key, and nil for no object. If the related
    /// object changes or is deleted, the objects move to another group:
    ///
    /// ```swift
    /// let sizes = try mail.liveAggregate(
    ///     ObjectRequest<MessageEntity>(), groupBy: \.thread, .sum(\.size))
    /// print(sizes.value[thread.objectID] ?? 0)
    /// ```
    ///
    /// Groups by a to-many relationship have the id of each related object as their key: an object counts once in the group of
    /// each of its related objects, and in no group if it has none. The groups follow changes from both sides of the
    /// relationship:
    ///
    /// ```swift
    /// let unread = try mail.liveAggregate(
    ///     ObjectRequest(MessageEntity.self, where: \.isRead == false),
    ///     groupBy: \.labels, .count())
    /// ```
    ///
    /// For these groups, the changed objects and their links are read after each save, off the main actor. See
    /// ``LiveAggregate``.
    ///
    /// - Parameters:
    ///   - request: The predicate, limit and cursor, as in ``liveAggregate(_:_:)``.
    ///   - keyPath: The attribute or the relationship by whose values the objects are grouped.
    ///   - aggregates: The calculations for each group. The results are in the same order.
    /// - Throws: Errors of ``liveAggregate(_:_:)``; `invalidRequest` for the object's own id; `unsupportedQuery` for a to-many
    ///   relationship that is transient or belongs to a related object.
    public func liveAggregate<Object: ManagedObject, Key: GroupableProperty, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> LiveAggregate<[Key.GroupKey: (repeat each Result)]> where Key.GroupKey: Hashable {
        try mainTier.liveAggregate(request, groupBy: keyPath, repeat each aggregates)
    }
}
