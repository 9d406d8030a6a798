internal import Foundation
internal import QueryLanguage
internal import RowStore

/// The parts of main that lists use.
extension MainTier {
    /// A query for a list, and its key.
    ///
    /// - Parameter defersValues: Whether large values may stay in the store, because the list shows only objects of main. Rows
    ///   that are passed on have all their values.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `unsupportedQuery`.
    func listQuery<Object: ManagedObject>(
        _ list: ListRequest<Object>, defersValues: Bool = false
    ) throws(DataSourceError) -> (key: ListKey, query: ListQuery) {
        let request = try list.checked
        try context.prefetch(request, [])
        var plan = try context.plan(request.whole)
        let layout = stack.layout.entities[plan.query.entity]
        try context.checkClass(Object.self, plan.family)
        let resolver = context.resolver(for: plan.query)
        var section: SectionKey?
        if let path = list.section { section = try sectionKey(path, resolver) }
        plan.query.joined = resolver.joins.columns
        let order = ListOrder(layout, sort: plan.query.sort, section: section)
        if let reason = request.predicate?.tree.needsRelationships {
            throw DetachedObjects.cannotFollow("the predicate", reason, layout)
        }
        let test = plan.tests.map { self.test($0, request.predicate?.needsObjects ?? "") }
        var start: ListedRow?
        if let cursor = request.after { start = try row(cursor, order, plan.query.joined) }
        let query = ListQuery(
            layout, family: plan.family, predicate: plan.query.predicate, joined: plan.query.joined, order: order,
            limit: request.limit.map { min($0, ListRequest<Object>.mostRows) },
            start: start, test: test, links: ChangedLinks(of: plan.family, stack.layout),
            deferredColumns: defersValues ? deferredColumns(plan.family) : [:],
            layouts: plan.family.map { stack.layout.entities[$0] })
        let tested = test == nil ? nil : request.predicate?.tree
        return (ListKey(query, section: list.section?.keyPath, test: tested), query)
    }

    private func deferredColumns(_ family: [Int]) -> [Int: [Int]] {
        let columns = family.map { ($0, stack.layout.entities[$0].deferredColumns) }.filter { !$1.isEmpty }
        return Dictionary(uniqueKeysWithValues: columns)
    }

    private func test(_ predicate: ObjectPredicate, _ reason: String) -> ListMatcher {
        let reader = detachedObjects
        return ListMatcher { row, budget throws(DataSourceError) in
            try reader.read(row, for: "the predicate", reason) { object throws(DataSourceError) in
                try predicate.accepts(object, row.stored, budget)
            }
        }
    }

    /// The engine of the same list with another beginning.
    func moved(_ engine: ListEngine, after cursor: FetchCursor?) throws(DataSourceError) -> ListEngine {
        prepareToFetch()
        var (key, query) = (engine.key, engine.query)
        query.start = nil
        if let cursor { query.start = try row(cursor, query.order, query.joined) }
        key.start = query.start.map(query.order.place)
        return try lists.engine(key, query)
    }

    /// Brings the lists up to the last save, and ends them.
    func finishLists() async {
        merge()
        await lists.settle()
        lists.end()
    }

    private func sectionKey<Object: ManagedObject>(
        _ path: SectionPath<Object>, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> SectionKey {
        if try RelatedKeyPaths.namesUnlessComputed(path.keyPath, of: Object.self) != nil {
            return .column(try context.column(path.keyPath, of: Object.self, resolver))
        }
        let reader = detachedObjects
        return .computed(
            SectionKey.ComputedSection { row throws(DataSourceError) in
                try reader.read(row, for: "a section", "a property of \(Object.self) that is not in the model") {
                    object in
                    guard let object = object as? Object else { return .null }
                    return sectionValue(object[keyPath: path.keyPath])
                }
            })
    }

    /// Why a list last changed, and which relationships of its objects are prefetched or read one by one.
    func explained(_ reason: ListReason, _ query: ListQuery, _ page: ListPage) -> ListReason {
        var reason = reason
        reason.prefetched = page.prefetched
        reason.readOneByOne = context.relationshipsReadOneByOne(query.family)
        return reason
    }

    /// How many queries lists follow; lists with the same query share one.
    package var followedQueryCount: Int { lists.count }

    /// How much memory the saves use that lists keep until their work off the main actor has ended, in bytes.
    package var keptListBytes: Int { lists.keptBytes }

    /// Makes all lists read their rows from the store.
    package func reloadLists() {
        lists.reload(.backlog)
        lists.drain()
    }

    /// Returns once no list works off the main actor.
    package func listsAreSettled() async {
        await lists.settle()
    }

    /// Makes objects from rows that a list shows; they can be read together.
    var detachedObjects: DetachedObjects {
        DetachedObjects(layout: stack.layout, types: context.bindings.map(\.type))
    }

    /// The row from which a cursor was made, as it was then.
    private func row(
        _ cursor: FetchCursor, _ order: ListOrder, _ joined: [JoinedColumn]
    ) throws(DataSourceError) -> ListedRow {
        try cursor.check(order.layout, in: stack.layout)
        return try order.listed(cursor.layout.index, try context.filled([cursor.stored], joined)[0])
    }
}

/// Objects without a context: each is made from a row to be read at once, on any thread. They have no relationships.
struct DetachedObjects: Sendable {
    let layout: ModelLayout
    /// By entity.
    let types: [ManagedObject.Type]

    func object(_ row: ListedRow, _ state: ObjectState = .saved) -> ManagedObject {
        types[row.entity].make(
            ObjectHome(layout.entities[row.entity], in: nil, .not), key: row.key, row: row.row, state, asOf: 0)
    }

