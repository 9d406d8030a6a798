package import RowStore

/// The leases that a batch uses.
package struct LeaseUse: Sendable, Hashable {
    package let epochs: [LeaseEpoch]
    /// How often the store had been reset.
    package let generation: Int

    package init(epochs: [LeaseEpoch], generation: Int) {
        self.epochs = epochs
        self.generation = generation
    }
}
