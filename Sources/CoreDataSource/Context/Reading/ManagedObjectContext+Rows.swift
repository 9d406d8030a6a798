internal import RowStore

/// Queries for rows, without making objects.
extension ManagedObjectContext {
    /// Returns the matching rows, in order, for requests that return values. The edits of the batch are included.
    ///
    /// - Parameter columns: The columns to read; nil for all columns. Other columns may be null.
    func rows(_ plan: FetchPlan, columns: [Int]?) throws(DataSourceError) -> [StoredRow] {
        guard plan.query.joined.isEmpty, plan.objectPredicate == nil, plan.family.count == 1 else {
            return try entityRows(plan, columns: columns).map(\.stored)
        }
        var query = plan.query.of(entity: plan.family[0])
        query.columns = columns
        return try rows(query)
    }

    /// Returns the rows of ``rows(_:columns:)``, each row with its entity.
    func entityRows(_ plan: FetchPlan, columns: [Int]?) throws(DataSourceError) -> [EntityRow] {
        if !plan.query.joined.isEmpty { return try joinedRows(plan, columns: columns) }
        if plan.objectPredicate != nil {
            return try objects(plan).map { ($0.layout.index, StoredRow(key: $0.key, row: $0.wholeRow)) }
        }
        if plan.family.count == 1 { return try rows(plan, columns: columns).map { (plan.family[0], $0) } }
        var query = plan.query
        query.columns = columns
        return try rows(query, ofEntities: plan.family).rows
    }

    private func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        let reader = reader(ofEntity: query.entity)
        if reader !== self { return try reader.rows(query) }
        guard isRegistered(query) else { return try readRows(query).rows }
        return sorted(try registeredObjects(query), query).map { StoredRow(key: $0.key, row: $0.row) }
    }

    /// Returns the matching rows of one entity, including edits, and the number of the newest save that the rows include.
    func readRows(_ query: RowQuery) throws(DataSourceError) -> (rows: [StoredRow], asOf: SaveNumber) {
        let binding = bindings[query.entity]
        guard binding.hasEdits else { return try source.rows(query, binding.layout) }
        let (first, asOf) = try firstRows(query, [query.entity])
        return (query.window(first[0].rows), asOf)
    }

    /// Returns the matching rows of several entities, including edits, each row with its entity. Also returns the number of the
    /// newest save that the rows include.
    func rows(
        _ query: RowQuery, ofEntities family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: SaveNumber) {
        if family.isEmpty { return ([], .beforeFirst) }
        let (first, asOf) = try firstRows(query, family)
        var all: [(entity: Int, stored: StoredRow)] = []
        for (entity, rows) in first { all += rows.map { (entity, $0) } }
        let layout = bindings[query.entity].layout
        if query.isOrdered { all.sort { $0.stored.precedes($1.stored, by: query.sort, layout) } }
        return (query.window(all), asOf)
    }

    /// Returns at least the first `offset + limit` rows of each entity, including edits.
    private func firstRows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: SaveNumber) {
        // Each row that the batch has changed may replace a row of the store, so read more rows than the limit.
        var spare = 0
        if query.limit != nil {
            for entity in family {
                spare = max(spare, try reader(ofEntity: entity).countOfTouched(query.of(entity: entity)))
            }
        }
        return try query.firstRows(spare: spare, { bindings[$0].layout }) { widenedQuery throws(DataSourceError) in
            let (found, asOf) = try source.firstRows(widenedQuery, ofEntities: family, stack.layout)
            return (
                found.map { entity, older in
                    let edits = EditedRows(context: reader(ofEntity: entity), entity: entity)
                    return LayeredRows(entity: entity, older: older, newer: edits)
                }, asOf
            )
        }
    }

    /// Returns the query if the store alone can run the query. Returns nil if the query must or can use objects of this
    /// context, or if the plan has several entities or joined columns.
    func committedQuery(_ plan: FetchPlan, columns: [Int]?) -> RowQuery? {
        guard plan.objectPredicate == nil, plan.family.count == 1, plan.query.joined.isEmpty else { return nil }
        var query = plan.query.of(entity: plan.family[0])
        if reader(ofEntity: query.entity).bindings[query.entity].hasEdits || isRegistered(query) { return nil }
        query.columns = columns
        return query
    }

    /// Sorts matching objects of one entity, and applies limit and offset. Keys are unique in an entity, so the order
    /// is total.
    func sorted(_ objects: [ManagedObject], _ query: RowQuery) -> [ManagedObject] {
        let layout = bindings[query.entity].layout
        func precedes(_ lhs: ManagedObject, _ rhs: ManagedObject) -> Bool {
            if query.sort.isEmpty { return lhs.key < rhs.key }
            return StoredRow(key: lhs.key, row: lhs.row)
                .precedes(StoredRow(key: rhs.key, row: rhs.row), by: query.sort, layout)
        }
        guard let limit = query.limit, query.offset + limit <= 256, objects.count > 512 else {
            return query.window(objects.sorted(by: precedes))
        }
        // Keep only the first objects in a sorted array, because there are many more objects than the limit.
        var first: [ManagedObject] = []
        let wanted = query.offset + limit
        for object in objects {
            if first.count == wanted {
                guard let last = first.last, precedes(object, last) else { continue }
                first.removeLast()
            }
            first.insert(object, at: partitioningIndex(first.count) { precedes(first[$0], object) })
        }
        return query.window(first)
    }
}

