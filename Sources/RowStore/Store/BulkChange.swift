/// A change of every row that matches, made by the store itself: nobody holds the rows, so it takes the same memory for any
/// number of them.
package struct BulkChange: Sendable {
    /// Which rows: one query for each entity. It uses no joined columns, and its order and limit are ignored.
    package let queries: [RowQuery]
    /// The new values by column, the same for every row; nil to delete the rows.
    package let values: [Int: RowValue]?

    package init(_ queries: [RowQuery], values: [Int: RowValue]?) {
        self.queries = queries
        self.values = values
    }
}

/// A store that can make bulk changes.
package protocol BulkStore: PersistentStore {
    /// Makes the change in one transaction; if it throws, nothing has happened.
    ///
    /// - Returns: How many rows changed. Rows that had the values already do not count.
    func make(_ change: BulkChange) throws(DataSourceError) -> Int
}
