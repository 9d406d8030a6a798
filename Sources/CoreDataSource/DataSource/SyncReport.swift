/// What a sync did, or would do.
///
/// ```swift
/// let sync = try await contacts.sync(serverList)
/// print("\(sync.inserted) new, \(sync.updated) changed, \(sync.unchanged) the same, \(sync.deleted) gone")
/// ```
public struct SyncReport: Sendable, Hashable {
    /// The values in the list.
    public var read = 0
    /// Objects of the list that are new.
    public var inserted = 0
    /// Objects of the list that have at least one value that differs from before.
    public var updated = 0
    /// Objects of the list that already matched it. They are neither written nor reported to lists.
    public var unchanged = 0
    /// Objects of the scope that the list lacks.
    public var deleted = 0
    /// Objects of the scope that the list lacks and that were kept, because the sync may not delete them, or because values
    /// were ignored.
    public var kept = 0
    /// Objects of the list, and others that hooks have changed, that were neither inserted nor updated, because the sync may not
    /// do so.
    public var skipped = 0
    /// Values whose object an earlier value of the list already had; the later value wins.
    public var duplicates = 0
    /// Values for which the hook returned nil.
    public var ignored = 0
    /// Objects that hooks inserted beside those of the list.
    public var insertedChildren = 0
    /// Objects beside those of the list that hooks gave at least one value that differs from before.
    public var updatedChildren = 0
    /// Objects that a `sweep` in the hook deleted, because the list of their parent lacks them.
    public var deletedChildren = 0
    /// Objects that the list of their parent lacks and that were kept, because the sync or the sweep may not delete them, or
    /// because values were ignored.
    public var keptChildren = 0
    /// The objects that were inserted, updated and deleted; nil unless ``SyncOptions/reportsIDs`` was given.
    public var ids: IDs?

    /// The objects that a sync changed, in the order of the list; deleted ones in no order.
    public struct IDs: Sendable, Hashable {
        /// Objects that are new.
        public var inserted: [ManagedObjectID] = []
        /// Objects that have at least one changed value.
        public var updated: [ManagedObjectID] = []
        /// Objects that are gone.
        public var deleted: [ManagedObjectID] = []
        /// New objects beside those of the list.
        public var insertedChildren: [ManagedObjectID] = []
        /// Objects beside those of the list that have at least one changed value.
        public var updatedChildren: [ManagedObjectID] = []
        /// Swept objects that are gone.
        public var deletedChildren: [ManagedObjectID] = []

        /// No objects.
        public init() {}
    }

    /// A report with all counts zero.
    public init() {}
}
