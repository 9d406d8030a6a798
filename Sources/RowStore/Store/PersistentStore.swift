/// A store of rows. A container uses a store only through this protocol. An app can write its own store, and pass it to a
/// container with `StoreLocation.custom(_:open:)`.
///
/// Implement ``firstFreeKey``, ``commit(_:)``, ``read(_:_:)``, ``reset(didEmpty:)`` and ``close()``. All other members have
/// defaults for a store with a single container. ``InMemoryRows`` does most of the work for a store whose rows fit into memory:
///
/// ```swift
/// func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
///     try rows.commit(group) { (accepted, firstFreeKey) throws(DataSourceError) in
///         try write(accepted, firstFreeKey)
///     }
/// }
/// ```
///
/// **Isolation**: none. The container lets only one caller at a time write. Any thread may read during a commit, so a commit
/// must not block readers for more than a moment.
///
/// **Ordering**: a read that begins after a commit has returned sees the commit. Change sets are written in the order in which
/// they are passed.
public protocol PersistentStore: Sendable {
    /// A key greater than every key that a row of this store has ever had. The value never decreases, even if rows are deleted,
    /// the store is reset, or the store is opened again.
    var firstFreeKey: Int64 { get }

    /// The length of the longest string or blob that the store can keep, in bytes. The container refuses longer values before a
    /// save. By default the longest value that fits into a row, somewhat less than 4 GiB.
    var longestValue: Int { get }

    /// Whether the store refuses commits with `storeReadOnly`. False by default.
    var isReadOnly: Bool { get }

    /// Writes the change sets in one transaction, in their order. When the call returns, the accepted change sets are as safe
    /// as ``StoreOptions/synchronous`` requires.
    ///
    /// If a single change set cannot be written, refuse only that change set, with one of these errors: `uniquenessViolated` if
    /// another row already has the key or a unique value of a row; `objectGone` for an update of a row that does not exist;
    /// `valueTooLarge`; `validationFailed`; `abstractEntity`; and in a shared store, `leaseLost`. Also refuse every later
    /// change set with the same origin, with `saveRolledBack`. A refused change set must change nothing.
    ///
    /// **Isolation**: called on a queue of the container, by one caller at a time. Other callers may read during the call.
    ///
    /// **Complexity**: should be proportional to the number of changed rows, not to the number of stored rows.
    ///
    /// - Parameter group: The change sets of the oldest waiting saves, oldest first; at least one. Several change sets together
    ///   have at most about 1 MB. A change set is passed again only if the call throws or postpones the change set.
    /// - Returns: The refused and postponed change sets, with their errors.
    /// - Throws: An error that concerns the whole group: `storeBusy`, `diskFull`, `storeUnreadable`, `storeUnavailable`,
    ///   `permissionDenied`, `storeClosed` and so on. In this case no change of the group is in the store, even after a
    ///   restart, and the container tries again later. Throw `outcomeUnknown` if the store might contain a change of the
    ///   group. After `outcomeUnknown`, the container passes the change sets again only to a shared store, which must
    ///   determine their outcome. Any other store must be opened again.
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome

    /// Whether each read is a round trip to another machine. If true, the container reports code that makes many single
    /// look-ups. False by default.
    var isRemote: Bool { get }

    /// Whether a program that is not a member of ``sharing`` can write to the store. False by default.
    var canBeWrittenOutside: Bool { get }

    /// Checks whether another program has written since the last call or the last commit. If so, raise ``firstFreeKey`` above
    /// the highest stored key before the call returns. The check must not wait. During a commit, return false: the commit
    /// reports the writes. False by default.
    ///
    /// ```swift
    /// func noticeOutsideWrites() -> Bool { file.modificationDate != lastCommitDate }
    /// ```
    func noticeOutsideWrites() -> Bool

    /// The object through which containers share this store. It must always be the same object. Nil if only one container can
    /// have the store open; nil by default.
    var sharing: (any StoreSharing)? { get }

    /// Calls the body with a reader, and returns the body's result.
    ///
    /// ```swift
    /// func read<R>(
    ///     _ isolation: ReadIsolation,
    ///     _ body: (any StoreReader) throws(DataSourceError) -> R
    /// )
    ///     throws(DataSourceError) -> R
    /// {
    ///     try rows.read(isolation, body)
    /// }
    /// ```
    ///
    /// **Isolation**: called on any thread, including the main thread, and on several threads at the same time. The call must
    /// not wait for a commit that writes to a disk or a network.
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same committed state, or each read sees the newest state. The
    ///     readers of a shared store always see a single state, and know its ``StoreReader/position``.
    ///   - body: Reads rows. Call the body once, before this method returns. The body does not keep the reader.
    /// - Throws: The errors of the body; `storeClosed`; an error if the store cannot be read.
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R

    /// Whether the store has postponed upkeep because saves had to be written. False by default.
    var needsUpkeep: Bool { get }

    /// Does postponed upkeep while no save waits. Never called during a commit. Does nothing by default.
    ///
    /// ```swift
    /// func upkeep() { journal.compact() }
    /// ```
    func upkeep()

