public import Foundation

/// What opening the store came to.
public struct StoreStartup: Sendable, Hashable {
    /// Why the store is as it is.
    public var reason: Reason
    /// How many objects the old store had that are gone now, if it was reset. If ``countFailure`` is not nil there were
    /// more.
    public var rowsDropped: Int
    /// The error of the store when the objects that are gone could not all be counted, because it was damaged; nil if they
    /// were counted.
    public var countFailure: String?
    /// Where the old store is now, if it was kept.
    public var backup: URL?
    /// The backups of ``ResetPolicy/standard`` that were removed because a key changed or the app asked for an empty store,
    /// the oldest first.
    public var removedBackups: [URL] = []
    /// The entities whose rows were dropped while those of others stayed, sorted; nil if it was all or nothing.
    public var entitiesReset: [String]?
    /// Why the store was not migrated, or was dropped as a whole, although the policy was to keep more of it; nil if it was
    /// not so.
    public var fallback: String?
    /// What was carried over to the new model; nil if nothing was to be.
    public var migration: MigrationReport?

    /// Makes a startup to compare with, as a test does.
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

    /// Whether an old store, or part of it, was dropped.
    public var isReset: Bool { migration == nil ? reason.isReset : rowsDropped > 0 }
}
