internal import Foundation
internal import QueryLanguage
internal import RowStore

extension MainTier {
    /// Returns a query for a list, and the list's key.
    ///
    /// - Parameters:
    ///   - defersValues: Whether large values may stay in the store, because the list shows only objects of the main
    ///     context. Rows of snapshots must have all their values.
    ///   - joined: The joined columns of the rows, beginning with those of the predicate and the order.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`.
    func listQuery<Object: ManagedObject>(
        _ list: ListRequest<Object>, defersValues: Bool = false, joined: [JoinedColumn] = []
    ) throws(DataSourceError) -> (key: ListKey, query: ListQuery) {
        let request = try list.checked
        try context.prefetch(request, [])
        var plan = try context.plan(request.whole)
        if !joined.isEmpty { plan.query.joined = joined }
        let layout = stack.layout.entities[plan.query.entity]
        try context.checkClass(Object.self, plan.family)
        let resolver = context.resolver(for: plan.query)
        let section = try list.sections.map { (sections) throws(DataSourceError) in
            try sectionKey(sections, plan.query.sort, resolver)
        }
        plan.query.joined = resolver.joins.columns
        let order = ListOrder(layout, sort: plan.query.sort, section: section)
        if let reason = request.predicate?.tree.needsRelationships {
            throw DetachedObjectFactory.cannotFollow("the predicate", reason, layout)
        }
        let objectPredicate = plan.objectPredicate.map { self.listPredicate($0, request.predicate?.needsObjects ?? "") }
        var start: ListedRow?
        if let cursor = request.after { start = try row(cursor, order, plan.query.joined) }
        let query = ListQuery(
            layout, family: plan.family, predicate: plan.query.predicate, joined: plan.query.joined, order: order,
            limit: request.limit.map { min($0, ListRequest<Object>.maxRows) },
            start: start, objectPredicate: objectPredicate, links: ChangedLinks(of: plan.family, stack.layout),
            deferredColumns: defersValues ? deferredColumns(plan.family) : [:],
            layouts: plan.family.map { stack.layout.entities[$0] })
        let tested = objectPredicate == nil ? nil : request.predicate?.tree
        return (ListKey(query, section: list.sections.map { AnyHashable($0) }, objectPredicate: tested), query)
    }

    private func deferredColumns(_ family: [Int]) -> [Int: [Int]] {
        let columns = family.map { ($0, stack.layout.entities[$0].deferredColumns) }.filter { !$1.isEmpty }
        return Dictionary(uniqueKeysWithValues: columns)
    }

    private func listPredicate(_ predicate: ObjectPredicate, _ reason: String) -> ListPredicate {
        let reader = detachedObjectFactory
        return ListPredicate { row, budget throws(DataSourceError) in
            try reader.read(row, for: "the predicate", reason) { object throws(DataSourceError) in
                try predicate.accepts(object, row.stored, budget)
            }
        }
    }

    /// Returns the engine for another page of an engine's list.
    func engineForPage(_ engine: ListEngine, after cursor: FetchCursor?) throws(DataSourceError) -> ListEngine {
        prepareToFetch()
        var (key, query) = (engine.key, engine.query)
        query.start = nil
        if let cursor { query.start = try row(cursor, query.order, query.joined) }
        key.start = query.start.map(query.order.cursor)
        return try lists.engine(key, query)
    }

    /// Merges the last saves into the lists, and ends the lists.
    func finishLists() async {
        unpin()
        merge()
        await lists.waitUntilReported()
        lists.end()
    }

    /// Returns the index of an object in a list. If the main context has the object, the object's values speed up the
    /// search.
    func index(of id: ManagedObjectID, in state: ListState) -> Int? {
        guard let entity = id.entity(in: stack.layout) else { return nil }
        var likely: ListedRow?
        // Objects of the main context have no joined columns.
        if state.query.joined.isEmpty, let object = context.bindings[entity].objects[id.key] {
            likely = try? state.query.order.listed(entity, StoredRow(key: id.key, row: object.row))
        }
        return state.index(ofKey: id.key, entity: entity, likely: likely)
    }

    /// Returns the reason with two additions: the prefetched relationships of the list's objects, and the relationships that
    /// are read for one object at a time.
    func addingRelationshipReads(_ reason: ListReason, _ query: ListQuery, _ page: ListPage) -> ListReason {
        var reason = reason
        reason.prefetched = page.prefetched
        reason.readOneByOne = context.relationshipsReadOneByOne(query.family)
        return reason
    }