    /// Reads the object of a row.
    ///
    /// - Parameters:
    ///   - use: What it is read for, in messages.
    ///   - reason: Why the row alone is not enough.
    /// - Throws: `unsupportedQuery` if the body follows a relationship, which leads nowhere; what the body throws.
    func read<R>(
        _ row: ListedRow, for use: String, _ reason: String,
        _ body: (ManagedObject) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let object = object(row)
        let result = Result { () throws(DataSourceError) in try body(object) }
        if object.hasFollowed { throw DetachedObjects.cannotFollow(use, reason, layout.entities[row.entity]) }
        return try result.get()
    }

    static func cannotFollow(_ use: String, _ reason: String, _ layout: EntityLayout) -> DataSourceError {
        DataSourceError(
            .unsupportedQuery,
            "A list of \(layout.name) cannot follow a relationship in a part that only objects can answer: \(use) has \(reason). Use a form that the store can answer, such as \\.relationship?.attribute or a format, or fetch.",
            entityName: layout.name)
    }
}

/// The value of a computed property, in the form in which sections are compared.
private func sectionValue(_ value: Any) -> RowValue {
    switch value {
    case let value as any AttributeStorable: value.storedValue.value
    case let value as Substring: .text(String(value))
    case let value as Character: .text(String(value))
    default: .text(String(describing: value))
    }
}

/// A row that a list shows, or has shown until now.
struct ReportedRow {
    /// As the list has it, or had it last.
    let row: ListedRow
    /// What the list knows of it.
    let newest: NetChanges.Newest

    /// A row that the list shows.
    init(_ row: ListedRow) { (self.row, newest) = (row, .row(row)) }

    /// A row that has left a list, and may have changed since.
    init(unknown row: ListedRow) { (self.row, newest) = (row, .unknown) }

    /// - Parameter change: What has happened to a row that the list does not show any more; nil if nothing has, and a limit hides it.
    init(leaving row: ListedRow, _ change: NetChanges.Change?) {
        (self.row, newest) = (row, change?.newest ?? .row(row))
    }
}

/// The objects of main for rows of lists.
extension MainTier {
    func hasRelationships(_ entity: Int) -> Bool { !stack.layout.entities[entity].relationships.isEmpty }

    /// The objects of rows, in their order.
    ///
    /// Each is the object that main has. Main makes one from a row of the list only if the list is not behind, so that the row is
    /// the newest one that main knows; otherwise from the row that the store has now. All rows that are missing are read together.
    ///
    /// - Parameters:
    ///   - number: The save that the rows belong to.
    ///   - isBehind: Whether main has merged newer saves than the list.
    /// - Returns: The objects, and whether all rows could be read. An object whose row could not be read has the values that the
    ///   list shows.
    func objects(
        _ rows: [ReportedRow], asOf number: Int64, isBehind: Bool
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
                context.noteReadFailure(error)
            }
        }
        let objects = zip(rows, known).map { row, object in
            object ?? context.bindings[row.row.entity].objects[row.row.key]
                ?? detachedObjects.object(row.row, unread.contains(row.row.entity) ? .saved : .gone)
        }
        return (objects, unread.isEmpty)
    }

    /// The object of a row, if no row has to be read for it.
    private func knownObject(_ row: ReportedRow, asOf number: Int64, isBehind: Bool) -> ManagedObject? {
        let binding = context.bindings[row.row.entity]
        if !isBehind, case .row(let newest) = row.newest {
            return context.object(newest.stored, binding, asOf: number)
        }
        if let object = binding.objects[row.row.key] ?? deletedObjects[row.row.key] { return object }
        if !isBehind, case .deleted = row.newest { return detachedObjects.object(row.row, .gone) }
        return nil
    }

    /// Registers the objects of the rows that the store has now.
    private func register(_ keys: [Int64], _ entity: Int) throws(DataSourceError) {
        let binding = context.bindings[entity]
        try stack.root.rows.forEachRow(entity: entity, keys: keys, deferringValues: true) { key, row, asOf in
            if let row { _ = context.object(StoredRow(key: key, row: row), binding, asOf: asOf) }
        }
    }
}

/// The objects of a list that were asked for last, and of the rows near them: their relationships are read together.
@MainActor
final class ListPage {
    /// How many objects are made together.
    static let size = 64

    /// Whoever has the page keeps main, or does without.
    private weak let main: MainTier?
    /// The names of the relationships that the request prefetches.
    let prefetched: [String]
    /// Follows them.
    private let prefetch: ([ManagedObject]) -> Void
    /// What the list showed.
    private weak var state: ListState?
    private var range = 0..<0
    private var objects: [ManagedObject] = []

    init<Object: ManagedObject>(_ request: ObjectRequest<Object>, _ main: MainTier) {
        self.main = main
        prefetched = request.prefetched
        // What cannot be read now is read when it is touched.
        prefetch = request.prefetch.isEmpty ? { _ in } : { [weak main] in try? main?.context.prefetch(request, $0) }
    }

    /// The object of a row; nil if main is gone.
    ///
    /// - Parameter isBehind: Whether main has merged newer saves than the state has.
    func object(at index: Int, in state: ListState, isBehind: Bool) -> ManagedObject? {
        guard let main else { return nil }
        // One row costs nothing unless it has to be read, or leads to others that are.
        let isAlone = !isBehind && !main.hasRelationships(state.rows[index].entity)
        if isAlone { forget() }
        // Main keeps the objects of a page up to date.
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

    /// Lets the relationships of objects be read together. Those that are gone have none.
    func readTogether(_ objects: [ManagedObject]) {
        let present = objects.filter { !$0.isDeleted }
        FetchGroup.gather(present)
        prefetch(present)
    }

    private func forget() {
        (state, range, objects) = (nil, 0..<0, [])
    }
}
