internal import QueryLanguage
internal import RowStore

/// The to-many relationship by which a query groups its objects. An object is in the group of each related object, and in no
/// group if it has no related objects.
struct GroupLinks: Sendable {
    /// The entities of the related objects.
    let destinations: [Int]
    /// The rows that store the links.
    let sources: [LinkSource]
    /// Whether the links have rows of their own. Only such links can lead to objects that a batch has deleted, because other
    /// links are deleted together with the objects.
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
    /// **Complexity**: one query for up to 1,000 rows and each entity that stores links.
    ///
    /// - Parameter mayBeGone: Whether links can lead to objects that do not exist in the view.
    func forEach(
        _ rows: [EntityRow], in view: any RowView, mayBeGone: Bool = false, _ budget: QueryBudget,
        _ body: (EntityRow, [LinkEnd]) -> Void
    ) throws(DataSourceError) {
        for start in stride(from: 0, to: rows.count, by: Self.batchSize) {
            let part = rows[start..<min(start + Self.batchSize, rows.count)]
            let ends = try ends(of: part.map(\.stored.key), in: view, mayBeGone: mayBeGone, budget)
            for row in part { if let ends = ends[owner(row.entity, row.stored.key)] { body(row, ends) } }
        }
    }

    private func ends(
        of owners: [Int64], in view: any RowView, mayBeGone: Bool, _ budget: QueryBudget
    ) throws(DataSourceError) -> [LinkEnd: [LinkEnd]] {
        var found: [(owner: LinkEnd, position: Int64, end: LinkEnd)] = []
        for source in sources {
            let links = try view.rows(
                [source.layout], .column(source.owner), in: owners, columns: source.columns, budget)
            for link in links {
                guard let end = source.end(link) else { continue }
                let position = source.position.map { link.row.isNull($0) ? Int64.min : link.row.integer($0) }
                let entity = source.ownerEntity.map { link.row.isNull($0) ? -1 : Int(link.row.integer($0)) }
                found.append((owner(entity ?? -1, link.row.integer(source.owner)), position ?? 0, end))
            }
        }
        if mayBeGone {
            let present = try present(Set(found.map(\.end)), in: view, budget)
            found.removeAll { !present.contains($0.end) }
        }
        found.sort { ($0.position, $0.end.key, $0.end.entity) < ($1.position, $1.end.key, $1.end.entity) }
        let ends = Dictionary(grouping: found, by: \.owner).mapValues { $0.map(\.end) }
        guard view.mayHaveDoubleLinks else { return ends }
        return ends.mapValues { ends in
            var seen: Set<LinkEnd> = []
            return ends.filter { seen.insert($0).inserted }
        }
    }

    /// The identity of an owner. Links contain the entity of their owner if owners can have several entities.
    private func owner(_ entity: Int, _ key: Int64) -> LinkEnd {
        LinkEnd(entity: sources.contains { $0.ownerEntity == nil } ? -1 : entity, key: key)
    }

    /// Returns the ends that exist in the view.
    private func present(
        _ ends: Set<LinkEnd>, in view: any RowView, _ budget: QueryBudget
    ) throws(DataSourceError) -> Set<LinkEnd> {
        var present: Set<LinkEnd> = []
        for entity in destinations {
            let keys = ends.lazy.filter { $0.entity == entity }.map(\.key)
            for row in try view.rows([entity], .key, in: Array(keys), columns: [], budget) {
                present.insert(LinkEnd(entity: entity, key: row.key))
            }
        }
        return present
    }
}

extension ManagedObjectContext {
    /// Adds all matching rows to a result, each with its related objects, in the order of the request and with the edits of the
    /// context. Without edits, the rows and the links are of the same moment.
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
            try links.forEach(rows, in: ContextView(context: self), mayBeGone: mayBeGone, budget) {
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
