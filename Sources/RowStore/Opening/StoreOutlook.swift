internal import ManagedModel

/// Facts about a store that the next opening keeps.
package struct StoreOutlook: Sendable, Equatable {
    /// The format of the store if an earlier release wrote it; opening it upgrades its tables.
    package let olderFormat: Int64?
    /// How many links lead to objects that are gone, as after the delete rule No Action, by the relationship, as
    /// `Letter.topic`. They are not counted in a store of an older format.
    package let danglingLinks: [String: Int]

    package init(olderFormat: Int64? = nil, danglingLinks: [String: Int] = [:]) {
        self.olderFormat = olderFormat
        self.danglingLinks = danglingLinks
    }

    /// The format of the stores that this release writes.
    package var format: Int64 { ManagedObjectModel.storeFormat }
}
