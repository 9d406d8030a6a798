/// Counts, sums and extremes that follow every save.
extension EntityDataSource {
    /// Makes an aggregate to observe, calculated at once: see ``LiveAggregate``.
    ///
    /// ```swift
    /// let totals = try contacts.liveAggregate(
    ///     ObjectRequest(ContactEntity.self, where: \.age >= 18),
    ///     .count(), .max(\.age))
    /// let (count, oldest) = totals.value
    /// ```
    ///
    /// The value of a single aggregate is its result; the value of several is a tuple.
    ///
    /// **Complexity**: reads all matching rows once, on the main actor, and keeps none of them.
    ///
    /// - Parameters:
    ///   - request: The predicate, limit and cursor. The entity may belong to another data source. The order matters only with
    ///     a limit or a cursor.
    ///   - aggregates: The calculations; the results come in the same order.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)`` and of ``ManagedObjectContext/aggregate(_:_:)``.
    public func liveAggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> LiveAggregate<(repeat each Result)> {
        try mainTier.liveAggregate(request, repeat each aggregates)
    }

    /// Makes aggregates of each group of objects with the same value, to observe: see ``LiveAggregate``.
    ///
    /// ```swift
    /// let unread = try mail.liveAggregate(
    ///     ObjectRequest(MessageEntity.self, where: \.isRead == false),
    ///     groupBy: \.priority, .count())
    /// print(unread.value[1] ?? 0)
    /// ```
    ///
    /// The value is a dictionary with an entry for each group that has objects. A save costs as much as its own rows and their
    /// groups.
    ///
    /// - Parameters:
    ///   - request: The predicate, limit and cursor, as for ``liveAggregate(_:_:)``.
    ///   - keyPath: The attribute whose value the objects of a group share.
    ///   - aggregates: The calculations for each group; the results come in the same order.
    /// - Throws: Errors of ``liveAggregate(_:_:)``.
    public func liveAggregate<Object: ManagedObject, Key: AttributeStorable & Hashable, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> LiveAggregate<[Key: (repeat each Result)]> {
        try mainTier.liveAggregate(request, groupBy: keyPath, repeat each aggregates)
    }
}
