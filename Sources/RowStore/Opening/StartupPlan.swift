/// What happens to the existing rows when a store is opened: the result of ``StoreOptions/plan(for:)``.
///
/// Carry it out as a whole or not at all: a process that is killed meanwhile must leave either the old metadata with the old
/// rows, or the new metadata with the rows that stay.
public struct StartupPlan: Sendable {
    /// The reason.
    public let reason: StoreStartup.Reason
    /// The store's metadata from now on.
    public let metadata: StoreMetadata
    /// Whether the existing rows stay, except those of ``droppedEntities``. If not, the store is empty from now on.
    public let keepsRows: Bool
    /// The names of entities whose rows are dropped while the others stay; the model is unchanged then.
    /// ``InMemoryRows/changes(droppingEntities:)`` returns the changes.
    public let droppedEntities: Set<String>
    private let fallback: String?

    init(
        reason: StoreStartup.Reason, metadata: StoreMetadata, keepsRows: Bool, droppedEntities: Set<String> = [],
        fallback: String? = nil
    ) {
        self.reason = reason
        self.metadata = metadata
        self.keepsRows = keepsRows
        self.droppedEntities = droppedEntities
        self.fallback = fallback
    }

    /// What opening did, for the container to report.
    ///
    /// - Parameter rowsDropped: How many objects were dropped.
    public func startup(rowsDropped: Int) -> StoreStartup {
        StoreStartup(
            reason: reason, rowsDropped: rowsDropped,
            entitiesReset: droppedEntities.isEmpty ? nil : droppedEntities.sorted(), fallback: fallback)
    }
}
