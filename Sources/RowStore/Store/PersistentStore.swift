/// A store of rows. The tiers above use only this protocol, so an app can write its own store and pass it to a container with
/// `StoreLocation.custom(_:open:)`.
///
/// Implement ``firstFreeKey``, ``commit(_:)``, ``read(_:_:)``, ``reset(didEmpty:)`` and ``close()``. The defaults of all other
/// members suit a store with a single container. ``InMemoryRows`` does most of the work for a store whose rows fit into memory:
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
/// **Ordering**: a read that begins after the return of a commit sees the commit. Change sets are written in the order in which
/// they are passed.
public protocol PersistentStore: Sendable {
    /// A key greater than every key that a row of this store ever had. It never decreases, whether rows are deleted, the store
    /// is reset or the store is opened again.
    var firstFreeKey: Int64 { get }

    /// The longest string or blob that the store can keep, in bytes. The container refuses longer values before a save. By
    /// default the longest value that fits into a row, somewhat less than 4 GiB.
    var longestValue: Int { get }

    /// Whether commits are refused with `storeReadOnly`. False by default.
    var isReadOnly: Bool { get }

    /// Writes the change sets in one transaction, in their order. On return, the accepted change sets are as safe as
    /// ``StoreOptions/synchronous`` says.
    ///
    /// If a change set alone cannot be written, refuse only that change set: with `uniquenessViolated` for a key or a unique
    /// value of another row, `objectGone` for an update of a row that does not exist, `valueTooLarge`, `validationFailed`,
    /// `abstractEntity`, and in a shared store with `leaseLost`. Then refuse every later change set with the same origin, with
    /// `saveRolledBack`. A refused change set changes nothing.
    ///
    /// **Isolation**: called on a queue of the container, by one caller at a time, while others read.
    ///
    /// **Complexity**: should be proportional to the number of changed rows, not to the number of stored rows.
    ///
    /// - Parameter group: The waiting saves, the oldest first; at least one. A save is passed again only if the call throws or
    ///   postpones the save.
    /// - Returns: The refused and postponed change sets, with their errors.
    /// - Throws: An error for the whole group: `storeBusy`, `diskFull`, `storeUnreadable`, `storeUnavailable`,
    ///   `permissionDenied`, `storeClosed` and so on. None of the group is written then, also not after a restart, and the
    ///   container tries again later. `outcomeUnknown` if the store cannot guarantee that nothing is written; the store then
    ///   accepts no more change sets until it is opened again.
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome

    /// Whether each read is a round trip to another machine. If so, the container reports code that makes many single look-ups.
    /// False by default.
    var isRemote: Bool { get }

    /// Whether another program can write to the store without being a member of ``sharing``. False by default.
    var canBeWrittenOutside: Bool { get }

    /// Checks whether another program has written since the last call or the last commit. If so, ``firstFreeKey`` is then
    /// greater than the highest stored key. The check does not wait: during a commit it returns false, and the commit reports
    /// the writes. False by default.
    ///
    /// ```swift
    /// func noticeOutsideWrites() -> Bool { file.modificationDate != lastCommitDate }
    /// ```
    func noticeOutsideWrites() -> Bool

    /// The object through which containers share this store; nil, the default, if only one container can have the store open.
    /// It is always the same object.
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
    /// **Isolation**: called on any thread, including the main thread, and on several at a time. It must not wait for a commit
    /// that writes to a disk or a network.
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same committed state, or each read sees the newest state; see
    ///     ``ReadIsolation``. The readers of a shared store see one state in all cases, and know its ``StoreReader/position``.
    ///   - body: Reads rows. It is called once, before this call returns, and does not keep the reader.
    /// - Throws: The errors of the body; `storeClosed`; the error that prevents reading the store.
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R

    /// Whether the store has postponed upkeep, because saves had to be written. False by default.
    var needsUpkeep: Bool { get }

    /// Does postponed upkeep while no save waits. It is never called during a commit. Does nothing by default.
    ///
    /// ```swift
    /// func upkeep() { journal.compact() }
    /// ```
    func upkeep()

