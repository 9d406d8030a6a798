/// The counts of a sync or of a planned sync.
///
/// ```swift
/// let sync = try await contacts.sync(serverList)
/// print("\(sync.inserted) new, \(sync.updated) changed, \(sync.deleted) gone")
/// ```
public struct SyncReport: Sendable, Hashable {
    /// The number of values in the list.
    public var read = 0
    /// The number of objects of the list that were inserted.
    public var inserted = 0
    /// The number of objects of the list that got at least one different value.
    public var updated = 0
    /// The number of objects of the list that already matched. They are neither written nor reported.
    public var unchanged = 0
    /// The number of objects in scope that were deleted because they are not in the list.
    ///
    /// Objects that a cascade deletes together with these objects are not counted, such as the lines of a deleted order.
    /// ``totalDeleted`` counts them, too.
    public var deleted = 0
    /// The number of objects that were deleted although they are in the list: a delete rule has deleted them together with an
    /// object that is not in the list, or a hook has deleted them. They do not count as inserted, updated or unchanged. Objects
    /// that are not in the list never count here.
    public var cascaded = 0
    /// The number of objects in scope that are not in the list, but were kept. Objects are kept if the sync is not allowed to
    /// delete them, or if values were ignored.
    public var kept = 0
    /// The number of objects that the scope's eviction has deleted (``SyncScope/eviction``). Objects of the list that were
    /// evicted also count as inserted, updated or unchanged. 0 for a sync without a scope.
    public var evicted = 0
    /// The number of objects that were not inserted or updated, because the operations of the sync do not allow it. The
    /// count includes objects of the list, and other objects that hooks changed.
    public var skipped = 0
    /// The number of values for which the hook returned the same object as for an earlier value of the list. The later value
    /// wins.
    public var duplicates = 0
    /// The number of values for which the hook returned nil.
    public var ignored = 0
    /// The number of objects that hooks inserted besides the objects of the list.
    public var insertedChildren = 0
    /// The number of objects outside the list that got at least one different value from hooks.
    public var updatedChildren = 0
    /// The number of children that a `sweep` in the hook deleted because they are not in the list of their parent. Objects
    /// that a cascade deletes together with these children are not counted. ``totalDeleted`` counts them, too.
    public var deletedChildren = 0
    /// The number of children that are not in the list of their parent, but were kept. Children are kept if the sync or the
    /// sweep is not allowed to delete them, or if values were ignored.
    public var keptChildren = 0
    /// The number of all stored objects, of all entities, that the save has deleted: by the list, by sweeps, by an eviction,
    /// by delete rules such as Cascade, and by hooks. Objects that the same save has inserted do not count.
    ///
    /// ``SyncDeletion`` does not limit this number. To look at it before anything is deleted, call
    /// ``DataSource/planSync(_:entity:scope:deleting:operations:options:)``.
    public var totalDeleted = 0
    /// The IDs of the objects that were inserted, updated or deleted; nil without the option ``SyncOptions/reportsIDs``.
    public var ids: IDs?

    /// The IDs of the objects that a sync changed, in the order of the list. Deleted objects have no order.
    public struct IDs: Sendable, Hashable {
        /// The objects of the list that were inserted.
        public var inserted: [ManagedObjectID] = []
        /// The objects of the list that got at least one different value.
        public var updated: [ManagedObjectID] = []
        /// The objects that were deleted because they are not in the list.
        public var deleted: [ManagedObjectID] = []
        /// The objects that hooks inserted besides the objects of the list.
        public var insertedChildren: [ManagedObjectID] = []
        /// The objects outside the list that got at least one different value from hooks.
        public var updatedChildren: [ManagedObjectID] = []
        /// The children that a `sweep` deleted.
        public var deletedChildren: [ManagedObjectID] = []

        /// Makes a value without IDs.
        ///
        /// ```swift
        /// let sync = try await contacts.sync(list, options: .reportsIDs)
        /// #expect(sync.ids == SyncReport.IDs())
        /// ```
        public init() {}
    }

    /// Makes a report whose counts are all zero.
    ///
    /// ```swift
    /// var expected = SyncReport()
    /// (expected.read, expected.unchanged) = (2, 2)
    /// #expect(try await contacts.sync(list) == expected)
    /// ```
    public init() {}
}
