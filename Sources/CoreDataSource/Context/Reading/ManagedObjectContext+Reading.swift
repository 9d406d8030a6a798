public import Foundation
internal import QueryLanguage
internal import RowStore

/// Reading objects.
extension ManagedObjectContext {
    /// The objects of a request, in its order; objects that compare equal come in the order of creation.
    ///
    /// Off the main actor, a long fetch ends when its task is cancelled.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`,
    ///   `predicateFailed`, what the store throws, and `CancellationError`.
    public func fetch<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> [Object] {
        try reading { () throws(DataSourceError) in
            var plan = try plan(request)
            plan.linkColumns = linkColumns(request, bindings[plan.family.first ?? plan.query.entity].layout)
            let objects = try objects(plan)
            try prefetch(request, objects)
            return try typed(objects, plan.family)
        }
    }

    /// The objects that match, in order.
    ///
    /// ```swift
    /// let grown = try context.fetch(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil for all. Wrap a predicate of Foundation or a format:
    ///     `FetchPredicate(#Predicate { $0.age >= 18 })`.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default. ``ObjectRequest/after`` does not get slower with every page.
    /// - Throws: What ``fetch(_:)`` throws.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(ObjectRequest(type, where: predicate, order: order, limit: limit, offset: offset))
    }

    /// The objects that match, in the order of Foundation's sort descriptors.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first; see ``FetchOrder/init(_:)``.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    /// - Throws: What ``fetch(_:)`` throws.
    @_disfavoredOverload
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try fetch(ObjectRequest(type, where: predicate, order: order, limit: limit, offset: offset))
    }

    /// The first object that matches, or nil.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation. A sort
    ///     descriptor of Foundation becomes an order by ``FetchOrder/init(_:)``: `[FetchOrder(SortDescriptor(\.name))]`.
    /// - Throws: What ``fetch(_:)`` throws.
    public func first<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = []
    ) throws -> Object? {
        try fetch(type, where: predicate, order: order, limit: 1).first
    }

    /// The first object, in the order of creation, whose attribute has that value; nil if there is none.
    ///
    /// In a private context, a look-up by an attribute with a uniqueness constraint costs as much as one by key. The store is
    /// not read while the object is registered.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - keyPath: An attribute.
    ///   - value: The value, compared exactly. Nil finds an object without a value.
    /// - Throws: What ``fetch(_:)`` throws.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            return try find(entity: entity, column: column, value: value.storedValue.value).map(typed)
        }
    }

    /// How many objects a request returns.
    ///
    /// - Throws: What ``fetch(_:)`` throws.
    public func count<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int {
        try reading(request) { () throws(DataSourceError) in
            let plan = try plan(request)
            let all = max(0, try count(plan) - plan.query.offset)
            return plan.query.limit.map { min($0, all) } ?? all
        }
    }

    /// How many objects match.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    /// - Throws: What ``fetch(_:)`` throws.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try count(ObjectRequest(type, where: predicate))
    }

    /// Whether a request returns any object. At most one row is read.
    ///
    /// - Throws: What ``fetch(_:)`` throws.
    package func exists<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Bool {
        try reading(request) { () throws(DataSourceError) in
            var plan = try plan(request)
            if owner != nil, plan.tests == nil, let found = try known(plan) { return !plan.query.window(found).isEmpty }
            if try existsEdited(plan) { return true }
            plan.query.isOrdered = false
            plan.query.limit = min(1, plan.query.limit ?? 1)
            return try !rows(plan, columns: []).isEmpty
        }
    }

    /// Whether any object matches.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    /// - Throws: What ``fetch(_:)`` throws.
    public func exists<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Bool {
        try exists(ObjectRequest(type, where: predicate))
    }

    /// The object with that id, or nil if it has been deleted.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - id: The id of an object of the same store.
    /// - Throws: `unknownEntity` for an object of another class, and what the store throws.
    public func object<Object: ManagedObject>(_ type: Object.Type, id: ManagedObjectID) throws -> Object? {
        try reading { () throws(DataSourceError) in
            guard let layout = id.layout(in: stack.layout) else { return nil }
            return try find(entity: layout.index, key: id.key).map(typed)
        }
    }

    /// The objects with those ids, in the same order, without those that have been deleted. Registered objects are not read
    /// again; all others are read with one query.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - ids: Ids of objects of the same store; an id that comes twice returns its object twice.
    /// - Throws: `unknownEntity` for an object of another class, and what the store throws.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type, ids: some Sequence<ManagedObjectID>
    ) throws -> [Object] {
        try reading { () throws(DataSourceError) in try registeredOrRead(type, ids) }
    }

    /// The values of the objects of a request, in its order.
    ///
    /// ```swift
    /// let grown = try context.fetch(as: ContactValue.self, ObjectRequest(where: \.age >= 18))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: Which objects, in which order; by default all, in the order of creation.
    /// - Throws: What ``fetch(_:)`` throws, and what the value's initializer throws.
    public func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest()
    ) throws -> [Value] {
        try fetch(request).map { try Value($0) }
    }

    // MARK: Entering and leaving

    /// Runs a read of the app.
    ///
    /// - Throws: `CancellationError`, and what the body throws.
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

    /// Reads rows that do not become objects, unless the predicate needs the objects.
    func reading<Object: ManagedObject, R>(
        _ request: ObjectRequest<Object>, _ body: () throws(DataSourceError) -> R
    ) throws -> R {
        try reading(registersObjects: request.predicate?.needsObjects != nil, body)
    }
}

