internal import RowStore
internal import Synchronization

/// The first tier of a save: the queue of one data source, on which batches run one after the other.
///
/// **Isolation**: its own serial queue. It never waits for the main actor.
package actor PrivateTier {
    nonisolated let held: HeldContext
    /// Its position in the order in which the queues of several data sources are taken.
    nonisolated let place: Int
    /// The entities of other data sources whose rows may change, or affect the result, when objects of this one are deleted.
    nonisolated let reach: Set<Int>
    /// How many jobs with a callback are enqueued and have not begun.
    nonisolated let waitingJobs = Atomic<Int>(0)
    /// The leases that batches need, in a shared store; nil in any other.
    nonisolated let leases: TierLeases?
    nonisolated let stack: PersistentStack
    nonisolated let executor: QueueExecutor
    /// The name of the data source's class.
    nonisolated let owner: String
    /// The data source, in the form that its saves refer to.
    nonisolated let source: SaveSource
    /// Loads of objects that were looked up and not found.
    nonisolated let loads = CoalescedLoads()

    init(_ stack: PersistentStack, owner: String, ownedEntities: Set<Int>) {
        self.stack = stack
        self.owner = owner
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.private.\(owner)", true))
        source = SaveSource(owner)
        stack.join(source, ownedEntities)
        place = ownedEntities.min() ?? .max
        reach = stack.graph.reach(of: ownedEntities).subtracting(ownedEntities)
        leases = stack.root.leases == nil ? nil : TierLeases(ownedEntities, reach, stack.layout)
        held = HeldContext(
            context: PrivateContext(stack, stack.root.rows, owner: owner) { ownedEntities.contains($0) ? .own : .read })
    }

    package var context: PrivateContext { held.context }

    // MARK: For tests

    package var registeredObjectCount: Int { context.registeredObjectCount }
    package var registeredByteCount: Int { context.registeredByteCount }
    package var registeredByteCounts: (counted: Int, present: Int) { context.registeredByteCounts }
    package var rowsTested: Int { context.rowsTested }
    package func forgetObjects() { context.forgetObjects() }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// The leases that batches of a data source need.
struct TierLeases: Sendable {
    /// For batches that change only what the data source owns: its entities and those that share a uniqueness constraint with
    /// one of them, because each entity has a table of its own.
    let own: LeaseSet
    /// For batches that may delete.
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

/// What a batch may change.
enum BatchScope {
    /// Nothing: it only reads.
    case nothing
    /// The entities that the data source owns.
    case own
    /// Also the entities that delete rules reach.
    case reach
}

extension PrivateTier {
    /// The leases that a batch of several data sources needs.
    static func leases(_ tiers: [PrivateTier], _ scope: BatchScope) -> LeaseSet? {
        if scope == .nothing || tiers.first?.leases == nil { return nil }
        let sets = tiers.compactMap { scope == .own ? $0.leases?.own : $0.leases?.reach }
        return sets.count == 1 ? sets[0] : LeaseSet(sets.reduce(into: []) { $0.formUnion($1.entities) })
    }
}

/// A context that is used on its queue only.
///
/// Guarded by: the queue of its tier. A save over several data sources holds all their queues, which an actor cannot express.
struct HeldContext: @unchecked Sendable {
    let context: PrivateContext
}
