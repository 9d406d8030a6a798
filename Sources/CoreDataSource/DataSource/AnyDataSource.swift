/// What all data sources have in common, whatever their values are: entities, a private context, and reading.
///
/// Apps subclass ``DataSource`` or ``KeyedDataSource``. They name this class where any kind of data source will do.
///
/// **Isolation**: reading objects and binding lists is on the main actor; `perform`, `update`, `delete` and `updates` may be
/// called from anywhere.
@MainActor
open class AnyDataSource {
    /// Where batches run.
    package nonisolated let tier: PrivateTier
    package nonisolated let mainTier: MainTier
    /// The lists that are registered, by data key.
    var boundLists: [String: BoundList] = [:]

    /// A container makes data sources.
    public required init(_ binding: borrowing DataSourceBinding) {
        tier = binding.tier
        mainTier = binding.mainTier
        tier.source.setHandler { [weak self] in self?.handleError($0) }
    }

    /// The classes of the entities that this data source alone may change.
    ///
    /// **Isolation**: none, since opening a store asks for it and never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// The context that the user interface reads; the same for all data sources of a container.
    public var main: MainContext { mainTier.context }

    /// Called when a save that was made with `waitFor: .main` cannot be written: once when it is late, and once when it is
    /// taken back.
    ///
    /// It does nothing unless it is overridden. ``PersistentContainer/failures`` has the failures of all data sources.
    ///
    /// **Isolation**: none; it is called on a queue of its own, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}
}

/// What a container makes a data source from. Only containers make one, and nobody can keep it.
public struct DataSourceBinding: ~Copyable {
    let tier: PrivateTier
    let mainTier: MainTier
}