/// Queries that follow relationships.
extension ManagedObjectContext {
    /// The objects that match, in order and within limit and offset.
    func joinedObjects(_ plan: FetchPlan) throws(DataSourceError) -> [ManagedObject] {
        try joined(plan, columns: nil).map(\.object)
    }

    /// The rows that match, in order and within limit and offset.
    func joinedRows(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(entity: Int, stored: StoredRow)] {
        if plan.tests != nil { return try joined(plan, columns: columns).map { ($0.object.layout.index, $0.stored) } }
        var query = plan.query
        query.columns = columns
        return try joinedRows(query, plan.family).rows
    }

    /// How many objects match; limit and offset are ignored.
    func countJoined(_ plan: FetchPlan) throws(DataSourceError) -> Int {
        let query = plan.query.unlimited
        if !hasEdits(query, plan.family), let count = try source.countJoined(query, plan.family) { return count }
        return try joinedRows(query.keysOnly, plan.family).rows.count
    }

    private func joined(
        _ plan: FetchPlan, columns: [Int]?
    ) throws(DataSourceError) -> [(object: ManagedObject, stored: StoredRow)] {
        var query = plan.query
        if plan.tests != nil {
            query = query.unlimited
            query.returnsJoined = true
        }
        let (rows, asOf) = try joinedRows(query, plan.family)
        var found: [(object: ManagedObject, stored: StoredRow)] = []
        found.reserveCapacity(rows.count)
        for (entity, stored) in rows {
            let object = object(stored, bindings[entity], asOf: asOf)
            if let tests = plan.tests {
                try query.budget.countRow()
                guard try tests.accepts(object, stored, query.budget) else { continue }
            }
            found.append((object, stored))
        }
        return plan.tests == nil ? found : plan.query.window(found)
    }

    /// The rows of several entities that match, including edits, and the newest save that they take into account.
    private func joinedRows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: Int64) {
        guard hasEdits(query, family) else { return try source.joinedRows(query, family, stack.layout) }
        // At least of this moment.
        let asOf = source.newestSave
        return (try Join(ContextView(context: self), query.budget).rows(query, family), asOf)
    }

    /// The entities whose deleted objects links of this context still lead to.
    var withGoneObjects: Set<Int> {
        guard editing != .not else { return [] }
        return Set(bindings.indices.filter(mayHaveGoneObjects))
    }

    /// Whether anything that the query reads was edited.
    private func hasEdits(_ query: RowQuery, _ family: [Int]) -> Bool {
        query.entities(family).contains { editor(ofEntity: $0).bindings[$0].hasEdits }
    }

    /// Prepares a query to continue after a place in its order. The place gets from related rows what it would get now.
    func follow(_ cursor: FetchCursor, _ query: inout RowQuery) throws(DataSourceError) {
        let place = try filled([cursor.stored], query.joined)[0]
        query = query.following(RowCursor(place, query.sort, cursor.layout))
    }

    /// Rows with joined columns, as this context sees them.
    func filled(_ rows: [StoredRow], _ columns: [JoinedColumn]) throws(DataSourceError) -> [StoredRow] {
        try Join(ContextView(context: self), QueryBudget(isCancellable: isCancellable)).filled(rows, columns)
    }
}

/// Rows as a context sees them, including edits.
private struct ContextView: RowView {
    let context: ManagedObjectContext
    var layout: ModelLayout { context.stack.layout }
    var mayHaveDoubleLinks: Bool { context.editing == .inDraft }

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try context.editor(ofEntity: query.entity).rows(FetchPlan(query), columns: query.columns)
    }
}
