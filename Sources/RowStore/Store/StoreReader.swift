package import Dispatch

/// Reads committed rows. It is valid only during the body of ``PersistentStore/read(_:_:)``.
///
/// A store that can only list rows uses ``RowQuery/rows(in:listing:)``:
///
/// ```swift
/// func forEachRow(
///     _ query: RowQuery, _ body: (StoredRow) -> Void
/// ) throws(DataSourceError) {
///     for row in try query.rows(in: layout, listing: listRows) { body(row) }
/// }
/// ```
///
/// **Isolation**: none. Only one thread at a time uses a reader.
public protocol StoreReader {
    /// The position of the newest save in the state that the reader sees (``StoreSharing``); 0, the default, in a store that is
    /// not shared.
    var position: Int64 { get }

    /// Passes the matching rows to the body, in the order of the query and within its limit, each as soon as it is read.
    ///
    /// ```swift
    /// var found: StoredRow?
    /// try reader.forEachRow(
    ///     RowQuery(layout, constraint: 0, values: [.text("guan-yu")])
    /// ) { found = $0 }
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - body: Called with each row.
    /// - Throws: `invalidPredicate` if a pattern needs too much work, `cancelled` if the calling task was cancelled; the error
    ///   that prevents reading the store.
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError)

    /// The number of matching rows, regardless of limit and offset. By default all matching rows are read.
    ///
    /// ```swift
    /// let isStored =
    ///     try reader.count(
    ///         RowQuery(layout, constraint: 0, values: [.text("guan-yu")])) == 1
    /// ```
    ///
    /// - Parameter query: The query.
    /// - Throws: The errors of ``forEachRow(_:_:)``.
    func count(_ query: RowQuery) throws(DataSourceError) -> Int

    /// How the store would find the rows of a query, to find out why the query is slow. By default it says that rows are read
    /// in memory.
    ///
    /// ```swift
    /// print(try reader.explain(query).statement)
    /// ```
    ///
    /// - Parameter query: The query.
    /// - Throws: The errors of ``forEachRow(_:_:)``.
    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation

    /// The row with the key, or nil. By default the entity's rows are searched.
    ///
    /// ```swift
    /// let row = try reader.row(entity: layout.index, key: 12)
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity's index in ``ModelLayout/entities``.
    ///   - key: The row's key.
    /// - Throws: The errors of ``forEachRow(_:_:)``.
    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot?

    /// The row with the values in the columns of a uniqueness constraint, or nil. A null value matches nothing, and strings are
    /// compared by their bytes. `RowQuery(_:constraint:values:)` is the same as a query.
    ///
    /// ```swift
    /// let contact = try reader.row(
    ///     entity: layout.index, constraint: 0, values: [.text("guan-yu")])
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity's index in ``ModelLayout/entities``.
    ///   - constraint: The constraint's index in ``EntityLayout/constraints``.
    ///   - values: One value for each column of the constraint.
    /// - Throws: The errors of ``forEachRow(_:_:)``.
    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow?
}

extension StoreReader {
    /// 0, for a store that is not shared.
    public var position: Int64 { 0 }

    /// Reads and counts all matching rows.
    ///
    /// ```swift
    /// let query = RowQuery(layout, constraint: 0, values: [.text("guan-yu")])
    /// let isStored = try reader.count(query) == 1
    /// ```
    ///
    /// - Throws: The errors of `forEachRow`.
    public func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        var query = query.unlimited
        (query.sort, query.isOrdered) = ([], false)
        var count = 0
        try forEachRow(query) { _ in count += 1 }
        return count
    }

    /// Reports that rows are read in memory. It never throws.
    ///
    /// ```swift
    /// print(try reader.explain(query).steps.joined(separator: "\n"))
    /// ```
    public func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        QueryExplanation(statement: "", steps: [QueryExplanation.inMemory])
    }

    /// Searches the entity's rows.
    ///
    /// ```swift
    /// let row = try reader.row(entity: layout.index, key: 12)
    /// ```
    ///
    /// - Throws: The errors of `forEachRow`.
    public func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        try rows(RowQuery(entity: entity, predicate: .compareKey(.equal, key))).first?.row
    }

    package func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(query) { rows.append($0) }
        return rows
    }
}

/// A reader that can calculate aggregates itself, so that no rows are passed on.
package protocol AggregatingReader: StoreReader {
    /// The results for all matching rows, regardless of limit and order. Nil if they must be calculated from the rows.
    ///
    /// - Throws: The errors of ``StoreReader/forEachRow(_:_:)``.
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]?
}

/// The name of a queue that reads a store. The report of a reader that blocks a checkpoint has this name.
package enum ReaderName {
    /// Set on each queue whose work reads.
    package static let key = DispatchSpecificKey<String>()

    package static var current: String? { DispatchQueue.getSpecific(key: key) }
}