    /// The number of different queries of all lists.
    package var followedQueryCount: Int { lists.count }

    /// The number of queries, including the kept queries of released lists.
    package var keptQueryCount: Int { lists.keptCount }

    /// The number of times that a list or an aggregate was asked for its next work.
    package var listStepCount: Int { lists.stepCount }

    /// The number of times that a list or an aggregate got saves to check.
    package var listVisitCount: Int { lists.visitCount }

    /// The memory, in bytes, of the saves that wait for the lists' work off the main actor.
    package var keptListBytes: Int { lists.keptBytes }

    /// Makes all lists read their rows again from the store.
    package func reloadLists() {
        lists.reload(.backlog)
        lists.drain()
    }

    /// Waits until no list works off the main actor, and all lists show the freshness of the last commit.
    package func waitForLists() async {
        await lists.waitUntilReported()
        await waitForFreshness()
    }

    /// The factory that makes objects from the rows of lists.
    var detachedObjectFactory: DetachedObjectFactory {
        DetachedObjectFactory(layout: stack.layout, types: context.bindings.map(\.type))
    }

    /// Returns the row of a cursor, with the values that the row had when the cursor was made.
    private func row(
        _ cursor: FetchCursor, _ order: ListOrder, _ joined: [JoinedColumn]
    ) throws(DataSourceError) -> ListedRow {
        try cursor.check(order.layout, in: stack.layout)
        return try order.listed(cursor.layout.index, try context.filled([cursor.stored], joined)[0])
    }
}

/// Makes objects without a context, on any thread. The objects have no relationships.
struct DetachedObjectFactory: Sendable {
    let layout: ModelLayout
    /// The class of each entity.
    let types: [ManagedObject.Type]

    func object(_ row: ListedRow, _ state: ObjectState = .saved) -> ManagedObject {
        types[row.entity].make(
            ObjectHome(layout.entities[row.entity], in: nil, .readOnly), key: row.key, row: row.row, state,
            asOf: .beforeFirst)
    }

    /// Passes the object of a row to a closure, and returns the closure's result.
    ///
    /// - Parameters:
    ///   - use: The part of the request that reads the object, for error messages.
    ///   - reason: The reason why the row alone is not enough, for error messages.
    /// - Throws: `unsupportedQuery` if the body follows a relationship; errors of the body.
    func read<R>(
        _ row: ListedRow, for use: String, _ reason: String,
        _ body: (ManagedObject) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let object = object(row)
        let result = Result { () throws(DataSourceError) in try body(object) }
        if object.hasUsedRelationshipWithoutContext {
            throw DetachedObjectFactory.cannotFollow(use, reason, layout.entities[row.entity])
        }
        return try result.get()
    }

    static func cannotFollow(_ use: String, _ reason: String, _ layout: EntityLayout) -> DataSourceError {
        DataSourceError(
            .unsupportedQuery,
            "A list of \(layout.name) cannot follow relationships in \(use), which has \(reason). Use \\.relationship?.attribute or a format, because the store can evaluate both. Or fetch the objects.",
            entityName: layout.name)
    }
}

/// A row that a list shows, or has shown until this report.
struct ReportedRow {
    /// The row in the list. If the row has left the list, its last version in the list.
    let row: ListedRow
    /// The newest version of the row that the list knows.
    let newest: NetChanges.Newest

    /// A row that the list shows.
    init(_ row: ListedRow) { (self.row, newest) = (row, .row(row)) }

    /// A row that has left the list, and may have changed since.
    init(unknown row: ListedRow) { (self.row, newest) = (row, .unknown) }

    /// - Parameter change: The change of a row that has left the list; nil if the unchanged row was moved beyond a limit.
    init(leaving row: ListedRow, _ change: NetChanges.Change?) {
        (self.row, newest) = (row, change?.newest ?? .row(row))
    }
}

extension MainTier {
    func hasRelationships(_ entity: Int) -> Bool { !stack.layout.entities[entity].relationships.isEmpty }

