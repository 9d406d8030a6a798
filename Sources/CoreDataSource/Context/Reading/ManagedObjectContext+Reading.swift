public import Foundation
internal import QueryLanguage
internal import RowStore

/// Reading objects.
extension ManagedObjectContext {
    /// Fetches the objects of a request.
    ///
    /// ```swift
    /// var request = ObjectRequest(ContactEntity.self, where: \.age >= 18)
    /// request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
    /// let grown = try context.fetch(request)
    /// ```
    ///
    /// **Ordering**: the order of the request. Objects that compare equal come in the order of creation.
    ///
    /// **Cancellation**: off the main actor, a long fetch ends when its task is canceled.
    ///
    /// **Complexity**: one query for each entity of the request, and one or more queries for each prefetched relationship.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`,
    ///   `predicateFailed`; errors of the store; `CancellationError`.
    public func fetch<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> [Object] {
        try reading { () throws(DataSourceError) in
            var plan = try plan(request)
            plan.linkColumns = linkColumns(request, bindings[plan.family.first ?? plan.query.entity].layout)
            let objects = try objects(plan)
            try prefetch(request, objects)
            return try typed(objects, plan.family)
        }
    }

    /// Fetches the objects that match a predicate.
    ///
    /// ```swift
    /// let grown = try context.fetch(
    ///     ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
    /// ```
    ///
    /// **Complexity**: the same as for ``fetch(_:)``.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil, the default, for all objects. To use a predicate of Foundation or a format string,
    ///     wrap it: `FetchPredicate(#Predicate { $0.age >= 18 })`.
    ///   - order: The sort order, the most significant attribute first. Objects that compare equal come in the order of
    ///     creation.
    ///   - limit: The largest number of objects; nil, the default, for all objects.
    ///   - offset: The number of objects to skip; 0 by default. Skipped rows are read too. To avoid this, use
    ///     ``ObjectRequest/after``.
    /// - Throws: The errors of ``fetch(_:)``.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(ObjectRequest(type, where: predicate, order: order, limit: limit, offset: offset))
    }

    /// Fetches the objects that match a predicate, in the order of Foundation's sort descriptors.
    ///
    /// ```swift
    /// let byName = try context.fetch(
    ///     ContactEntity.self, order: [SortDescriptor(\.name)])
    /// ```
    ///
    /// **Complexity**: the same as for ``fetch(_:)``.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil, the default, for all objects.
    ///   - order: The sort descriptors, the most significant first; see ``FetchOrder/init(_:)``.
    ///   - limit: The largest number of objects; nil, the default, for all objects.
    ///   - offset: The number of objects to skip; 0 by default.
    /// - Throws: The errors of ``fetch(_:)``.
    @_disfavoredOverload
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(
            ObjectRequest(type, where: predicate, order: order.map { FetchOrder($0) }, limit: limit, offset: offset))
    }

    /// Fetches the first object that matches a predicate; nil if there is none.
    ///
    /// ```swift
    /// let oldest = try context.first(ContactEntity.self, order: [.descending(\.age)])
    /// ```
    ///
    /// **Complexity**: the same as for a fetch with the limit 1.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - predicate: The predicate; nil, the default, for all objects.
    ///   - order: The sort order, the most significant attribute first. Objects that compare equal come in the order of
    ///     creation. ``FetchOrder/init(_:)`` converts a sort descriptor of Foundation: `[FetchOrder(SortDescriptor(\.name))]`.
    /// - Throws: The errors of ``fetch(_:)``.
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = []
    ) throws -> Object? {
        try fetch(type, where: predicate, order: order, limit: 1).first
    }

    /// Finds the first object, in the order of creation, whose attribute has the given value; nil if there is none.
    ///
    /// ```swift
    /// let contact = try container.main.first(
    ///     ContactEntity.self, where: \.uid, equals: "1")
    /// ```
    ///
    /// **Complexity**: in a private context, the look-up of a registered object by an attribute with a uniqueness constraint
    /// takes constant time and reads nothing from the store. Other look-ups may query the store. Without an index in the model,
    /// such a query reads every row.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - keyPath: An attribute.
    ///   - value: The value, compared exactly. Nil finds an object without a value.
    /// - Throws: The errors of ``fetch(_:)``.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            return try find(entity: entity, column: column, value: value.storedValue.value).map(typed)
        }
    }

    /// Counts the objects of a request, within its limit and offset.
    ///
    /// ```swift
    /// let request = ObjectRequest(ContactEntity.self, where: \.age >= 18, limit: 100)
    /// let count = try context.count(request)  // at most 100
    /// ```
    ///
    /// **Complexity**: the store counts the rows. No objects are made, unless a part of the predicate can be evaluated only on
    /// objects.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func count<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int {
        try reading(request) { () throws(DataSourceError) in
            let plan = try plan(request)
            let all = max(0, try count(plan) - plan.query.offset)
            return plan.query.limit.map { min($0, all) } ?? all
        }
    }

    /// Counts the objects that match a predicate.
    ///
    /// ```swift
    /// let minors = try context.count(ContactEntity.self, where: \.age < 18)
    /// ```
    ///
    /// **Complexity**: the same as for ``count(_:)``.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil, the default, for all objects.
    /// - Throws: The errors of ``fetch(_:)``.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try count(ObjectRequest(type, where: predicate))
    }

    /// Whether a request finds any object. At most one row is read, unless a part of the predicate can be evaluated only on
    /// objects.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    package func exists<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Bool {
        try reading(request) { () throws(DataSourceError) in
            var plan = try plan(request)
            if owner != nil, plan.objectPredicate == nil, let found = try known(plan) {
                return !plan.query.window(found).isEmpty
            }
            if try existsEdited(plan) { return true }
            plan.query.isOrdered = false
            plan.query.limit = min(1, plan.query.limit ?? 1)
            return try !rows(plan, columns: []).isEmpty
        }
    }

    /// Whether any object matches a predicate. At most one row is read, unless a part of the predicate can be evaluated only on
    /// objects.
    ///
    /// ```swift
    /// if try context.exists(ContactEntity.self, where: \.phone == "110") {
    ///     print("known")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil, the default, for all objects.
    /// - Throws: The errors of ``fetch(_:)``.
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Bool {
        try exists(ObjectRequest(type, where: predicate))
    }

    /// Finds the object with the given id; nil if the object has been deleted.
    ///
    /// ```swift
    /// let contact = try contacts.main.object(ContactEntity.self, id: id)
    /// ```
    ///
    /// **Complexity**: at most one row is read from the store.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - id: The id of an object of the same store.
    /// - Throws: `unknownEntity` for an object of another class; errors of the store.
    public func object<Object: ManagedObject>(_ type: Object.Type, id: ManagedObjectID) throws -> Object? {
        try reading { () throws(DataSourceError) in
            guard let layout = id.layout(in: stack.layout) else { return nil }
            return try find(entity: layout.index, key: id.key).map(typed)
        }
    }

    /// Finds the objects with the given ids, in the order of the ids. Deleted objects are left out.
    ///
    /// ```swift
    /// let ids = try context.ids(ObjectRequest(ContactEntity.self, where: \.age >= 18))
    /// let grown = try context.objects(ContactEntity.self, ids: ids)
    /// ```
    ///
    /// **Complexity**: one query for each entity. A private context or a draft does not read registered objects again.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - ids: The ids of objects of the same store. If an id occurs twice, the result contains its object twice.
    /// - Throws: `unknownEntity` for an object of another class; errors of the store.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type, ids: some Sequence<ManagedObjectID>
    ) throws -> [Object] {
        try reading { () throws(DataSourceError) in try registeredOrRead(type, ids) }
    }

    /// Fetches the objects of a request, and makes a value from each object.
    ///
    /// ```swift
    /// let grown = try context.fetch(
    ///     as: ContactValue.self, ObjectRequest(where: \.age >= 18))
    /// ```
    ///
    /// **Complexity**: the same as for ``fetch(_:)``, and one call of the initializer for each object.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: The request for the objects; by default all objects, in the order of creation.
    /// - Throws: The errors of ``fetch(_:)``, and any error that the value's initializer throws.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest()
    ) throws -> [Value] {
        try fetch(request).map { try Value($0) }
    }

    // MARK: Entering and leaving

    /// Runs a read that the app has requested.
    ///
    /// - Throws: `CancellationError`; errors of the body.
    func reading<R>(
        registersObjects: Bool = true, _ body: () throws(DataSourceError) -> R
    ) throws -> R {
        try completeEdits()
        willRead(registersObjects: registersObjects)
        defer { didRead() }
        do throws(DataSourceError) {
            return try body()
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
    }

    /// Runs a read that makes no objects from rows, unless a part of the predicate can be evaluated only on objects.
    func reading<Object: ManagedObject, R>(
        _ request: ObjectRequest<Object>, _ body: () throws(DataSourceError) -> R
    ) throws -> R {
        try reading(registersObjects: request.predicate?.needsObjects != nil, body)
    }
}

