/// Where rows are kept. The tiers above know nothing more about it, so an app can bring a store of its own:
/// `StoreLocation.custom(_:open:)` hands it to a container.
///
/// ``firstFreeKey``, ``commit(_:)``, ``read(_:_:)``, ``reset(didEmpty:)`` and ``close()`` have to be written; everything else has
/// a default that is right for a store which one container has alone. ``InMemoryRows`` does most of the work for a store whose
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
/// **Isolation**: none. Writing is for one caller at a time: the container sees to that. Reading goes on from any thread
/// meanwhile, so a commit must not keep readers out for longer than a moment.
///
/// **Ordering**: a read that begins after a commit has returned sees it. Change sets are written in the order in which they
/// are handed over.
public protocol PersistentStore: Sendable {
    /// The first key that no row of this store ever had, or one above it. It never goes down: not when rows are deleted, not
    /// by a reset, and not when the store is opened again.
    var firstFreeKey: Int64 { get }

    /// The longest text or blob that can be stored, in bytes; a longer one is refused before a save. By default as long as a
    /// row can hold, which is somewhat less than 4 GiB.
    var longestValue: Int { get }

    /// Whether commits are refused with `storeReadOnly`. False by default.
    var isReadOnly: Bool { get }

    /// Writes the change sets in one transaction, in their order. When it returns they are as safe as the store's durability
    /// promises (``StoreOptions/synchronous``), but for those that it refused.
    ///
    /// A change set that cannot be written for a reason of its own is refused alone: `uniquenessViolated` for a key or a unique
    /// value that another row has, `objectGone` for the update of a row that is not there, `valueTooLarge`, `validationFailed`,
    /// `abstractEntity`, in a shared store also `leaseLost`. Every later change set of its origin is refused with
    /// `saveTakenBack`. Nothing of a refused one is left.
    ///
    /// **Isolation**: called on a queue of the container, by one caller at a time, while others read.
    ///
    /// **Complexity**: it should follow the number of changed rows, and not what is stored.
    ///
    /// - Parameter group: Saves that wait, the oldest first; at least one. All that was refused or written is forgotten.
    /// - Returns: What was refused, and why.
    /// - Throws: What holds for the whole group: `storeBusy`, `diskFull`, `storeUnreadable`, `storeUnavailable`,
    ///   `permissionDenied`, `storeClosed` and the like; then none of it has been written, and none of it is there after a
    ///   restart. The container tries again later. `outcomeUnknown` if that cannot be made sure; the store then takes no more
    ///   change sets until it is opened again.
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome

    /// Whether each read is a round trip to another machine: then look-ups one by one are reported. False by default.
    var isRemote: Bool { get }

    /// Whether another program can write to the store without being a member of ``sharing``. False by default.
    var canBeWrittenOutside: Bool { get }

    /// Looks whether another program has written since this was last asked, or since the last commit; keys are then given
    /// above the highest one. It does not wait: while a commit is under way the answer is no, and the commit finds out. False
    /// by default.
    func noticeOutsideWrites() -> Bool

    /// What this container and others that have the store open do for each other; nil, the default, if no other can have it
    /// open. It is the same object each time.
    var sharing: (any StoreSharing)? { get }

    /// Gives a reader to the body, and returns what it returns.
    ///
    /// **Isolation**: called on any thread, the main thread among them, and by several at a time. It must not wait for a
    /// commit that writes to a disk or a network.
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same committed state, or each its own newest one. The readers of a
    ///     shared store see one state with either, and say of which ``StoreReader/position`` it is.
    ///   - body: What reads. It is called once, before this returns, and does not keep the reader.
    /// - Throws: What the body throws; `storeClosed`; what keeps the store from being read.
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R

    /// Whether there is upkeep to do that was put off while there were saves to write. False by default.
    var needsUpkeep: Bool { get }

    /// Does what was put off; only while nothing else waits. It is never called during a commit. Nothing by default.
    func upkeep()

    /// Puts an empty store in the place of this one, for the same model and keys. Reads wait meanwhile; it is never called
    /// during a commit. When it throws, every row is as it was.
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait; not if it throws.
    /// - Returns: The reason ``StoreStartup/Reason/requested``, and how many objects were dropped.
    /// - Throws: What keeps the store from being written; `storeClosed`.
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup

    /// Sets who is notified of what goes wrong in the store where no call can throw it: upkeep that keeps failing, a value
    /// that cannot be read. By default there is nothing to tell.
    ///
    /// - Parameter handler: It may be called on any thread. Never call it with a lock held.
    func report(to handler: @escaping @Sendable (DataSourceError) -> Void)

    /// The store is about to be closed: opening it again in this process should wait until it is. Nothing by default.
    func willClose()

    /// Closes the store if it is not in use at this moment. False, and nothing done, by default; ``close()`` follows then.
    ///
    /// - Returns: Whether it is closed now.
    func closeIfIdle() -> Bool

    /// Ends all work and gives the store's files free. Later calls throw `storeClosed`. It may be called again, and on any
    /// thread: even on that of a reader whose container is gone. It is never called during a commit or a reset.
    func close()
}

extension PersistentStore {
    /// As long as a row can hold.
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
    /// Why change sets were refused, by their place in the group. All others are written.
    public var refused: [Int: DataSourceError]
    /// Whether another program had written to the store since the last commit.
    public var foundOutsideWrites: Bool

    /// Makes an outcome; without arguments that of a group that was written as a whole.
    public init(refused: [Int: DataSourceError] = [:], foundOutsideWrites: Bool = false) {
        self.refused = refused
        self.foundOutsideWrites = foundOutsideWrites
    }
}

/// Which state the reads of one ``PersistentStore/read(_:_:)`` see.
public enum ReadIsolation: Sendable {
    /// Each read sees what was committed when it started.
    case statement
    /// All reads see what was committed when the first one started, or earlier.
    case snapshot
}
