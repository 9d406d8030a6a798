package import RowStore

/// Which rows a list shows, in which order and sections.
package struct ListQuery: Sendable {
    package let entity: Int
    /// The entities whose rows are shown: the entity itself unless abstract, and those below it if they count.
    package let family: [Int]
    package let predicate: RowPredicate
    /// What the rows get from others.
    package let joined: [JoinedColumn]
    /// The entities, and the layouts of links, whose rows say what the list shows.
    let watched: Set<Int>
    package let order: ListOrder
    /// The most rows that are shown; nil for all.
    package let limit: Int?
    /// Rows kept beyond the limit, so that few deletions make the store be read again.
    package let reserve: Int
    /// The row behind whose place the list begins, as it was then; nil to begin with the first.
    package var start: ListedRow?
    /// What is asked of the objects of rows that match; nil for nothing.
    let test: ListMatcher?

    package init(
        _ layout: EntityLayout, family: [Int]? = nil, predicate: RowPredicate = .constant(true),
        joined: [JoinedColumn] = [], order: ListOrder,
        limit: Int? = nil, reserve: Int? = nil, start: ListedRow? = nil, test: ListMatcher? = nil
    ) {
        entity = layout.index
        self.family = family ?? layout.concreteFamily
        self.predicate = predicate
        self.joined = joined
        var watched = Set(self.family)
        for column in joined { column.related?.collectEntities(&watched) }
        self.watched = watched
        self.order = order
        self.limit = limit
        // What is read after each save anyway needs none.
        self.reserve = test != nil || !joined.isEmpty ? 0 : reserve ?? limit.map { max(32, $0 / 4) } ?? 0
        self.start = start
        self.test = test
    }

    /// Whether all matching rows are held, though not all may be shown: a store cannot sort by a computed section.
    package var isHeldWhole: Bool { order.isComputed || limit == nil }

    /// Whether the store has to be queried after each save, because memory does not know which rows match.
    package var requeriesStore: Bool { test != nil || !joined.isEmpty && limit != nil }

    /// Whether rows that the list does not show say which it shows, so that these are read after each save.
    var followsRelatedRows: Bool { !joined.isEmpty && !requeriesStore }

    /// The most rows that are held.
    package var mostHeld: Int { isHeldWhole ? .max : (limit ?? 0) + reserve }

    /// A row as the list shows it; nil if it does not.
    func listed(
        _ entity: Int, _ stored: StoredRow, _ budget: QueryBudget
    ) throws(DataSourceError) -> ListedRow? {
        guard try predicate.evaluate(stored, order.layout, budget) else { return nil }
        let row = order.listed(entity, stored)
        if let start, !order.precedes(start, row) { return nil }
        return row
    }

    /// Whether a save has rows on which it depends what the list shows.
    func concerns(_ changes: ChangeSet) -> Bool {
        changes.entities.contains { watched.contains($0.entity) }
    }
}

/// A test that a row's object has to pass, and that may depend on more than the row.
package struct ListMatcher: Sendable {
    let accepts: @Sendable (ListedRow, QueryBudget) throws(DataSourceError) -> Bool
}
