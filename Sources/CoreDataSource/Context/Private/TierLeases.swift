internal import RowStore

/// The leases that batches of a data source need.
struct TierLeases: Sendable {
    /// The leases of batches that change only owned entities. They include the leases of entities that share a uniqueness
    /// constraint with an owned entity. The batch checks such a constraint in the tables of all these entities, and no other
    /// member may change the tables meanwhile.
    let own: LeaseSet
    /// The leases of batches that may delete.
    let reach: LeaseSet

    init(_ owned: Set<Int>, _ reach: Set<Int>, _ layout: ModelLayout) {
        var all = owned.filter { layout.entities[$0].links == nil }
        for entity in all {
            for owner in layout.entities[entity].constraintOwners {
                all.formUnion(layout.entities[owner].concreteFamily)
            }
        }
        own = LeaseSet(all)
        self.reach = LeaseSet(all.union(reach.filter { layout.entities[$0].links == nil }))
    }
}
