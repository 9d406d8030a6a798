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

    /// Writes the change sets in one transaction, in their order. When it returns they are as safe as the store's durability
    /// promises, but for those that it refused.
    ///
    /// A change set that cannot be written for a reason of its own (a unique value that another program has stored, a row
    /// that it has deleted, a size) is refused alone, and with it every later one of its origin.
    ///
    /// - Throws: What holds for the whole group: `storeBusy`, `diskFull`, `storeUnreadable` and the like; then none of it has
    ///   been written, and none of it is there after a restart. `outcomeUnknown` if that cannot be made sure; the store then
    ///   takes no more change sets until it is opened again.
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome

    /// Whether each read is a round trip to another machine.
    var isRemote: Bool { get }

    /// Whether another program can write to the store.
    var canBeWrittenOutside: Bool { get }

    /// Looks whether another program has written since this was last asked, or since the last commit; keys are then given
    /// above the highest one. It does not wait: while a commit is under way the answer is no, and the commit finds out.
    func noticeOutsideWrites() -> Bool

    /// What this container and others that have the store open do for each other; nil if no other can have it open.
    var sharing: (any StoreSharing)? { get }

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
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait; not if it throws.
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup

    /// Sets who is notified of what goes wrong in the store where no call can throw it: a checkpoint that keeps failing, a value
    /// that cannot be read. The handler may be called on any thread, and is never called with a lock held.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// The store is about to be closed: opening its file in this process waits until it is.
    func willClose()

    /// Closes the store if it is not in use at this moment.
    ///
    /// - Returns: Whether it is closed now.
    func closeIfIdle() -> Bool

    /// Ends all work and gives the store's files free. Later calls throw `storeClosed`.
    func close()
}

extension StoreReader {
    package var position: Int64 { 0 }

    /// The rows that match, in order.
    package func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(query) { rows.append($0) }
        return rows
    }
}

/// The outcome of the change sets of a group.
package struct CommitOutcome: Sendable {
    /// Why change sets were refused, by their place in the group.
    package var refused: [Int: DataSourceError]
    /// Whether another program had written to the store since the last commit.
    package var foundOutsideWrites: Bool

    package init(refused: [Int: DataSourceError] = [:], foundOutsideWrites: Bool = false) {
        self.refused = refused
        self.foundOutsideWrites = foundOutsideWrites
    }
}

extension PersistentStore {
    package var canBeWrittenOutside: Bool { false }
    package func noticeOutsideWrites() -> Bool { false }
    package var sharing: (any StoreSharing)? { nil }
    package func reset() throws(DataSourceError) -> StoreStartup { try reset {} }
    package var isReadOnly: Bool { false }
    package var isRemote: Bool { false }
    package var needsUpkeep: Bool { false }
    package func upkeep() {}
    package func willClose() {}
    package func closeIfIdle() -> Bool { false }
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
    /// The position of the newest save in the state that is read; 0 in a store that is not shared.
    var position: Int64 { get }

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
