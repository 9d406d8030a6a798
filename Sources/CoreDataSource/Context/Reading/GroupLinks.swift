internal import QueryLanguage
internal import RowStore

/// The to-many relationship by which a query groups its objects. An object is in the group of each related object, and in no
/// group if it has no related objects.
struct GroupLinks: Sendable {
    /// The entities of the related objects.
    let destinations: [Int]
    /// The rows that store the links.
    let sources: [LinkSource]
    /// Whether the links have rows of their own. Only such links can lead to objects that do not exist. Any other link is stored
    /// in the row of the related object, and is deleted together with this row.
    let usesPairs: Bool

    /// The number of objects whose links one query reads.
    private static let batchSize = 1000

    init(_ relationship: RelationshipLayout) {
        (destinations, sources) = (relationship.destinationFamily, relationship.linkSources)
        usesPairs = if case .pairs = relationship.storage { true } else { false }
    }

    /// The entities and the join tables whose rows store the links.
    var layouts: [Int] { sources.map(\.layout) }

    /// Passes each row to the body, with its related objects in the order of the relationship. The rows without related objects
    /// are left out.
    ///
    /// **Complexity**: for every 1,000 rows, one query for each entity that stores links. If the links have rows of their own,
    /// also one query for each entity of the related objects.
    func forEach(
        _ rows: [EntityRow], in view: any RowView, _ budget: QueryBudget, _ body: (EntityRow, [LinkEnd]) -> Void
    ) throws(DataSourceError) {
        var checked = CheckedEnds()
        for part in rows.chunks(ofSize: Self.batchSize) {
            let owners = Array(Set(part.map(\.entity)))
            var links = FoundLinks()
            for source in sources {
                links.add(
                    try view.rows(
                        [source.layout], .column(source.owner), in: part.map(\.stored.key), columns: source.columns,
                        budget),
                    of: source, owners: owners)
            }
            // A batch may have deleted a related object. Another program may have deleted one without its links.
            if usesPairs {
                try check(links.ends, &checked, in: view, budget)
                links.keep(checked.present)
            }
            let ends = links.byOwner(mayHaveDoubleLinks: view.mayHaveDoubleLinks)
            for row in part {
                if let ends = ends[LinkEnd(entity: row.entity, key: row.stored.key)] { body(row, ends) }
            }
        }
    }

    /// The ends that were checked so far, and the ends among them that exist.
    private struct CheckedEnds {
        var all: Set<LinkEnd> = []
        var present: Set<LinkEnd> = []
    }

    /// Finds out which ends exist in the view. Reads only the keys of the rows.
    private func check(
        _ ends: Set<LinkEnd>, _ checked: inout CheckedEnds, in view: any RowView, _ budget: QueryBudget
    ) throws(DataSourceError) {
        let new = ends.subtracting(checked.all)
        for entity in destinations {
            let keys = new.lazy.filter { $0.entity == entity }.map(\.key)
            for row in try view.rows([entity], .key, in: Array(keys), columns: [], budget) {
                checked.present.insert(LinkEnd(entity: entity, key: row.key))
            }
        }
        checked.all.formUnion(new)
    }
}

extension ManagedObjectContext {
    /// Adds all matching rows to a result, each with its related objects, in the order of the request. The edits of the context
    /// are included. If there are no edits, the rows and the links are read in one state of the store.
    ///
    /// - Parameter columns: The columns to read; other columns may be null.
    func gather<Result>(
        _ plan: FetchPlan, columns: [Int], groupedBy links: GroupLinks, _ empty: Result,
        _ add: (inout Result, StoredRow, [LinkEnd]) -> Void
    ) throws(DataSourceError) -> Result {
        let budget = QueryBudget(isCancellable: isCancellable)
        let mayBeGone =
            editing != .readOnly && links.usesPairs && links.destinations.contains(where: mayHaveGoneObjects)
        let entities = plan.query.entities(plan.family).union(links.layouts)
        let hasEdits = mayBeGone || entities.contains { editor(ofEntity: $0).bindings[$0].hasEdits }
        if hasEdits || plan.objectPredicate != nil {
            var result = empty
            let rows = try entityRows(plan, columns: columns)
            try links.forEach(rows, in: ContextView(context: self), budget) {
                add(&result, $0.stored, $1)
            }
            return result
        }
        var query = plan.query
        query.columns = columns
        let layout = stack.layout
        return try source.withOneState { source throws(DataSourceError) in
            var result = empty
            let rows = try source.windowedRows(query, plan.family, layout)
            try links.forEach(rows, in: SourceView(source: source, layout: layout), budget) {
                add(&result, $0.stored, $1)
            }
            return result
        }
    }
}
