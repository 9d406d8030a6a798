internal import QueryLanguage
internal import RowStore

/// Sums, counts and extremes.
extension ManagedObjectContext {
    /// Calculates sums, averages, counts, minima and maxima over the objects of a request.
    ///
    /// ```swift
    /// let (count, oldest) = try context.aggregate(
    ///     ObjectRequest<ContactEntity>(), .count(), .max(\.age))
    /// ```
    ///
    /// **Complexity**: the store calculates the results under two conditions: the request is for one entity, without a limit,
    /// an offset or relationships, and no saves or edits of the entity are pending. Otherwise all matching rows are read.
    ///
    /// - Parameters:
    ///   - request: The request for the objects. The limit and the offset are applied before the calculation.
    ///   - aggregates: The calculations. The results come in the same order.
    /// - Throws: The errors of ``fetch(_:)``; `numberOverflow` for a sum beyond the range of its type; `damagedValue`.
    public func aggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> (repeat each Result) {
        try reading(request) { () throws(DataSourceError) in try results(request, repeat each aggregates) }
    }

    private func results<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> (repeat each Result) {
        var plan = try plan(request)
        // The order matters only with a limit or an offset.
        plan.query.isOrdered = plan.query.limit != nil || plan.query.offset > 0
        let layout = bindings[plan.query.entity].layout
        let resolver = resolver(for: plan.query)
        var empty = AggregationSet()
        for aggregate in repeat each aggregates { try empty.add(aggregate, resolver) }
        plan.query.joined = resolver.joins.columns
        let reader = RowValueReader(self, layout, plan.query.joined, hasAggregateResults: true)
        if let query = committedQuery(plan, columns: nil),
            let results = try source.committedResults(empty.aggregations, of: query)
        {
            reader.row = StoredRow(results: results)
        } else {
            reader.row = try gather(plan, columns: empty.columns, empty) { $0.add($1) }.results(reader)
        }
        var next = 0..<empty.count
        let results = (repeat reader.read((each Result).self, next.popFirst()))
        try reader.check(attributes: empty.attributes)
        return results
    }

    /// Calculates sums, averages, counts, minima and maxima for each group of objects with the same value.
    ///
    /// ```swift
    /// let grown = ObjectRequest<ContactEntity>(where: \.age >= 18)
    /// for (group, count) in try contacts.main.aggregate(
    ///     grown, groupBy: \.group?.name, .count()) {
    ///     print(group ?? "none", count)
    /// }
    /// ```
    ///
    /// The groups come in the order of their first objects in the request. Limit and offset apply to objects, not to groups.
    /// Groups by a to-one relationship have the id of the related object as their key. The objects without a related object
    /// form the group nil:
    ///
    /// ```swift
    /// let counts = try context.aggregate(
    ///     ObjectRequest<ContactEntity>(), groupBy: \.group, .count())
    /// let ungrouped = counts.first { $0.key == nil }?.values ?? 0
    /// ```
    ///
    /// Groups by a to-many relationship have the id of each related object as their key. An object counts once in the group
    /// of each of its related objects, and in no group if it has none, as in an inner join. So a total of all groups can be
    /// larger or smaller than the total of all objects. To count the objects without related objects, use a predicate, such
    /// as `.none(\.members)`.
    ///
    /// ```swift
    /// for (contact, count) in try context.aggregate(
    ///     ObjectRequest<GroupEntity>(), groupBy: \.members, .count()) {
    ///     print(contact, count)
    /// }
    /// ```
    ///
    /// **Complexity**: all matching rows are read. For a to-many relationship, every 1,000 objects need one more query for each
    /// entity that stores links. For a many-to-many relationship, they also need one query for each entity of the related
    /// objects. For a to-one relationship to objects of several entities, there is one more query for each entity.
    ///
    /// - Parameters:
    ///   - request: The request for the objects.
    ///   - keyPath: The attribute or the relationship whose value the objects of a group share.
    ///   - aggregates: The calculations for each group. The results come in the same order.
    /// - Throws: The errors of ``aggregate(_:_:)``; `invalidRequest` for the object's own id; `unsupportedQuery` for a to-many
    ///   relationship that is transient or belongs to a related object.
    public func aggregate<Object: ManagedObject, Key: GroupableProperty, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws -> [(key: Key.GroupKey, values: (repeat each Result))] {
        try reading(request) { () throws(DataSourceError) in
            try groups(request, keyPath, repeat each aggregates)
        }
    }

