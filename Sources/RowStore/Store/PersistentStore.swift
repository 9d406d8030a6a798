/// Where rows are kept. The tiers above know nothing more about it.
///
/// Writing is for one caller at a time: the root context sees to that. Reading may go on from any thread meanwhile.
package protocol PersistentStore: Sendable {
    /// The first key that no row of this store ever had.
    var firstFreeKey: Int64 { get }

    /// The longest text or blob that can be stored, in bytes.
    var longestValue: Int { get }

    /// Whether commits are refused with `storeReadOnly`.
    var isReadOnly: Bool { get }

    /// Writes all change sets in one transaction, in their order. When it returns they are as safe as the store's
    /// durability promises; when it throws, none of them has been written.
    func commit(_ group: [ChangeSet]) throws(DataSourceError)

    /// Gives a reader to the body.
    ///
    /// - Parameter isolation: Whether all reads of the body see the same committed state, or each its own newest one.
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R

    /// Whether there is upkeep to do that was put off while there were saves to write.
    var needsUpkeep: Bool { get }

    /// Does what was put off; only while nothing else waits. It is never called during a commit.
    func upkeep()

    /// Puts an empty store in the place of this one, for the same model. Reads wait meanwhile; it is never called during a
    /// commit. When it throws, every row is as it was.
    func reset() throws(DataSourceError) -> StoreStartup

    /// Sets who is told what goes wrong in the store where no call can throw it: a checkpoint that keeps failing, a value
    /// that cannot be read. The handler may be called on any thread, and is never called with a lock held.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// Ends all work and gives the store's files free. Later calls throw `storeClosed`.
    func close()
}

extension StoreReader {
    /// The rows that match, in order.
    package func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(query) { rows.append($0) }
        return rows
    }
}

extension PersistentStore {
    package var isReadOnly: Bool { false }
    package var needsUpkeep: Bool { false }
    package func upkeep() {}
    package func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {}
}

package enum ReadIsolation: Sendable {
    /// Each read sees what was committed when it started.
    case statement
    /// All reads see what was committed when the first one started, or earlier.
    case snapshot
}

/// Reads committed rows. It is valid during the body of ``PersistentStore/read(_:_:)`` only.
package protocol StoreReader {
    /// Hands over the rows that match, in order, each as soon as it is read.
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError)

    /// How many rows match; limit and offset do not count.
    func count(_ query: RowQuery) throws(DataSourceError) -> Int

    /// How the rows of a query would be found.
    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation

    /// The row of that key, or nil.
    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot?

    /// The row whose columns of one uniqueness constraint hold the values, or nil. A null value matches nothing.
    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow?
}
