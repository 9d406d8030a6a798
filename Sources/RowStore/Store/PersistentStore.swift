/// Where rows are kept. The tiers above use nothing else, so an app can provide a store of its own:
/// `StoreLocation.custom(_:open:)` passes it to a container.
///
/// You must implement ``firstFreeKey``, ``commit(_:)``, ``read(_:_:)``, ``reset(didEmpty:)`` and ``close()``; everything else
/// has a default that is right for a store with a single container. ``InMemoryRows`` does most of the work for a store whose
/// rows fit into memory:
///
/// ```swift
/// func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
///     try rows.commit(group) { (accepted, firstFreeKey) throws(DataSourceError) in
///         try write(accepted, firstFreeKey)
///     }
/// }
/// ```
///
/// **Isolation**: none. The container makes sure that only one caller at a time writes. Any thread may read meanwhile, so a
/// commit must not keep readers out for more than a moment.
///
/// **Ordering**: a read that begins after a commit has returned sees it. Change sets are written in the order in which they are
/// passed.
public protocol PersistentStore: Sendable {
    /// The first key that no row of this store ever had, or a greater one. It never decreases: not when rows are deleted, not
    /// by a reset, and not when the store is opened again.
    var firstFreeKey: Int64 { get }

    /// The longest string or blob that can be stored, in bytes; a longer one is refused before a save. By default the longest
    /// that fits into a row, somewhat less than 4 GiB.
    var longestValue: Int { get }

    /// Whether commits are refused with `storeReadOnly`. False by default.
    var isReadOnly: Bool { get }

    /// Writes the change sets in one transaction, in their order. When it returns, they are as safe as
    /// ``StoreOptions/synchronous`` says, except for those that it refused.
    ///
    /// A change set that cannot be written for a reason of its own is refused alone: `uniquenessViolated` for a key or a unique
    /// value that another row has, `objectGone` for an update of a row that does not exist, `valueTooLarge`,
    /// `validationFailed`, `abstractEntity`, in a shared store also `leaseLost`. Every later change set with the same origin is
    /// refused with `saveTakenBack`. A refused change set changes nothing.
    ///
    /// **Isolation**: called on a queue of the container, by one caller at a time, while others read.
    ///
    /// **Complexity**: it should be proportional to the number of changed rows, not to what is stored.
    ///
    /// - Parameter group: Saves that wait, the oldest first; at least one. After the call, they are not passed again unless it
    ///   throws or they are postponed.
    /// - Returns: Which were refused or postponed, and why.
    /// - Throws: An error for the whole group: `storeBusy`, `diskFull`, `storeUnreadable`, `storeUnavailable`,
    ///   `permissionDenied`, `storeClosed` and so on; none of it is written then, and none of it is there after a restart. The
    ///   container tries again later. `outcomeUnknown` if that cannot be guaranteed; the store then accepts no more change sets
    ///   until it is opened again.
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome

    /// Whether each read is a round trip to another machine, so that single look-ups are reported. False by default.
    var isRemote: Bool { get }

    /// Whether another program can write to the store without being a member of ``sharing``. False by default.
    var canBeWrittenOutside: Bool { get }

    /// Checks whether another program has written since the last call, or since the last commit; later keys are then above the
    /// highest stored one. It does not wait: during a commit it returns false, and the commit finds out. False by default.
    func noticeOutsideWrites() -> Bool

    /// The sharing of this store; nil, the default, if only one container can have it open. It is always the same object.
    var sharing: (any StoreSharing)? { get }

    /// Passes a reader to the body, and returns its result.
    ///
    /// **Isolation**: called on any thread, including the main thread, and by several at a time. It must not wait for a commit
    /// that writes to a disk or a network.
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same committed state, or each its own newest one; see
    ///     ``ReadIsolation``. The readers of a shared store see one state in all cases, and know its ``StoreReader/position``.
    ///   - body: It reads. It is called once, before this returns, and does not keep the reader.
    /// - Throws: What the body throws; `storeClosed`; the error that keeps the store from being read.
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R

    /// Whether there is upkeep that was postponed while there were saves to write. False by default.
    var needsUpkeep: Bool { get }

    /// Does postponed upkeep, while nothing else waits. It is never called during a commit. Does nothing by default.
    func upkeep()

    /// Replaces the store by an empty one, for the same model and keys. Reads wait meanwhile; it is never called during a
    /// commit. When it throws, every row is unchanged.
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait; not if it throws.
    /// - Returns: The reason ``StoreStartup/Reason/requested``, and how many objects were dropped.
    /// - Throws: The error that keeps the store from being written; `storeClosed`.
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup

    /// Sets a handler for errors of the store that no call can throw: upkeep that keeps failing, or a value that cannot be
    /// read. By default no such error is reported.
    ///
    /// - Parameter handler: It may be called on any thread. Never call it while a lock is held.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// The store is about to be closed: opening it again in this process should wait for that. Does nothing by default.
    func willClose()

    /// Closes the store if it is not in use at this moment. By default it returns false and does nothing; ``close()`` follows
    /// then.
    ///
    /// - Returns: Whether it is closed now.
    func closeIfIdle() -> Bool

    /// Ends all work and gives the store's files free. Later calls throw `storeClosed`. It may be called again, and on any
    /// thread: even on that of a reader whose container is gone. It is never called during a commit or a reset.
    func close()
}

