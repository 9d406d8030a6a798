public import Foundation

/// What opening the store came to.
public struct StoreStartup: Sendable, Hashable {
    public var reason: Reason
    /// How many objects the old store had that are gone now, if it was reset.
    public var rowsDropped: Int
    /// Where the old store is now, if it was kept.
    public var backup: URL?
    /// The entities whose rows were dropped while those of others stayed, sorted; nil if it was all or nothing.
    public var entitiesReset: [String]?
    /// Why the whole store was dropped although the policy was to keep what did not change; nil if it was not so.
    public var fallback: String?

    public init(
        reason: Reason, rowsDropped: Int = 0, backup: URL? = nil, entitiesReset: [String]? = nil,
        fallback: String? = nil
    ) {
        self.reason = reason
        self.rowsDropped = rowsDropped
        self.backup = backup
        self.entitiesReset = entitiesReset
        self.fallback = fallback
    }

    /// Whether an old store, or part of it, was dropped.
    public var isReset: Bool { reason.isReset }
}
