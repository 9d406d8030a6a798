package import RowStore

/// Which rows a list shows, in which order and sections.
package struct ListQuery: Sendable {
    package let entity: Int
    /// The entities whose rows are shown: the entity itself unless abstract, and all below it.
    package let family: [Int]
    package let predicate: RowPredicate
    package let order: ListOrder
    /// The most rows that are shown; nil for all.
    package let limit: Int?
    /// Rows kept beyond the limit, so that few deletions make the store be read again.
    package let reserve: Int
    /// Whether the store has to be asked after each save, because memory cannot tell which rows match.
    package let asksStore: Bool

    package init(
        _ layout: EntityLayout, predicate: RowPredicate = .constant(true), order: ListOrder, limit: Int? = nil,
        reserve: Int? = nil, asksStore: Bool = false
    ) {
        entity = layout.index
        family = layout.concreteFamily
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.reserve = reserve ?? limit.map { max(32, $0 / 4) } ?? 0
        self.asksStore = asksStore
    }

    /// Whether all matching rows are held, though not all may be shown: a store cannot sort by a computed section.
    package var isHeldWhole: Bool {
        if case .computed = order.section { return true }
        return limit == nil
    }

    package func matches(_ row: RowSnapshot, key: Int64) -> Bool {
        predicate.evaluate(row, key: key, order.layout)
    }

    /// Whether a save has rows of an entity that the list shows.
    func concerns(_ changes: ChangeSet) -> Bool {
        changes.entities.contains { family.contains($0.entity) }
    }
}