    /// Replaces the store with an empty store, for the same model and keys. Reads wait meanwhile. It is never called during a
    /// commit. If it throws, every row is unchanged.
    ///
    /// ```swift
    /// func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
    ///     try removeFiles()
    ///     return StoreStartup(
    ///         reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    /// }
    /// ```
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait; not called if the reset throws.
    /// - Returns: The reason ``StoreStartup/Reason/requested``, and the number of dropped objects.
    /// - Throws: The error that prevents writing the store; `storeClosed`.
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup

    /// Sets a handler for errors of the store that no call can throw, such as upkeep that keeps failing or a value that cannot
    /// be read. By default no such error is reported.
    ///
    /// ```swift
    /// func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
    ///     errorHandler.withLock { $0 = handler }
    /// }
    /// ```
    ///
    /// - Parameter handler: It may be called on any thread. Do not hold a lock while you call it.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// Announces that the store will be closed: if the store is opened again in this process, the opening should wait for the
    /// close. Does nothing by default.
    ///
    /// ```swift
    /// func willClose() { closingFolders.withLock { _ = $0.insert(folder) } }
    /// ```
    func willClose()

    /// Closes the store if it is not in use at this moment. If it returns false, ``close()`` follows. By default it does
    /// nothing and returns false.
    ///
    /// ```swift
    /// func closeIfIdle() -> Bool {
    ///     guard readerCount.load(ordering: .acquiring) == 0 else { return false }
    ///     close()
    ///     return true
    /// }
    /// ```
    ///
    /// - Returns: Whether the store is closed now.
    func closeIfIdle() -> Bool

    /// Ends all work and releases the store's files. Later calls throw `storeClosed`. It may be called again, and on any
    /// thread, even on the thread of a reader whose container is gone. It is never called during a commit or a reset.
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
    /// The longest value that fits into a row.
    public var longestValue: Int { RowSnapshot.longestValue }
    /// False.
    public var isReadOnly: Bool { false }
    /// False.
    public var isRemote: Bool { false }
    /// False.
    public var canBeWrittenOutside: Bool { false }
    /// False. A store in a file that other programs write can compare dates:
    ///
    /// ```swift
    /// func noticeOutsideWrites() -> Bool { file.modificationDate != lastCommitDate }
    /// ```
    public func noticeOutsideWrites() -> Bool { false }
    /// Nil.
    public var sharing: (any StoreSharing)? { nil }
    /// False.
    public var needsUpkeep: Bool { false }
    /// Does nothing. A store with a journal can make it shorter:
    ///
    /// ```swift
    /// func upkeep() { journal.compact() }
    /// ```
    public func upkeep() {}
    /// Ignores the handler. A store with upkeep can keep it:
    ///
    /// ```swift
    /// func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
    ///     errorHandler.withLock { $0 = handler }
    /// }
    /// ```
    public func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {}
    /// Does nothing. A store with a lock can announce the release:
    ///
    /// ```swift
    /// func willClose() { closingFolders.withLock { _ = $0.insert(folder) } }
    /// ```
    public func willClose() {}
    /// Does nothing and returns false. A store that counts its readers can close at once:
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
    /// The errors of the refused change sets, by index in the group. All change sets that were neither refused nor postponed
    /// were written.
    public var refused: [Int: DataSourceError]
    /// The errors of the postponed change sets, by index in the group: another program has locked rows that these change sets
    /// change. The container tries them again. Later change sets with the same ``ChangeSet/origin`` are postponed, too.
    public var postponed: [Int: DataSourceError]
    /// Whether another program had written to the store since the last commit.
    public var foundOutsideWrites: Bool

