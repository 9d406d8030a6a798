public import Foundation

/// The result of opening a store.
///
/// ```swift
/// let startup = container.startup
/// if startup.isReset {
///     print(
///         "\(startup.reason): \(startup.rowsDropped) objects dropped, backup: \(startup.backup?.path ?? "none")")
/// }
/// ```
public struct StoreStartup: Sendable, Hashable {
    /// Why the store was made, kept or reset.
    public var reason: Reason
    /// How many objects of the old store were dropped, if it was reset. If ``countFailure`` is not nil, there were more.
    public var rowsDropped: Int
    /// Why not all dropped objects could be counted, because the store was damaged; nil if all were counted.
    public var countFailure: String?
    /// Where the old store was set aside; nil if it was not.
    public var backup: URL?
    /// The backups of ``ResetPolicy/standard`` that were removed because a key changed or the app asked for an empty store, the
    /// oldest first.
    public var removedBackups: [URL] = []
    /// The entities whose rows were dropped while other rows stayed, sorted; nil if all rows or none were dropped.
    public var entitiesReset: [String]?
    /// How many objects and links were dropped while others stayed, for a policy that keeps a part, a key of a data source, and a
    /// migration; empty if the whole store was dropped, and in stores that an app has written itself.
    public var dropped = Dropped()
    /// Why the store was reset although the policy was to migrate it, or dropped as a whole although the policy was to keep a
    /// part; otherwise nil.
    public var fallback: String?
    /// What a migration carried over; nil if there was none.
    public var migration: MigrationReport?

    /// What was dropped while the rest stayed.
    public struct Dropped: Sendable, Hashable {
        /// The number of objects, by the name that their entity had; entities that had none are left out.
        public var objects: [String: Int] = [:]
        /// The number of links between objects that stayed and objects that were dropped, by the relationship in whose column or
        /// table they were stored, such as `Note.folder`. Links between two dropped objects do not count.
        public var links: [String: Int] = [:]

        /// Makes one without anything.
        public init() {}

        /// How many objects of all entities were dropped.
        public var objectCount: Int { objects.values.reduce(0, +) }
    }

    /// Makes a startup, for example to compare with in a test.
    public init(
        reason: Reason, rowsDropped: Int = 0, backup: URL? = nil, entitiesReset: [String]? = nil,
        fallback: String? = nil, migration: MigrationReport? = nil
    ) {
        self.reason = reason
        self.rowsDropped = rowsDropped
        self.backup = backup
        self.entitiesReset = entitiesReset
        self.fallback = fallback
        self.migration = migration
    }

    /// Whether an old store, or a part of it, was dropped.
    public var isReset: Bool { migration == nil ? reason.isReset : rowsDropped > 0 }
}