    private func groups<Object: ManagedObject, Key: GroupableProperty, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> [(key: Key.GroupKey, values: (repeat each Result))] {
        var plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        let resolver = resolver(for: plan.query)
        let group = try GroupSource(keyPath, resolver, self)
        var empty = AggregationSet()
        for aggregate in repeat each aggregates { try empty.add(aggregate, resolver) }
        plan.query.joined = resolver.joins.columns
        let groups = try gather(plan, layout, groupedBy: group, empty)
        let reader = RowValueReader(self, layout, plan.query.joined, hasAggregateResults: true)
        let ids = try groupIDs(groups.keys, ofEntities: group.destinations)
        var results: [(key: Key.GroupKey, values: (repeat each Result))] = []
        for part in groups.all {
            reader.row = part.first
            let key = try reader.groupKey(Key.self, group.column ?? 0, id: ids[part.key])
            try reader.check()
            reader.row = try part.set.results(reader)
            var next = 0..<empty.count
            results.append((key, (repeat reader.read((each Result).self, next.popFirst()))))
            try reader.check(attributes: empty.attributes)
        }
        return results
    }

    private func gather(
        _ plan: FetchPlan, _ layout: EntityLayout, groupedBy group: GroupSource, _ empty: AggregationSet
    ) throws(DataSourceError) -> AggregationGroups {
        let groups = AggregationGroups(empty)
        switch group {
        case .column(let column):
            let (column, storage) = (column.column, layout.order(of: column.column).storage)
            return try gather(plan, columns: empty.columns + [column], groups) { groups, row in
                groups.add(row, key: .value(row.value(column, storage)))
            }
        case .links(let links):
            return try gather(plan, columns: empty.columns, groupedBy: links, groups) { groups, row, ends in
                for end in ends { groups.add(row, key: .end(end)) }
            }
        }
    }

    /// Adds all matching rows to a result, in the order of the request. The edits of the context are included. Rows of the store
    /// are not kept in memory.
    ///
    /// - Parameter columns: The columns to read; other columns may be null.
    private func gather<Result>(
        _ plan: FetchPlan, columns: [Int], _ empty: Result, _ add: (inout Result, StoredRow) -> Void
    ) throws(DataSourceError) -> Result {
        if let query = committedQuery(plan, columns: columns) {
            var result = empty
            if try source.forEachCommittedRow(query, { add(&result, $0) }) != nil { return result }
        }
        var result = empty
        for row in try rows(plan, columns: columns) { add(&result, row) }
        return result
    }
}

/// Several aggregates over the same rows.
struct AggregationSet {
    private(set) var aggregations: [Aggregation] = []

    var count: Int { aggregations.count }
    var columns: [Int] { aggregations.compactMap(\.column) }
    /// The column of each aggregate; nil for a count of rows.
    var attributes: [Int?] { aggregations.map(\.column) }

    mutating func add<Object, Result>(
        _ aggregate: FetchAggregate<Object, Result>, _ resolver: PredicateResolver
    ) throws(DataSourceError) {
        guard let attribute = aggregate.attribute else {
            aggregations.append(Aggregation(aggregate.operation, column: nil, .integer))
            return
        }
        let typed = try resolver.expression(attribute.get())
        guard case .column(let column) = typed.expression, let kind = typed.kind else { return }
        aggregations.append(Aggregation(aggregate.operation, column: column, kind))
    }

    mutating func add(_ row: StoredRow) {
        for index in aggregations.indices { aggregations[index].add(row) }
    }

    /// Returns the results as values of the requested types.
    func values<each Result: AttributeStorable>(
        _ results: [RowValue], _ reader: RowValueReader
    ) throws(DataSourceError) -> (repeat each Result) {
        reader.row = StoredRow(results: results)
        var next = 0..<count
        let values = (repeat reader.read((each Result).self, next.popFirst()))
        try reader.check(attributes: attributes)
        return values
    }

    /// Returns the results as the columns of one row.
    ///
    /// - Throws: `numberOverflow`, or `damagedValue` if a gathered value is not a number.
    func results(_ reader: RowValueReader) throws(DataSourceError) -> StoredRow {
        var results: [RowValue] = []
        for aggregation in aggregations {
            if aggregation.isDamaged, let column = aggregation.column {
                throw reader.damaged(column)
            }
            results.append(try aggregation.result())
        }
        return StoredRow(results: results)
    }
}

extension StoredRow {
    fileprivate init(results: [RowValue]) {
        var row = RowSnapshot(columnCount: max(1, results.count))
        for (index, result) in results.enumerated() { row.setValue(result, index) }
        self.init(key: 0, row: row)
    }
}

/// The groups of rows with equal values or with the same related object, in the order of their first rows.
private struct AggregationGroups {
    private(set) var all: [(key: GroupIdentity, first: StoredRow, set: AggregationSet)] = []
    private var positions: [GroupIdentity: Int] = [:]
    private let empty: AggregationSet

    var keys: some Collection<GroupIdentity> { positions.keys }