/// The edits of a batch as rows.
private struct EditedRows: NewerRows {
    let context: ManagedObjectContext
    let entity: Int

    var isEmpty: Bool { !context.bindings[entity].hasEdits }

    func replaces(_ key: Int64) -> Bool { context.bindings[entity].isTouched(key) }

    func rows(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow] {
        try context.editedObjects(query).map { StoredRow(key: $0.key, row: $0.row) }
    }
}

/// The objects that match a predicate that a batch uses repeatedly.
///
/// Only objects that were edited since the last query are evaluated. So if a batch alternates between inserting and counting,
/// each object is evaluated once.
final class MatchingObjects {
    let predicate: RowPredicate
    /// Whether the predicate is evaluated on all registered objects, which are then all objects of the entity. If false, the
    /// predicate is evaluated only on the inserted and edited objects.
    let coversRegisteredObjects: Bool
    /// The matching objects by key.
    private var matching: [Int64: ManagedObject] = [:]
    /// Objects that must be evaluated again.
    private var untested: [ManagedObject]
    /// The number of edited and deleted objects whose saved rows match.
    private(set) var savedCount = 0
    private var testedSaved = 0

    init(_ predicate: RowPredicate, _ binding: EntityBinding, coversRegisteredObjects: Bool) {
        self.predicate = predicate
        self.coversRegisteredObjects = coversRegisteredObjects
        untested = coversRegisteredObjects ? Array(binding.objects.objects) : binding.inserted + binding.touched
    }

    var count: Int { matching.count }
    /// The matching objects, in any order.
    var objects: some Sequence<ManagedObject> { matching.values }

    /// Records an object that was inserted, edited, deleted or registered.
    ///
    /// - Parameter limit: The largest number of objects that may wait for evaluation.
    /// - Returns: False if more than `limit` objects are waiting. In this case, the caller must discard this instance.
    func record(_ object: ManagedObject, limit: Int) -> Bool {
        if untested.last !== object { untested.append(object) }
        return untested.count <= limit
    }

    /// Evaluates the predicate on the recorded objects.
    ///
    /// - Returns: The number of evaluated rows.
    func update(_ binding: EntityBinding, _ budget: QueryBudget) throws(DataSourceError) -> Int {
        var tested = 0
        while let object = untested.last {
            tested += 1
            if tested & 0x3F == 0 { try budget.checkCancellation() }
            let isCandidate =
                coversRegisteredObjects ? !object.isDeleted : object.state == .inserted || object.state == .edited
            var isMatching = false
            if isCandidate { isMatching = try predicate.evaluate(object.row, key: object.key, binding.layout, budget) }
            matching[object.key] = isMatching ? object : nil
            untested.removeLast()
        }
        if !coversRegisteredObjects {
            while testedSaved < binding.touched.count {
                let object = binding.touched[testedSaved]
                tested += 1
                if try predicate.evaluate(object.savedRow, key: object.key, binding.layout, budget) { savedCount += 1 }
                testedSaved += 1
            }
        }
        return tested
    }
}

/// The last predicates that a batch has used on the objects of one entity, with the matching objects of each repeated
/// predicate.
struct RepeatedPredicates {
    private static let limit = 4

    private var usedPredicates: [RowPredicate] = []
    private(set) var known: [MatchingObjects] = []

    /// Whether no predicate was repeated. While true, ``record(_:limit:)`` has no effect.
    var isEmpty: Bool { known.isEmpty }
    /// Whether no predicate was used.
    var isUnused: Bool { usedPredicates.isEmpty }

    /// Returns the matching objects of a predicate; nil if the predicate was not used before.
    mutating func answer(
        to predicate: RowPredicate, _ binding: EntityBinding, coversRegisteredObjects: Bool
    ) -> MatchingObjects? {
        if let index = known.firstIndex(where: {
            $0.predicate == predicate && $0.coversRegisteredObjects == coversRegisteredObjects
        }) {
            return known[index]
        }
        guard usedPredicates.contains(predicate) else {
            if usedPredicates.count == Self.limit { usedPredicates.removeFirst() }
            usedPredicates.append(predicate)
            return nil
        }
        let new = MatchingObjects(predicate, binding, coversRegisteredObjects: coversRegisteredObjects)
        if known.count == Self.limit { known.removeFirst() }
        known.append(new)
        return new
    }

    mutating func record(_ object: ManagedObject, limit: Int) {
        known.removeAll { !$0.record(object, limit: limit) }
    }
}
