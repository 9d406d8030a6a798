/// What becomes of the rows that a store has when it is opened: the result of ``StoreOptions/plan(for:)``.
///
/// Carry it out as a whole or not at all: a process that is killed meanwhile leaves the old metadata with the old rows, or
/// the new metadata with those that stay.
public struct StartupPlan: Sendable {
    /// Why.
    public let reason: StoreStartup.Reason
    /// What the store keeps about itself from now on.
    public let metadata: StoreMetadata
    /// Whether the rows that are there stay, but for those of ``droppedEntities``. If not, the store is empty from now on.
    public let keepsRows: Bool
    /// The names of entities whose rows go while the others stay; the model is that of the store then.
    /// ``InMemoryRows/changes(droppingEntities:)`` has all that changes.
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

    /// What opening did, for the container to say.
    ///
    /// - Parameter rowsDropped: How many objects were dropped.
    public func startup(rowsDropped: Int) -> StoreStartup {
        StoreStartup(
            reason: reason, rowsDropped: rowsDropped,
            entitiesReset: droppedEntities.isEmpty ? nil : droppedEntities.sorted(), fallback: fallback)
    }
}