    /// Replaces the store with an empty store for the same model and keys. Reads wait until the reset is done. Never called
    /// during a commit. If the call throws, every row is unchanged.
    ///
    /// ```swift
    /// func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
    ///     try removeFiles()
    ///     return StoreStartup(
    ///         reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    /// }
    /// ```
    ///
    /// - Parameter didEmpty: Call this closure after the rows are removed, while reads still wait. Do not call it if the reset
    ///   throws.
    /// - Returns: The reason ``StoreStartup/Reason/requested``, and the number of dropped objects.
    /// - Throws: `storeClosed`; an error if the store cannot be written.
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup

    /// Sets a handler for errors that no call can throw. Examples are upkeep that keeps failing, and a value that cannot be
    /// read. By default, the handler is ignored.
    ///
    /// ```swift
    /// func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
    ///     errorHandler.withLock { $0 = handler }
    /// }
    /// ```
    ///
    /// - Parameter handler: The handler. It may be called on any thread. Do not keep a lock while you call the handler.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// Announces that the store will be closed. If the store is opened again in this process, the opening should wait until the
    /// store is closed. Does nothing by default.
    ///
    /// ```swift
    /// func willClose() { closingFolders.withLock { _ = $0.insert(folder) } }
    /// ```
    func willClose()

    /// Closes the store if it is not in use now. If the method returns false, the container calls ``close()``. By default, the
    /// method does nothing and returns false.
    ///
    /// ```swift
    /// func closeIfIdle() -> Bool {
    ///     guard readerCount.load(ordering: .acquiring) == 0 else { return false }
    ///     close()
    ///     return true
    /// }
    /// ```
    ///
    /// - Returns: Whether the store is closed.
    func closeIfIdle() -> Bool

    /// Ends all work and releases the store's files. Later calls throw `storeClosed`. The method may be called several times,
    /// on any thread, even on the thread of a reader whose container no longer exists. Never called during a commit or a reset.
    ///
    /// ```swift
    /// func close() {
    ///     rows.close()
    ///     folder.unlock()
    /// }
    /// ```
    func close()
}

extension PersistentStore {
    /// The length of the longest value that fits into a row, in bytes.
    public var longestValue: Int { RowSnapshot.longestValue }
    /// Returns false.
    public var isReadOnly: Bool { false }
    /// Returns false.
    public var isRemote: Bool { false }
    /// Returns false.
    public var canBeWrittenOutside: Bool { false }
    /// Returns false. A store in a file that other programs write can compare dates:
    ///
    /// ```swift
    /// func noticeOutsideWrites() -> Bool { file.modificationDate != lastCommitDate }
    /// ```
    public func noticeOutsideWrites() -> Bool { false }
    /// Returns nil.
    public var sharing: (any StoreSharing)? { nil }
    /// Returns false.
    public var needsUpkeep: Bool { false }
    /// Does nothing. A store with a journal can compact the journal:
    ///
    /// ```swift
    /// func upkeep() { journal.compact() }
    /// ```
    public func upkeep() {}
    /// Ignores the handler. A store that has errors to report can keep the handler:
    ///
    /// ```swift
    /// func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
    ///     errorHandler.withLock { $0 = handler }
    /// }
    /// ```
    public func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {}
    /// Does nothing. A store with a lock can announce that it will release the lock:
    ///
    /// ```swift
    /// func willClose() { closingFolders.withLock { _ = $0.insert(folder) } }
    /// ```
    public func willClose() {}
    /// Does nothing and returns false. A store that counts its readers can close immediately if there are none:
    ///
    /// ```swift
    /// func closeIfIdle() -> Bool {
    ///     guard readerCount.load(ordering: .acquiring) == 0 else { return false }
    ///     close()
    ///     return true
    /// }
    /// ```
    public func closeIfIdle() -> Bool { false }
    package func reset() throws(DataSourceError) -> StoreStartup { try reset {} }
}

/// The result of a commit: the refused and the postponed change sets of the group.
public struct CommitOutcome: Sendable {
    /// The errors of the refused change sets, by their index in the group. All change sets that are neither refused nor
    /// postponed were written.
    public var refused: [Int: DataSourceError]
    /// The errors of the postponed change sets, by their index in the group. A change set is postponed if another program has
    /// locked rows that the change set changes. Later change sets with the same ``ChangeSet/origin`` are postponed, too. The
    /// container tries postponed change sets again.
    public var postponed: [Int: DataSourceError]
    /// Whether another program has written to the store since the previous commit.
    public var foundOutsideWrites: Bool
    /// In a shared store, the position of the newest save; nil, the default, if the store does not know it.
    public var position: Int64?

    /// Makes an outcome. Without arguments, the outcome says that every change set of the group was written.
    ///
    /// ```swift
    /// return CommitOutcome(refused: [
    ///     0: DataSourceError(.valueTooLarge, "The photo is too large.")
    /// ])
    /// ```
    public init(
        refused: [Int: DataSourceError] = [:], postponed: [Int: DataSourceError] = [:], foundOutsideWrites: Bool = false
    ) {
        self.refused = refused
        self.postponed = postponed
        self.foundOutsideWrites = foundOutsideWrites
    }
}

