/// The base of all data sources, whatever their values are: entities, a private context, and reading.
///
/// Apps subclass ``DataSource`` or ``KeyedDataSource``. Use this class as a type where any data source is accepted.
///
/// **Isolation**: reading objects and binding lists is on the main actor; `perform`, `update`, `delete` and `updates` can be
/// called anywhere.
@MainActor
open class AnyDataSource {
    /// Where batches run.
    package nonisolated let tier: PrivateTier
    package nonisolated let mainTier: MainTier
    /// The lists that are registered.
    let boundLists: BoundLists

    /// Only a container makes data sources.
    public required init(_ binding: borrowing DataSourceBinding) {
        tier = binding.tier
        mainTier = binding.mainTier
        boundLists = BoundLists(binding.mainTier)
        tier.source.setHandler { [weak self] in self?.handleError($0) }
    }

    /// The classes of the entities that this data source alone may change.
    ///
    /// **Isolation**: none, because opening a store calls it and never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// The context that the user interface reads; the same for all data sources of a container.
    public var main: MainContext { mainTier.context }

    /// Called when a save with `waitFor: .main` cannot be written: once when it is late, and once when it is taken back.
    ///
    /// The default does nothing. ``PersistentContainer/failures`` has the failures of all data sources.
    ///
    /// **Isolation**: none; it is called on a queue of its own, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}
}

/// What a container makes a data source from. Only containers can make one, and it cannot be kept.
public struct DataSourceBinding: ~Copyable {
    let tier: PrivateTier
    let mainTier: MainTier
}
