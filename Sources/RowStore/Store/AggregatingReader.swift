/// A reader that can calculate aggregates without passing on the rows.
package protocol AggregatingReader: StoreReader {
    /// The results of all rows that match; limit and order do not count. Nil if they must be calculated from the rows.
    ///
    /// - Throws: What ``StoreReader/forEachRow(_:_:)`` throws.
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]?
}
