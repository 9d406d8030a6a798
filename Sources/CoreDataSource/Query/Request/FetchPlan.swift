internal import QueryLanguage
internal import RowStore

/// A request over the columns of a model: checked, and ready to run.
struct FetchPlan {
    var query: RowQuery
    /// The entities whose objects are included.
    var family: [Int]
    /// The test of the objects after the rows were found; limit and offset are applied after it.
    var tests: ObjectPredicate?
    /// The columns whose keys are collected while the rows are read, because the objects that they lead to are read next.
    var linkColumns: [Int] = []

    /// The largest limit and offset that are used: more than any store has, and small enough that a few of them can be added.
    private static let mostRows = 1 << 48

    /// A query of one entity that can have rows.
    init(_ query: RowQuery) {
        self.query = query
        family = [query.entity]
    }

    init<Object: ManagedObject>(
        _ request: FetchRequest<Object>, entity: EntityLayout, in model: ModelLayout, withGoneObjects: Set<Int> = []
    ) throws(DataSourceError) {
        try request.checkWindow()
        let resolver = PredicateResolver(entity, in: model, withGoneObjects: withGoneObjects)
        let predicate = try request.predicate?.tree.split(resolver) ?? ResolvedPredicate(rows: .constant(true))
        query = RowQuery(entity: entity.index, predicate: predicate.rows)
        tests = predicate.objects
        for order in request.order { query.sort.append(try order.resolved(resolver)) }
        query.joined = resolver.joins.columns
        query.limit = request.limit.map { min($0, FetchPlan.mostRows) }
        query.offset = min(request.offset, FetchPlan.mostRows)
        family = entity.concreteFamily
        if !request.includesSubentities { family = family.filter { $0 == entity.index } }
        try request.after?.check(entity, in: model)
    }
}

extension FetchCursor {
    /// - Throws: `invalidPredicate` if the cursor belongs to an object of another entity or of another container.
    func check(_ entity: EntityLayout, in model: ModelLayout) throws(DataSourceError) {
        if entity.concreteFamily.contains(where: { model.entities[$0] === layout }) { return }
        throw DataSourceError(
            .invalidPredicate,
            "The cursor belongs to \(layout.name), but this request fetches \(entity.name). Make the cursor from the last object of the previous page.",
            entityName: entity.name)
    }
}