    init(_ empty: AggregationSet) {
        self.empty = empty
    }

    mutating func add(_ row: StoredRow, key: GroupIdentity) {
        let position = positions[key] ?? all.count
        if position == all.count {
            positions[key] = position
            all.append((key, row, empty))
        }
        all[position].set.add(row)
    }
}

/// Values of rows, without objects.
extension ManagedObjectContext {
    /// Returns the ids of the objects of a request, in the order of the request.
    ///
    /// ```swift
    /// let ids = try context.ids(ObjectRequest(ContactEntity.self, where: \.age >= 18))
    /// ```
    ///
    /// **Complexity**: a request for one entity makes no objects, unless a part of its predicate can be evaluated only on
    /// objects. **Isolation**: the ids are `Sendable`.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func ids<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> [ManagedObjectID] {
        try reading(request) { () throws(DataSourceError) in
            let plan = try plan(request)
            if plan.objectPredicate == nil && plan.family.count == 1 {
                let layout = bindings[plan.family[0]].layout
                return try rows(plan, columns: []).map { ManagedObjectID(layout, key: $0.key) }
            }
            return try objects(plan).map(\.objectID)
        }
    }

    /// Returns some attributes of the objects of a request, in the order of the request. Only these attributes are read, and no
    /// objects are made, unless a part of the predicate can be evaluated only on objects.
    ///
    /// ```swift
    /// for (name, age) in try context.values(
    ///     ObjectRequest<ContactEntity>(), \.name, \.age) {
    ///     print(name, age)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request for the objects.
    ///   - keyPaths: Attributes of the objects, or of objects that their to-one relationships lead to.
    /// - Throws: The errors of ``fetch(_:)``; `damagedValue`.
    public func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws -> [(repeat each Value)] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, repeat each keyPaths)
            var values: [(repeat each Value)] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row
                var next = columns.makeIterator()
                values.append((repeat reader.read((each Value).self, next.next())))
                try reader.check()
            }
            return values
        }
    }

    /// Returns one attribute of the objects of a request, in the order of the request. Only this attribute is read, and no
    /// objects are made, unless a part of the predicate can be evaluated only on objects.
    ///
    /// ```swift
    /// let known = Set(try context.values(ObjectRequest<ContactEntity>(), \.uid))
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request for the objects.
    ///   - keyPath: An attribute of the objects, or of objects that their to-one relationships lead to.
    /// - Throws: The errors of ``fetch(_:)``; `damagedValue`.
    public func values<Object: ManagedObject, Value: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ keyPath: KeyPath<Object, Value>
    ) throws -> [Value] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, keyPath)
            var values: [Value] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row
                values.append(reader.read(Value.self, columns[0]))
                try reader.check()
            }
            return values
        }
    }

    /// Returns the rows of a request, the columns of the key paths, and a reader for the values in these columns.
    private func valueRows<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws(DataSourceError) -> (rows: [StoredRow], columns: [Int], reader: RowValueReader) {
        var plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        let resolver = resolver(for: plan.query)
        var columns: [Int] = []
        for keyPath in repeat each keyPaths { columns.append(try column(keyPath, of: Object.self, resolver)) }
        plan.query.joined = resolver.joins.columns
        let window = plan.query
        if request.isDistinct { plan.query = plan.query.unlimited }
        var rows = try rows(plan, columns: columns)
        if request.isDistinct { rows = window.window(distinct(rows, columns, layout)) }
        return (rows, columns, RowValueReader(self, layout, plan.query.joined, hasAggregateResults: false))
    }

    private func distinct(_ rows: [StoredRow], _ columns: [Int], _ layout: EntityLayout) -> [StoredRow] {
        var met: Set<[RowValue]> = []
        return rows.filter { row in
            met.insert(columns.map { row.value($0, layout.order(of: $0).storage) }).inserted
        }
    }

    /// Returns a resolver that can add more joined columns to a query.
    func resolver(for query: RowQuery) -> PredicateResolver {
        PredicateResolver(
            bindings[query.entity].layout, in: stack.layout, joined: query.joined,
            entitiesWithDeletedObjects: entitiesWithDeletedObjects)
    }

    /// Returns the column or joined column that a key path leads to.
    func column(
        _ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> Int {
        let path = try RelatedKeyPaths.names(keyPath, of: type)
        if case .column(let column) = try resolver.ownPath(path).expression { return column }
        throw DataSourceError(
            .unsupportedQuery,
            "\"\(path.joined(separator: "."))\" of \(type.entityName) is calculated from a stored value, so a query cannot return the result. Fetch the stored value, and calculate the result in code.",
            entityName: type.entityName, attributeName: path.joined(separator: "."))
    }
}