/// Queries that follow relationships.
extension ManagedObjectContext {
    /// Returns the matching objects, in order and within limit and offset.
    func joinedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        try joined(plan, columns: nil).map(\.object)
    }

    /// Returns the matching rows, in order and within limit and offset.
    func joinedRows(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(entity: Int, stored: StoredRow)] {
        if plan.objectPredicate != nil {
            return try joined(plan, columns: columns).map { ($0.object.layout.index, $0.stored) }
        }
        var query = plan.query
        query.columns = columns
        return try joinedRows(query, plan.family).rows
    }

    /// The number of matching objects. Limit and offset are ignored.
    func countJoined(_ plan: FetchPlan) throws(DataSourceError) -> Int {
        let query = plan.query.unlimited
        if !hasEdits(query, plan.family), let count = try source.countJoined(query, plan.family) { return count }
        return try joinedRows(query.keysOnly, plan.family).rows.count
    }

    private func joined(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(object: ManagedObject, stored: StoredRow)] {
        var query = plan.query
        if plan.objectPredicate != nil {
            query = query.unlimited
            query.returnsJoined = true
        }
        let (rows, asOf) = try joinedRows(query, plan.family)
        var found: [(object: ManagedObject, stored: StoredRow)] = []
        found.reserveCapacity(rows.count)
        for (entity, stored) in rows {
            let reader = reader(ofEntity: entity)
            let object = reader.object(stored, reader.bindings[entity], asOf: asOf)
            if let objectPredicate = plan.objectPredicate {
                try query.budget.countRow()
                guard try objectPredicate.accepts(object, stored, query.budget) else { continue }
            }
            found.append((object, stored))
        }
        return plan.objectPredicate == nil ? found : plan.query.window(found)
    }

    /// Returns the matching rows of several entities, including edits, and the number of a save. The rows include this save
    /// and all earlier saves, and can include later saves.
    private func joinedRows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: SaveNumber) {
        guard hasEdits(query, family) else { return try source.joinedRows(query, family, stack.layout) }
        let asOf = source.newestSave
        return (try Join(ContextView(context: self), query.budget).rows(query, family), asOf)
    }

    /// The entities that have deleted objects to which links of this context may still refer.
    var entitiesWithDeletedObjects: Set<Int> {
        guard editing != .readOnly else { return [] }
        return Set(bindings.indices.filter(mayHaveGoneObjects))
    }

    /// Whether any entity that the query reads has edits.
    private func hasEdits(_ query: RowQuery, _ family: [Int]) -> Bool {
        query.entities(family).contains { editor(ofEntity: $0).bindings[$0].hasEdits }
    }

    /// Makes a query continue after a cursor. The joined columns of the cursor get their current values.
    func follow(_ cursor: FetchCursor, _ query: inout RowQuery) throws(DataSourceError) {
        let start = try filled([cursor.stored], query.joined)[0]
        query = query.following(RowCursor(start, query.sort, cursor.layout))
    }

    /// Adds the values of joined columns to rows, including edits.
    func filled(_ rows: [StoredRow], _ columns: [JoinedColumn]) throws(DataSourceError) -> [StoredRow] {
        try Join(ContextView(context: self), QueryBudget(isCancellable: isCancellable)).addingJoinedColumns(
            rows, columns)
    }
}

/// The rows of a context, including edits.
struct ContextView: RowView {
    let context: ManagedObjectContext
    var layout: ModelLayout { context.stack.layout }
    var mayHaveDoubleLinks: Bool { context.editing == .inDraft }

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try context.editor(ofEntity: query.entity).rows(FetchPlan(query), columns: query.columns)
    }
}
