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

    /// Passes each row to the body, with the keys of its related objects in the order of the relationship. The rows without
    /// related objects are left out.
    ///
    /// **Complexity**: one query for up to 1,000 rows and each entity that stores links.
    ///
    /// - Parameter mayBeGone: Whether links can lead to objects that do not exist in the view.
    func forEach(
        _ rows: [StoredRow], in view: any RowView, mayBeGone: Bool = false, _ budget: QueryBudget,
        _ body: (StoredRow, [Int64]) -> Void
    ) throws(DataSourceError) {
        for start in stride(from: 0, to: rows.count, by: Self.batchSize) {
            let part = rows[start..<min(start + Self.batchSize, rows.count)]
            let ends = try ends(of: part.map(\.key), in: view, mayBeGone: mayBeGone, budget)
            for row in part { if let ends = ends[row.key] { body(row, ends) } }
        }
    }

    private func ends(
        of owners: [Int64], in view: any RowView, mayBeGone: Bool, _ budget: QueryBudget
    ) throws(DataSourceError) -> [Int64: [Int64]] {
        var found: [(owner: Int64, position: Int64, end: Int64)] = []
        for source in sources {
            let links = try view.rows(
                [source.layout], .column(source.owner), in: owners, columns: source.columns, budget)
            for link in links {
                guard let end = source.end(link) else { continue }
                let position = source.position.map { link.row.isNull($0) ? Int64.min : link.row.integer($0) }
                found.append((link.row.integer(source.owner), position ?? 0, end.key))
            }
        }
        if mayBeGone {
            let keys = Set(found.map(\.end))
            let present = Set(try view.rows(destinations, .key, in: Array(keys), columns: [], budget).map(\.key))
            found.removeAll { !present.contains($0.end) }
        }
        found.sort { ($0.position, $0.end) < ($1.position, $1.end) }
        let ends = Dictionary(grouping: found, by: \.owner).mapValues { $0.map(\.end) }
        guard view.mayHaveDoubleLinks else { return ends }
        return ends.mapValues { ends in
            var seen: Set<Int64> = []
            return ends.filter { seen.insert($0).inserted }
        }
    }
}

extension ManagedObjectContext {
    /// Adds all matching rows to a result, each with the keys of its related objects, in the order of the request and with the
    /// edits of the context. Without edits, the rows and the links are of the same moment.
    ///
    /// - Parameter columns: The columns to read; other columns may be null.
    func gather<Result>(
        _ plan: FetchPlan, columns: [Int], groupedBy links: GroupLinks, _ empty: Result,
        _ add: (inout Result, StoredRow, [Int64]) -> Void
    ) throws(DataSourceError) -> Result {
        let budget = QueryBudget(isCancellable: isCancellable)
        let mayBeGone =
            editing != .readOnly && links.usesPairs && links.destinations.contains(where: mayHaveGoneObjects)
        let entities = plan.query.entities(plan.family).union(links.layouts)
        let hasEdits = mayBeGone || entities.contains { editor(ofEntity: $0).bindings[$0].hasEdits }
        if hasEdits || plan.objectPredicate != nil {
            var result = empty
            let rows = try rows(plan, columns: columns)
            try links.forEach(rows, in: ContextView(context: self), mayBeGone: mayBeGone, budget) {
                add(&result, $0, $1)
            }
            return result
        }
        var query = plan.query
        query.columns = columns
        let layout = stack.layout
        return try source.withOneState { source throws(DataSourceError) in
            var result = empty
            let rows = try source.windowedRows(query, plan.family, layout)
            try links.forEach(rows, in: SourceView(source: source, layout: layout), budget) { add(&result, $0, $1) }
            return result
        }
    }
}
