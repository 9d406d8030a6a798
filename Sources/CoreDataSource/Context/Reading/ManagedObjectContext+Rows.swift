internal import RowStore

/// Rows that match, without objects.
extension ManagedObjectContext {
    /// The rows that match, in order and with edits, for requests that return values and no objects.
    ///
    /// - Parameter columns: The columns that are wanted, nil for all; others may be null.
    func rows(_ plan: FetchPlan, columns: [Int]?) throws(DataSourceError) -> [StoredRow] {
        var query = plan.query
        query.columns = columns
        if !query.joined.isEmpty { return try joinedRows(plan, columns: columns).map(\.stored) }
        if plan.tests != nil { return try objects(plan).map { StoredRow(key: $0.key, row: $0.wholeRow) } }
        return try plan.family.count == 1
            ? rows(query.of(entity: plan.family[0])) : rows(query, ofEntities: plan.family).rows.map(\.stored)
    }

    private func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        guard isRegistered(query) else { return try readRows(query).rows }
        return sorted(try registeredObjects(query), query).map { StoredRow(key: $0.key, row: $0.row) }
    }

    /// The rows of one entity that match, including edits, and the newest save that they take into account.
    func readRows(_ query: RowQuery) throws(DataSourceError) -> (rows: [StoredRow], asOf: Int64) {
        let binding = bindings[query.entity]
        guard binding.hasEdits else { return try source.rows(query, binding.layout) }
        let (first, asOf) = try firstRows(query, [query.entity])
        return (query.window(first[0].rows), asOf)
    }

    /// The rows of several entities that match, including edits, each with its entity, and the newest save that they take into
    /// account.
    func rows(
        _ query: RowQuery, ofEntities family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, stored: StoredRow)], asOf: Int64) {
        if family.isEmpty { return ([], 0) }
        let (first, asOf) = try firstRows(query, family)
        var all: [(entity: Int, stored: StoredRow)] = []
        for (entity, rows) in first { all += rows.map { (entity, $0) } }
        let layout = bindings[query.entity].layout
        if query.isOrdered { all.sort { $0.stored.precedes($1.stored, by: query.sort, layout) } }
        return (query.window(all), asOf)
    }

    /// At least the first rows of each entity, including edits, as many as limit and offset say.
    private func firstRows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: Int64) {
        // Each row that the batch has changed can hide a row of the store.
        var spare = 0
        if query.limit != nil {
            for entity in family { spare = max(spare, try countOfTouched(query.of(entity: entity))) }
        }
        return try query.firstRows(spare: spare, { bindings[$0].layout }) { asked throws(DataSourceError) in
            let (found, asOf) = try source.firstRows(asked, ofEntities: family, stack.layout)
            return (
                found.map { LayeredRows(entity: $0, older: $1, newer: EditedRows(context: self, entity: $0)) }, asOf
            )
        }
    }

    /// The query, if the store alone can answer it; nil if objects of this context affect the result, or if there are several
    /// entities.
    func committedQuery(_ plan: FetchPlan, columns: [Int]?) -> RowQuery? {
        guard plan.tests == nil, plan.family.count == 1, plan.query.joined.isEmpty else { return nil }
        var query = plan.query.of(entity: plan.family[0])
        if bindings[query.entity].hasEdits || isRegistered(query) { return nil }
        query.columns = columns
        return query
    }

    /// Objects that all match, in order and within limit and offset. Keys are unique in the whole store, so the order is total
    /// across entities.
    func sorted(_ objects: [ManagedObject], _ query: RowQuery) -> [ManagedObject] {
        let layout = bindings[query.entity].layout
        func precedes(_ one: ManagedObject, _ other: ManagedObject) -> Bool {
            if query.sort.isEmpty { return one.key < other.key }
            return StoredRow(key: one.key, row: one.row)
                .precedes(StoredRow(key: other.key, row: other.row), by: query.sort, layout)
        }
        guard let limit = query.limit, query.offset + limit <= 256, objects.count > 512 else {
            return query.window(objects.sorted(by: precedes))
        }
        // The first few of many objects.
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

/// The edits of a batch, as rows.
private struct EditedRows: NewerRows {
    let context: ManagedObjectContext
    let entity: Int

    var isEmpty: Bool { !context.bindings[entity].hasEdits }

    func replaces(_ key: Int64) -> Bool { context.bindings[entity].isTouched(key) }

    func rows(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow] {
        try context.editedObjects(query).map { StoredRow(key: $0.key, row: $0.row) }
    }
}

/// The objects of a batch that match a predicate which is asked again and again.
///
/// Only objects that were edited since the last time are tested, so a batch that inserts and counts in turn tests each object
/// once.
final class MatchingObjects {
    let predicate: RowPredicate
    /// Whether they are among all registered objects, which are all there are, or among the edited ones.
    let isOfRegistered: Bool
    /// By key.
    private var matching: [Int64: ManagedObject] = [:]
    /// Objects that may match now or no longer.
    private var untested: [ManagedObject]
    /// How many of the edited and deleted objects matched as they were saved.
    private(set) var savedCount = 0
    private var testedSaved = 0

    init(_ predicate: RowPredicate, _ binding: EntityBinding, isOfRegistered: Bool) {
        self.predicate = predicate
        self.isOfRegistered = isOfRegistered
        untested = isOfRegistered ? Array(binding.objects.objects) : binding.inserted + binding.touched
    }

    var count: Int { matching.count }
    /// In any order.
    var objects: some Sequence<ManagedObject> { matching.values }

    /// An object was inserted, edited, deleted or registered.
    ///
    /// - Parameter limit: The most objects that may wait for a test.
    /// - Returns: False if there are too many. The answer has to be forgotten then.
    func note(_ object: ManagedObject, limit: Int) -> Bool {
        if untested.last !== object { untested.append(object) }
        return untested.count <= limit
    }

    /// Tests what was noted.
    ///
    /// - Returns: How many rows were tested.
    func update(_ binding: EntityBinding, _ budget: QueryBudget) throws(DataSourceError) -> Int {
        var tested = 0
        while let object = untested.last {
            tested += 1
            if tested & 0x3F == 0 { try budget.checkCancellation() }
            let isThere = isOfRegistered ? !object.isDeleted : object.state == .inserted || object.state == .edited
            var isMatching = false
            if isThere { isMatching = try predicate.evaluate(object.row, key: object.key, binding.layout, budget) }
            matching[object.key] = isMatching ? object : nil
            untested.removeLast()
        }
        if !isOfRegistered {
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

/// The predicates that a batch has asked last about the objects of one entity, and what matches those that were asked again.
struct RepeatedPredicates {
    private static let limit = 4

    private var asked: [RowPredicate] = []
    private(set) var known: [MatchingObjects] = []

    /// Whether nothing has to be noted.
    var isEmpty: Bool { known.isEmpty }
    /// Whether nothing was asked.
    var isUnused: Bool { asked.isEmpty }

    /// What matches the predicate; nil if it was not asked before.
    mutating func answer(
        to predicate: RowPredicate, _ binding: EntityBinding, isOfRegistered: Bool
    ) -> MatchingObjects? {
        if let place = known.firstIndex(where: { $0.predicate == predicate && $0.isOfRegistered == isOfRegistered }) {
            return known[place]
        }
        guard asked.contains(predicate) else {
            if asked.count == Self.limit { asked.removeFirst() }
            asked.append(predicate)
            return nil
        }
        let new = MatchingObjects(predicate, binding, isOfRegistered: isOfRegistered)
        if known.count == Self.limit { known.removeFirst() }
        known.append(new)
        return new
    }

    mutating func note(_ object: ManagedObject, limit: Int) {
        known.removeAll { !$0.note(object, limit: limit) }
    }
}
