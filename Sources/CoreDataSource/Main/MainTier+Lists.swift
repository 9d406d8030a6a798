internal import Foundation
internal import QueryLanguage
internal import RowStore

/// The parts of main that lists use.
extension MainTier {
    /// A query for a list, and its key.
    ///
    /// - Parameter leavesValuesApart: Whether large values may stay in the store, because the list shows only objects of main. Rows
    ///   that are passed on have all their values.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `unsupportedQuery`.
    func listQuery<Object: ManagedObject>(
        _ list: ListRequest<Object>, leavesValuesApart: Bool = false
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
            columnsApart: leavesValuesApart ? columnsApart(plan.family) : [:],
            layouts: plan.family.map { stack.layout.entities[$0] })
        let tested = test == nil ? nil : request.predicate?.tree
        return (ListKey(query, section: list.section?.keyPath, test: tested), query)
    }

    private func columnsApart(_ family: [Int]) -> [Int: [Int]] {
        let columns = family.map { ($0, stack.layout.entities[$0].columnsApart) }.filter { !$1.isEmpty }
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
        lists.finish()
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
