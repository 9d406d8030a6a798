/// Tests rows for which a store's own language is not enough, and counts them for limit and offset.
package struct RowFilter {
    let predicate: RowPredicate
    let budget: QueryBudget
    package var skip = 0
    package var take: Int?

    package init(_ predicate: RowPredicate, _ budget: QueryBudget) {
        self.predicate = predicate
        self.budget = budget
    }

    /// Whether no further row is needed.
    package var isDone: Bool { take.map { $0 <= 0 } ?? false }

    package mutating func accepts(_ stored: StoredRow, _ layout: EntityLayout) throws(DataSourceError) -> Bool {
        guard !isDone, try predicate.evaluate(stored, layout, budget) else { return false }
        if skip > 0 {
            skip -= 1
            return false
        }
        if let left = take { take = left - 1 }
        return true
    }
}
