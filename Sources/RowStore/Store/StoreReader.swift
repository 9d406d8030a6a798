package import Dispatch

/// Reads committed rows. A reader is valid only during the body of ``PersistentStore/read(_:_:)``.
///
/// If a store cannot answer queries, and can only list all rows of an entity, its reader can use
/// ``RowQuery/rows(in:listing:)``:
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
    /// The position of the newest save in the state that the reader sees; see ``StoreSharing``. Must be 0 in a store that is
    /// not shared, and is 0 by default.
    var position: Int64 { get }

    /// Passes each matching row to the body as soon as the row is read. Applies the order, limit and offset of the query.
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
    /// - Throws: `invalidPredicate` if a pattern needs too much work; `cancelled` if the calling task was canceled; an error
    ///   if the store cannot be read.
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError)

    /// Returns the number of matching rows. Ignores limit and offset. By default, all matching rows are read.
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

    /// Explains how the store would find the rows of a query, for example to find out why the query is slow. By default, the
    /// explanation says that rows are read in memory.
    ///
    /// ```swift
    /// print(try reader.explain(query).statement)
    /// ```
    ///
    /// - Parameter query: The query.
    /// - Throws: The errors of ``forEachRow(_:_:)``.
    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation

    /// Returns the row with the key; nil if there is none. By default, the rows of the entity are searched.
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

    /// Returns the row with the given values in the columns of a uniqueness constraint; nil if there is none. A null value
    /// matches nothing. Strings are compared by their bytes. `RowQuery(_:constraint:values:)` makes an equivalent query.
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
    /// Returns 0, for a store that is not shared.
    public var position: Int64 { 0 }

    /// Reads all matching rows, and returns their number.
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

    /// Returns an explanation that rows are read in memory. Never throws.
    ///
    /// ```swift
    /// print(try reader.explain(query).steps.joined(separator: "\n"))
    /// ```
    public func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        QueryExplanation(statement: "", steps: [QueryExplanation.inMemory])
    }

    /// Searches the rows of the entity.
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

/// A reader that can calculate aggregates itself, without passing the rows to the caller.
package protocol AggregatingReader: StoreReader {
    /// Returns the results for all matching rows. Ignores limit and order. Returns nil if the caller must calculate the results
    /// from the rows.
    ///
    /// - Throws: The errors of ``StoreReader/forEachRow(_:_:)``.
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]?
}

/// A store that can keep a snapshot of its rows open.
package protocol SnapshotStore: PersistentStore {
    /// Opens a snapshot. The snapshot sees the state at its first read, or an earlier state. It is open until it is released,
    /// or until the store is reset or closed.
    ///
    /// - Parameter name: The name of the snapshot. If the snapshot prevents the log from being emptied, the reported error
    ///   contains this name.
    /// - Throws: `storeClosed`; an error if the store cannot be read.
    func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot

    /// The size of the log, in bytes. While a snapshot needs a part of the log, the log cannot be emptied. Nil for a store
    /// without such a log.
    var logByteCount: Int? { get }

    /// Like ``PersistentStore/noticeOutsideWrites()``. Nil if the store cannot be checked now, or if the store does not know
    /// yet whether one of its own writes was made.
    func checkForOutsideWrites() -> Bool?

    /// Watches the store for writes of other programs. While the watch is on, the store need not be checked: checks have
    /// reported all earlier writes, and the handler is called at each later write.
    ///
    /// - Parameter handler: Called on any thread when this store or another program may have written. Can already be called
    ///   during this call.
    /// - Returns: Nil if the store must still be checked. Possible reasons are that the store cannot be watched, that another
    ///   program is writing now, or that a write of another program was not reported yet. Nil by default.
    func watchForOutsideWrites(_ handler: @escaping @Sendable () -> Void) -> StoreWatch?

    /// Whether the store has found a write of another program, but has not reported the write yet. Nil if another thread may
    /// be finding such a write now.
    var hasUnreportedOutsideWrite: Bool? { get }

    /// Copies the log into the database, as far as open snapshots allow. If all open snapshots see the newest state, the next
    /// commit then writes at the beginning of the log, although the snapshots stay open.
    func emptyLogBesideSnapshots()
}

extension SnapshotStore {
    package func checkForOutsideWrites() -> Bool? { noticeOutsideWrites() }
    package func watchForOutsideWrites(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? { nil }
    package var hasUnreportedOutsideWrite: Bool? { false }
    package func emptyLogBesideSnapshots() {}
}

/// An open snapshot of a store. Several threads may use the snapshot. In some stores, the threads wait for each other.
package protocol StoreSnapshot: AnyObject, Sendable {
    /// Whether the store has closed the snapshot, or has lost it after an error.
    var hasEnded: Bool { get }

    /// Calls the body with a reader, and returns the body's result. All calls see the same state.
    ///
    /// - Returns: Nil if the snapshot has ended, before the body or during the body.
    /// - Throws: The errors of the body; `storeMoved`.
    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R?
}

/// The name of a queue that reads a store. If a read blocks a checkpoint, the reported error contains this name.
package enum ReaderName {
    /// The key of the name, which is set on each queue that reads.
    package static let key = DispatchSpecificKey<String>()

    package static var current: String? { DispatchQueue.getSpecific(key: key) }
}
