package import Dispatch

/// Reads committed rows. It is valid only during the body of ``PersistentStore/read(_:_:)``.
///
/// A store that can only list rows uses ``RowQuery/rows(in:listing:)``:
///
/// ```swift
/// func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
///     for row in try query.rows(in: layout, listing: listRows) { body(row) }
/// }
/// ```
///
/// **Isolation**: none. Only one thread at a time uses a reader.
public protocol StoreReader {
    /// The position of the newest save in the state that is read (``StoreSharing``); 0, the default, in a store that is not
    /// shared.
    var position: Int64 { get }

    /// Passes on the rows that match, in the order of the query and within its limit, each as soon as it is read.
    ///
    /// - Parameters:
    ///   - query: Which rows.
    ///   - body: Called with each of them.
    /// - Throws: `invalidPredicate` if a pattern needs too much work, `cancelled` if the calling task was cancelled; the error
    ///   that keeps the store from being read.
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError)

    /// How many rows match; limit and offset are ignored. By default all of them are read.
    ///
    /// - Parameter query: Which rows.
    /// - Throws: What ``forEachRow(_:_:)`` throws.
    func count(_ query: RowQuery) throws(DataSourceError) -> Int

    /// How the rows of a query would be found, to find out why it is slow. By default it says that rows are read in memory.
    ///
    /// - Parameter query: Which rows.
    /// - Throws: What ``forEachRow(_:_:)`` throws.
    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation

    /// The row with that key, or nil. By default the entity's rows are searched.
    ///
    /// - Parameters:
    ///   - entity: The entity's place in ``ModelLayout/entities``.
    ///   - key: The row's key.
    /// - Throws: What ``forEachRow(_:_:)`` throws.
    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot?

    /// The row whose columns of one uniqueness constraint have the values, or nil. A null value matches nothing, and strings
    /// are compared by their bytes. `RowQuery(_:constraint:values:)` means the same.
    ///
    /// - Parameters:
    ///   - entity: The entity's place in ``ModelLayout/entities``.
    ///   - constraint: The constraint's place in ``EntityLayout/constraints``.
    ///   - values: One for each of its columns.
    /// - Throws: What ``forEachRow(_:_:)`` throws.
    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow?
}

extension StoreReader {
    /// 0.
    public var position: Int64 { 0 }

    /// Reads all rows that match.
    ///
    /// - Throws: What `forEachRow` throws.
    public func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        var query = query.unlimited
        (query.sort, query.isOrdered) = ([], false)
        var count = 0
        try forEachRow(query) { _ in count += 1 }
        return count
    }

    /// Reports that rows are read in memory. It never throws.
    public func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        QueryExplanation(statement: "", steps: [QueryExplanation.inMemory])
    }

    /// Searches the entity's rows.
    ///
    /// - Throws: What `forEachRow` throws.
    public func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        try rows(RowQuery(entity: entity, predicate: .compareKey(.equal, key))).first?.row
    }

    /// The rows that match, in order.
    package func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(query) { rows.append($0) }
        return rows
    }
}

/// A reader that can calculate aggregates without passing on the rows.
package protocol AggregatingReader: StoreReader {
    /// The results of all rows that match; limit and order do not count. Nil if they must be calculated from the rows.
    ///
    /// - Throws: What ``StoreReader/forEachRow(_:_:)`` throws.
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]?
}

/// The name under which a queue reads a store. A reader that holds up the write-ahead log is reported by this name.
package enum ReaderName {
    /// Set it on a queue whose work reads.
    package static let key = DispatchSpecificKey<String>()

    /// The name that the current queue has, if any.
    package static var current: String? { DispatchQueue.getSpecific(key: key) }
}