extension PersistentStore {
    /// The longest that fits into a row.
    public var longestValue: Int { RowSnapshot.longestValue }
    /// False.
    public var isReadOnly: Bool { false }
    /// False.
    public var isRemote: Bool { false }
    /// False.
    public var canBeWrittenOutside: Bool { false }
    /// False.
    public func noticeOutsideWrites() -> Bool { false }
    /// Nil.
    public var sharing: (any StoreSharing)? { nil }
    /// False.
    public var needsUpkeep: Bool { false }
    /// Does nothing.
    public func upkeep() {}
    /// Forgets the handler.
    public func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {}
    /// Does nothing.
    public func willClose() {}
    /// Does nothing and returns false.
    public func closeIfIdle() -> Bool { false }
    package func reset() throws(DataSourceError) -> StoreStartup { try reset {} }
}

/// The outcome of the change sets of a group.
public struct CommitOutcome: Sendable {
    /// Why change sets were refused, by their positions in the group. All others were written, but for the postponed ones.
    public var refused: [Int: DataSourceError]
    /// Why change sets have to be tried again, by their positions in the group: another program keeps rows locked that they
    /// change. Later ones of the same ``ChangeSet/origin`` are postponed, too.
    public var postponed: [Int: DataSourceError]
    /// Whether another program had written to the store since the last commit.
    public var foundOutsideWrites: Bool

    /// Makes an outcome; without arguments, that of a group without refusals.
    public init(
        refused: [Int: DataSourceError] = [:], postponed: [Int: DataSourceError] = [:], foundOutsideWrites: Bool = false
    ) {
        self.refused = refused
        self.postponed = postponed
        self.foundOutsideWrites = foundOutsideWrites
    }
}

/// The state that the reads of one ``PersistentStore/read(_:_:)`` see.
public enum ReadIsolation: Sendable {
    /// Each read sees what was committed when it started.
    case statement
    /// All reads see what was committed when the first one started, or earlier.
    case snapshot
    /// One of many look-ups in a row. It sees what this store had committed when it started, but may miss what other programs
    /// have committed in the last 10 milliseconds, so that a store may keep a transaction open from one to the next.
    case lookup
}

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

/// The change sets of a group that a store refuses, while it writes the others.
package struct Refusals: Sendable {
    /// By the places in the group.
    package private(set) var errors: [Int: DataSourceError] = [:]
    private var origins: [Int: DataSourceError] = [:]

    package init() {}

    /// Refuses a change set because of an error of its own.
    package mutating func refuse(_ set: ChangeSet, at place: Int, _ error: DataSourceError) {
        errors[place] = error
        if origins[set.origin] == nil { origins[set.origin] = error }
    }

    /// Refuses a change set if an earlier one with the same origin was refused.
    ///
    /// - Returns: Whether it is refused.
    package mutating func refusesDependent(_ set: ChangeSet, at place: Int) -> Bool {
        guard let cause = origins[set.origin] else { return false }
        errors[place] = DataSourceError(takenBackAfter: cause)
        return true
    }
}

extension DataSourceError {
    /// Whether the error concerns one change set, so that others can be written without it.
    package var isOfOneSave: Bool {
        switch code {
        case .uniquenessViolated, .valueTooLarge, .objectGone, .abstractEntity, .validationFailed, .leaseLost: true
        default: false
        }
    }

    /// The error for a save that may depend on one that could not be written.
    package init(takenBackAfter cause: DataSourceError) {
        self.init(
            .saveTakenBack,
            "An earlier save that this one may depend on could not be written, so this one was taken back too. Save both again.",
            entityName: cause.entityName, cause: cause.description)
    }

    package init(abstractEntity name: String?) {
        self.init(.abstractEntity, "An abstract entity cannot have objects.", entityName: name)
    }

    /// The error for an update of a row that another program has deleted.
    package init(updateOfMissingRowOf entity: String?) {
        self.init(
            .objectGone,
            "An object of \(entity ?? "an entity") was changed that is no longer in the store: another program has deleted it, or a server "
                + "has lost it. Insert a new object.",
            entityName: entity)
    }
}

/// A store that can write new rows of a large save while the save is still being made.
///
/// It is an attempt that costs nobody anything: the rows are in an open transaction, which no reader sees. It ends with the commit of
/// the save, and it is rolled back as soon as the store has anything else to do; then the save is written as a whole later.
package protocol EarlyWriteStore: PersistentStore {
    /// How many rows are written at a time: at least so many that it is worth a call, and no more than the save of another data
    /// source may have to wait for.
    var rowsWrittenEarly: ClosedRange<Int> { get }

    /// Writes rows of a save that is still being made.
    ///
    /// **Isolation**: called by one caller at a time for one save, while other saves may be committed.
    ///
    /// - Returns: Whether the rest may follow. If not, nothing of the save is written early: others may have anything to write.
    func write(_ rows: NewRows, for earlyWrite: EarlyWrite) -> Bool

    /// Takes back what was written early for a save, if it is not in the store by now.
    func abandon(_ earlyWrite: EarlyWrite)

    /// How many rows are written of a save that is still being made.
    var earlyRows: Int { get }
}

/// When a commit counts as done.
public enum SynchronousLevel: Sendable, Hashable {
    /// When it is on the disk: a power cut loses nothing that was committed.
    case full
    /// When the operating system has it: a killed process loses nothing; a power cut may lose the newest commits, each as a
    /// whole.
    case normal
}