/// Says which state of the store is visible to the reads in one call of ``PersistentStore/read(_:_:)``.
public enum ReadIsolation: Sendable {
    /// Each read sees all commits that ended before the read began.
    case statement
    /// All reads see the same state of the store: the state after the last commit before the first read, or an earlier state.
    case snapshot
    /// For many successive look-ups. A look-up sees all commits of this store that ended before the look-up began, but may miss
    /// commits that other programs made in the last 10 milliseconds. The store may therefore use one transaction for several
    /// look-ups.
    case lookup
}

/// A change that the store itself makes to all matching rows. The rows are not read into memory, so the memory that the
/// change needs does not depend on the number of rows.
package struct BulkChange: Sendable {
    /// The rows to change, as one query for each entity. The queries have no joined columns. Their order and limit are ignored.
    package let queries: [RowQuery]
    /// The new values by column, which are the same for every row; nil to delete the rows.
    package let values: [Int: RowValue]?

    package init(_ queries: [RowQuery], values: [Int: RowValue]?) {
        self.queries = queries
        self.values = values
    }
}

package protocol BulkStore: PersistentStore {
    /// Makes the change in one transaction. If the call throws, no row is changed.
    ///
    /// - Returns: The number of rows whose values changed.
    func make(_ change: BulkChange) throws(DataSourceError) -> Int
}

/// The refused change sets of a group. The store writes the other change sets.
package struct Refusals: Sendable {
    /// The errors of the refused change sets, by their index in the group.
    package private(set) var errors: [Int: DataSourceError] = [:]
    private var origins: [Int: DataSourceError] = [:]

    package init() {}

    /// Refuses a change set that has caused an error.
    package mutating func refuse(_ set: ChangeSet, at index: Int, _ error: DataSourceError) {
        errors[index] = error
        if origins[set.origin] == nil { origins[set.origin] = error }
    }

    /// Refuses a change set if an earlier change set with the same origin was refused.
    ///
    /// - Returns: Whether the change set is refused.
    package mutating func refuseIfDependent(_ set: ChangeSet, at index: Int) -> Bool {
        guard let cause = origins[set.origin] else { return false }
        errors[index] = DataSourceError(rolledBackAfter: cause)
        return true
    }
}

extension DataSourceError {
    /// Whether the error concerns only one change set, so that the store can write the other change sets.
    package var concernsOneSave: Bool {
        switch code {
        case .uniquenessViolated, .valueTooLarge, .objectGone, .abstractEntity, .validationFailed, .leaseLost: true
        default: false
        }
    }

    /// Makes the error for a save that may depend on an earlier save that could not be written.
    package init(rolledBackAfter cause: DataSourceError) {
        self.init(
            .saveRolledBack,
            "This save was rolled back, because an earlier save that it may depend on could not be written. Save both again.",
            entityName: cause.entityName, cause: cause.description)
    }

    package init(abstractEntity name: String?) {
        self.init(.abstractEntity, "An abstract entity cannot have objects.", entityName: name)
    }

    /// Makes the error for an update of a row that another program has deleted.
    package init(updateOfMissingRowOf entity: String?) {
        self.init(
            .objectGone,
            "An object of \(entity ?? "an entity") was changed, but is no longer in the store: another program may have "
                + "deleted the object, or the server may have lost the save that inserted the object. "
                + "Insert a new object.",
            entityName: entity)
    }
}

/// A store that can write new rows of a large save early, before the save is complete.
///
/// The early rows are in an open transaction, so no reader sees them. The transaction ends with the commit of the save. If the
/// store must do other work first, it rolls back the transaction, and writes the whole save later.
package protocol EarlyWriteStore: PersistentStore {
    /// The number of rows to write in one call. Fewer rows would not be worth a call. More rows would delay the save of another
    /// data source for too long.
    var rowsWrittenEarly: ClosedRange<Int> { get }

    /// Writes rows of a save that is not complete yet.
    ///
    /// **Isolation**: called by one caller at a time, for one save at a time. Other saves may be committed during the call.
    ///
    /// - Returns: Whether the store accepts more early rows of this save. False, for example, if the store has other
    ///   work.
    func write(_ rows: NewRows, for earlyWrite: EarlyWrite) -> Bool

    /// Rolls back the early rows of a save. Does nothing if the save is already in the store.
    func abandon(_ earlyWrite: EarlyWrite)

    /// The number of rows that were written early, for the save that is not complete yet.
    var earlyRows: Int { get }
}

/// When a commit counts as done.
public enum SynchronousLevel: Sendable, Hashable {
    /// When the rows are on the disk. A power cut then loses no committed save.
    case full
    /// When the operating system has the rows. No committed save is lost if the process is killed. A power cut may lose the
    /// newest commits, each as a whole.
    case normal
}