    /// Makes an outcome. Without arguments, every change set of the group was written.
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

/// The state that the reads of one call of ``PersistentStore/read(_:_:)`` see.
public enum ReadIsolation: Sendable {
    /// Each read sees the commits before its own start.
    case statement
    /// All reads see the same state: the commits before the start of the first read, or an earlier state.
    case snapshot
    /// For many look-ups, one after another. A look-up sees all commits of this store before its start, but may miss commits of
    /// other programs in the last 10 milliseconds. So a store may keep one transaction open for several look-ups.
    case lookup
}

/// A change of every matching row, made by the store itself. The rows stay in the store, so the change takes the same memory
/// for any number of rows.
package struct BulkChange: Sendable {
    /// The rows to change: one query for each entity. A query has no joined columns, and its order and limit are ignored.
    package let queries: [RowQuery]
    /// The new values by column, the same for every row; nil to delete the rows.
    package let values: [Int: RowValue]?

    package init(_ queries: [RowQuery], values: [Int: RowValue]?) {
        self.queries = queries
        self.values = values
    }
}

package protocol BulkStore: PersistentStore {
    /// Makes the change in one transaction. If it throws, it changes nothing.
    ///
    /// - Returns: The number of rows whose values changed.
    func make(_ change: BulkChange) throws(DataSourceError) -> Int
}

/// The change sets of a group that a store refuses, while it writes the others.
package struct Refusals: Sendable {
    /// By index in the group.
    package private(set) var errors: [Int: DataSourceError] = [:]
    private var origins: [Int: DataSourceError] = [:]

    package init() {}

    /// Refuses a change set because of its own error.
    package mutating func refuse(_ set: ChangeSet, at index: Int, _ error: DataSourceError) {
        errors[index] = error
        if origins[set.origin] == nil { origins[set.origin] = error }
    }

    /// Refuses a change set if an earlier change set with the same origin was refused.
    ///
    /// - Returns: Whether the change set is refused.
    package mutating func refusesDependent(_ set: ChangeSet, at index: Int) -> Bool {
        guard let cause = origins[set.origin] else { return false }
        errors[index] = DataSourceError(rolledBackAfter: cause)
        return true
    }
}

extension DataSourceError {
    /// Whether the error concerns one change set, so that the other change sets can be written.
    package var isOfOneSave: Bool {
        switch code {
        case .uniquenessViolated, .valueTooLarge, .objectGone, .abstractEntity, .validationFailed, .leaseLost: true
        default: false
        }
    }

    /// The error for a save that may depend on a save that could not be written.
    package init(rolledBackAfter cause: DataSourceError) {
        self.init(
            .saveRolledBack,
            "This save was rolled back, because an earlier save that it may depend on could not be written. Save both again.",
            entityName: cause.entityName, cause: cause.description)
    }

    package init(abstractEntity name: String?) {
        self.init(.abstractEntity, "An abstract entity cannot have objects.", entityName: name)
    }

    /// The error for an update of a row that another program has deleted.
    package init(updateOfMissingRowOf entity: String?) {
        self.init(
            .objectGone,
            "An object of \(entity ?? "an entity") was changed, but is no longer in the store: another program may have "
                + "deleted the object, or a server may have lost its commit. Insert a new object.",
            entityName: entity)
    }
}

/// A store that can write new rows of a large save while the save is still being made.
///
/// The early rows are in an open transaction, so no reader sees them. The transaction ends with the commit of the save. If the
/// store has other work first, it rolls the transaction back and writes the whole save later.
package protocol EarlyWriteStore: PersistentStore {
    /// How many rows are written at a time. The lower bound makes a call worthwhile; the upper bound limits how long the save
    /// of another data source waits.
    var rowsWrittenEarly: ClosedRange<Int> { get }

    /// Writes rows of a save that is still being made.
    ///
    /// **Isolation**: called by one caller at a time for one save, while other saves may be committed.
    ///
    /// - Returns: Whether more rows may follow. If not, no rows of the save are written early, because the store may have other
    ///   work.
    func write(_ rows: NewRows, for earlyWrite: EarlyWrite) -> Bool

    /// Rolls back the early rows of a save, unless the save is in the store by now.
    func abandon(_ earlyWrite: EarlyWrite)

    /// The number of early rows of the save that is still being made.
    var earlyRows: Int { get }
}

/// When a commit counts as done.
public enum SynchronousLevel: Sendable, Hashable {
    /// When the rows are on the disk: no committed save is lost in a power cut.
    case full
    /// When the operating system has the rows: no committed save is lost if the process is killed. A power cut may lose the
    /// newest commits, each as a whole.
    case normal
}
