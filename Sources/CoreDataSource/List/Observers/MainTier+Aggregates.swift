internal import QueryLanguage
internal import RowStore

extension MainTier {
    func liveAggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> LiveAggregate<(repeat each Result)> {
        let resolver = try aggregateResolver(request)
        var set = AggregationSet()
        for aggregate in repeat each aggregates { try set.add(aggregate, resolver) }
        let engine = try engine(request, AggregateState.Plan(set.aggregations, resolver.layout), resolver)
        let reader = AggregateReader(set: set, joined: resolver.joins.columns, layout: resolver.layout)
        let first: (repeat each Result) = try reader.values(engine.state.results(AggregateState.allRows) ?? [], context)
        return try LiveAggregate(engine, initial: first) { [weak self] changes throws(DataSourceError) in
            guard let results = changes.last?.results, let self else { return { _ in } }
            let values: (repeat each Result) = try reader.values(results, self.context)
            return { $0 = values }
        }
    }

    func liveAggregate<Object: ManagedObject, Key: GroupableProperty, each Result: AttributeStorable>(
        _ request: ObjectRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> LiveAggregate<[Key.GroupKey: (repeat each Result)]> where Key.GroupKey: Hashable {
        let resolver = try aggregateResolver(request)
        let group = try GroupSource(keyPath, resolver, context)
        var set = AggregationSet()
        for aggregate in repeat each aggregates { try set.add(aggregate, resolver) }
        let plan = AggregateState.Plan(set.aggregations, groupedBy: group, resolver.layout)
        let engine = try engine(request, plan, resolver)
        let reader = AggregateReader(set: set, joined: resolver.joins.columns, layout: resolver.layout)
        let known = GroupIDs()
        return try LiveAggregate(engine, initial: [:]) { [weak self] changes throws(DataSourceError) in
            guard let self else { return { _ in } }
            let ids = try known.update(changes, group, self.context)
            var new: [(key: Key.GroupKey, values: (repeat each Result)?)] = []
            for (changed, results) in changes {
                let key = try reader.key(changed, group.column, as: Key.self, id: ids[changed], self.context)
                guard let results else {
                    new.append((key, nil))
                    continue
                }
                let values: (repeat each Result) = try reader.values(results, self.context)
                new.append((key, values))
            }
            return { value in for (key, values) in new { value[key] = values } }
        }
    }

    /// Returns the resolver for a request's aggregates, with the joined columns of the predicate and the order.
    private func aggregateResolver<Object: ManagedObject>(
        _ request: ObjectRequest<Object>
    ) throws(DataSourceError) -> PredicateResolver {
        context.resolver(for: try context.plan(ordered(request)).query)
    }

    /// Removes what has no effect on aggregates: the sections, the prefetching, and the order if the request has neither a limit
    /// nor a cursor.
    private func ordered<Object: ManagedObject>(_ request: ObjectRequest<Object>) -> ObjectRequest<Object> {
        var request = request
        (request.sections, request.prefetch) = (nil, [])
        if request.limit == nil && request.after == nil { request.order = [] }
        return request
    }

    private func engine<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, _ plan: AggregateState.Plan, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> AggregateEngine {
        let query = try listQuery(ListRequest(ordered(request), nil), joined: resolver.joins.columns).query
        prepareToFetch()
        return try lists.aggregate(query, plan)
    }
}

/// Reads the results of aggregates as typed values.
@MainActor
private struct AggregateReader {
    let set: AggregationSet
    let joined: [JoinedColumn]
    let layout: EntityLayout

    func values<each Result: AttributeStorable>(
        _ results: [RowValue], _ context: MainContext
    ) throws(DataSourceError) -> (repeat each Result) {
        let reader = RowValueReader(context, layout, joined, hasAggregateResults: true)
        return try set.values(results, reader)
    }

    /// Returns a group's key as a typed value.
    func key<Key: GroupableProperty>(
        _ key: GroupIdentity, _ column: Int?, as type: Key.Type, id: ManagedObjectID?, _ context: MainContext
    ) throws(DataSourceError) -> Key.GroupKey {
        let reader = RowValueReader(context, layout, joined, hasAggregateResults: true)
        guard let column, case .value(let value) = key else { return try reader.groupKey(type, 0, id: id) }
        var row = StoredRow(key: 0, row: RowSnapshot(columnCount: layout.columns.count))
        if JoinedColumn.isJoined(column) {
            row.joined = RowSnapshot(columnCount: joined.count)
            row.joined?.setValue(value, JoinedColumn.index(column))
        } else {
            row.row.setValue(value, column)
        }
        reader.row = row
        let groupKey = try reader.groupKey(type, column, id: id)
        try reader.check()
        return groupKey
    }
}

/// The ids of the groups that a live aggregate shows. A group keeps its id until the group is empty, also after its object was
/// deleted.
@MainActor
private final class GroupIDs {
    private var ids: [GroupIdentity: ManagedObjectID] = [:]

    /// Finds the ids of new groups, and forgets the ids of empty groups.
    ///
    /// - Returns: The ids of all changed groups.
    func update(
        _ changes: [(key: GroupIdentity, results: [RowValue]?)], _ group: GroupSource, _ context: MainContext
    ) throws(DataSourceError) -> [GroupIdentity: ManagedObjectID] {
        if group.destinations.isEmpty { return [:] }
        let new = changes.map(\.key).filter { ids[$0] == nil }
        var changed = try context.groupIDs(new, ofEntities: group.destinations)
        for (key, results) in changes {
            if let id = ids[key] { changed[key] = id }
            ids[key] = results == nil ? nil : changed[key]
        }
        return changed
    }
}