    /// Returns the objects of rows, in the order of the rows.
    ///
    /// Registered objects are returned as they are. If the list is not behind, each other object is made from the row of the
    /// list, because that row is the newest version. Otherwise the row of the object is read from the store. All rows that must
    /// be read are read together.
    ///
    /// - Parameters:
    ///   - number: The number of the save that the rows belong to.
    ///   - isBehind: Whether the main context has merged saves that the list does not include.
    /// - Returns: The objects, and whether all rows that must be read could be read. If a row could not be read, its object has
    ///   the values of the list.
    func objects(
        _ rows: [ReportedRow], asOf number: SaveNumber, isBehind: Bool
    ) -> (objects: [ManagedObject], isComplete: Bool) {
        let known = rows.map { knownObject($0, asOf: number, isBehind: isBehind) }
        if known.allSatisfy({ $0 != nil }) { return (known.compactMap(\.self), true) }
        var missing: [Int: [Int64]] = [:]
        for (row, object) in zip(rows, known) where object == nil {
            missing[row.row.entity, default: []].append(row.row.key)
        }
        var unread: Set<Int> = []
        for (entity, keys) in missing {
            do throws(DataSourceError) { try register(keys, entity) } catch {
                unread.insert(entity)
                context.recordReadFailure(error)
            }
        }
        let objects = zip(rows, known).map { row, object in
            object ?? context.bindings[row.row.entity].objects[row.row.key]
                ?? detachedObjectFactory.object(row.row, unread.contains(row.row.entity) ? .saved : .gone)
        }
        return (objects, unread.isEmpty)
    }

    /// Returns the object of a row; nil if the row must be read first.
    private func knownObject(_ row: ReportedRow, asOf number: SaveNumber, isBehind: Bool) -> ManagedObject? {
        let binding = context.bindings[row.row.entity]
        if !isBehind, case .row(let newest) = row.newest {
            return context.object(newest.stored, binding, asOf: number)
        }
        if let object = binding.objects[row.row.key] ?? deletedObjects[row.row.key] { return object }
        if !isBehind, case .deleted = row.newest { return detachedObjectFactory.object(row.row, .gone) }
        return nil
    }

    /// Reads rows from the store, and registers their objects.
    private func register(_ keys: [Int64], _ entity: Int) throws(DataSourceError) {
        let binding = context.bindings[entity]
        try context.source.forEachRow(entity: entity, keys: keys, deferringValues: true) { key, row, asOf in
            if let row { _ = context.object(StoredRow(key: key, row: row), binding, asOf: asOf) }
        }
    }
}

/// The objects of a list around the last requested index. The relationships of these objects are read together.
@MainActor
final class ListPage {
    /// The number of objects that are made together.
    static let size = 64

    /// Weak, because the owner of the page retains the main tier, or works without it.
    private weak let main: MainTier?
    /// The names of the relationships that the request prefetches.
    let prefetched: [String]
    /// Reads the prefetched relationships of objects.
    private let prefetch: ([ManagedObject]) -> Void
    /// The state of the list that the objects belong to.
    private weak var state: ListState?
    private var range = 0..<0
    private var objects: [ManagedObject] = []

    init<Object: ManagedObject>(_ request: ObjectRequest<Object>, _ main: MainTier) {
        self.main = main
        prefetched = request.prefetched
        // Ignore errors: a relationship that cannot be prefetched is read when it is used.
        prefetch = request.prefetch.isEmpty ? { _ in } : { [weak main] in try? main?.context.prefetch(request, $0) }
    }

    /// Returns the object of a row; nil if the main tier was released.
    ///
    /// - Parameter isBehind: Whether the main context has merged saves that the state does not include.
    func object(at index: Int, in state: ListState, isBehind: Bool) -> ManagedObject? {
        guard let main else { return nil }
        // A page helps only if the row must be read, or if the object has relationships.
        let isAlone = !isBehind && !main.hasRelationships(state.rows[index].entity)
        if isAlone { forget() }
        // Objects of a page are up to date, because the main tier merges saves into them.
        if self.state === state, range.contains(index) { return objects[index - range.lowerBound] }
        let start = isAlone ? index : index / ListPage.size * ListPage.size
        let range = start..<(isAlone ? index + 1 : min(start + ListPage.size, state.count))
        let rows = range.map { ReportedRow(state.rows[$0]) }
        let (objects, isComplete) = main.objects(rows, asOf: state.asOf, isBehind: isBehind)
        if isAlone { return objects[0] }
        readTogether(objects)
        (self.state, self.range, self.objects) = isComplete ? (state, range, objects) : (nil, 0..<0, [])
        return objects[index - start]
    }

    /// Groups objects, so that their relationships are read together. Deleted objects are left out: they have no relationships.
    func readTogether(_ objects: [ManagedObject]) {
        let present = objects.filter { !$0.isDeleted }
        FetchGroup.gather(present)
        prefetch(present)
    }

    private func forget() {
        (state, range, objects) = (nil, 0..<0, [])
    }
}
