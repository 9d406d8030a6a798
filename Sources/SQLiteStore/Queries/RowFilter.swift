internal import RowStore

/// Tests rows here that SQLite cannot test, and counts them for limit and offset.
struct RowFilter {
    let predicate: RowPredicate
    let budget: QueryBudget
    var skip = 0
    var take: Int?

    /// Whether no further row is wanted.
    var isDone: Bool { take.map { $0 <= 0 } ?? false }

    mutating func accepts(_ stored: StoredRow, _ layout: EntityLayout) throws(DataSourceError) -> Bool {
        guard !isDone, try predicate.evaluate(stored, layout, budget) else { return false }
        if skip > 0 {
            skip -= 1
            return false
        }
        if let left = take { take = left - 1 }
        return true
    }
}
