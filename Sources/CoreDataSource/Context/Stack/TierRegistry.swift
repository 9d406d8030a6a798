internal import RowStore
internal import Synchronization

/// The tiers of a container's data sources, and the running batches whose delete rules reach entities of other data sources.
///
/// A batch that deletes objects blocks the queues of the data sources that its delete rules reach. But a batch cannot block the
/// queue of a data source that is made later. So the first batch of the new data source waits until the running batch has ended.
/// Otherwise, the first batch could link to an object that the running batch deletes, after the delete rules have been applied.
///
/// A batch is recorded only when it already holds all its queues and its leases. A recorded batch waits for no
/// queue and no lease, so no two batches wait for each other. The creation of a data source never waits.
final class TierRegistry: Sendable {
    private struct Entry {
        let tier: WeakReference
        let number: Int
    }

    private struct RunningBatch {
        let reaches: [Set<Int>]
        /// Sent when the batch ends.
        var ends: [any WorkSignal] = []
    }

    private struct State {
        /// The tier that owns each entity.
        var owners: [Int: Entry] = [:]
        var batches: [Int: RunningBatch] = [:]
        var lastBatch = 0
    }

    private let state = Guarded(State())
    private let registered = Atomic<Int>(0)

    /// The number of registered tiers. The next tier gets this number.
    var count: Int { registered.load(ordering: .acquiring) }

    /// Registers the tier of a data source as the owner of the entities.
    ///
    /// - Returns: A signal for each running batch whose delete rules reach any of the entities. The signal is sent when the batch
    ///   ends.
    @MainActor
    func register(
        _ tier: any AnyObject & Sendable, _ entities: Set<Int>, _ makeSignal: () -> any WorkSignal
    ) -> [any WorkSignal] {
        state.withLock { state in
            let entry = Entry(tier: WeakReference(tier), number: registered.load(ordering: .relaxed))
            for entity in entities { state.owners[entity] = entry }
            registered.store(entry.number + 1, ordering: .releasing)
            var signals: [any WorkSignal] = []
            for (number, batch) in state.batches
            where batch.reaches.contains(where: { !$0.isDisjoint(with: entities) }) {
                let signal = makeSignal()
                state.batches[number]?.ends.append(signal)
                signals.append(signal)
            }
            return signals
        }
    }

    /// The number of signals that new data sources wait for. Running batches send these signals when they end. For tests.
    var signalCount: Int { state.withLock { $0.batches.values.reduce(0) { $0 + $1.ends.count } } }

    /// Whether a data source that still exists owns the entity, and the number of its tier is below the given number.
    func isOwned(_ entity: Int, byTierBelow number: Int = .max) -> Bool {
        state.withLock { state in
            guard let entry = state.owners[entity], entry.number < number else { return false }
            return entry.tier.object != nil
        }
    }

    /// The tiers that own any of the entities.
    func owners(of entities: Set<Int>) -> [any AnyObject & Sendable] {
        if entities.isEmpty { return [] }
        return state.withLock { state in entities.compactMap { state.owners[$0]?.tier.object } }
    }

    /// Records a running batch.
    ///
    /// - Parameters:
    ///   - reaches: The entities that the delete rules of each data source reach.
    ///   - known: The number of tiers that were registered when the batch chose its queues; nil if the batch need not hold the
    ///     queues of all reached tiers.
    /// - Returns: The number of the batch, and the number of registered tiers. Nil if a tier that the batch reaches
    ///   was registered after the batch chose its queues.
    fileprivate func begin(_ reaches: [Set<Int>], knowing known: Int?) -> (batch: Int, tiers: Int)? {
        state.withLock { state in
            let count = registered.load(ordering: .relaxed)
            if let known, known < count {
                for entity in reaches.joined() {
                    if let entry = state.owners[entity], entry.number >= known, entry.tier.object != nil { return nil }
                }
            }
            state.lastBatch += 1
            state.batches[state.lastBatch] = RunningBatch(reaches: reaches)
            return (state.lastBatch, count)
        }
    }

    fileprivate func end(_ batch: Int) {
        let ended = state.withLock { $0.batches.removeValue(forKey: batch) }
        for signal in ended?.ends ?? [] { signal.signal() }
    }
}

/// Thrown if a data source is made after a call has chosen its queues, and if the delete rules of the call reach the data source,
/// or the data source completes the save of the call. The call has not begun its work, and must choose its queues again.
struct NewTierReached: Error {}

/// The entities that the delete rules of one batch reach, and the owners of these entities.
///
/// **Isolation**: the queues of the batch.
final class BatchReach {
    private let registry: TierRegistry
    private let reaches: [Set<Int>]
    /// The number of tiers that were registered when the batch chose its queues; nil if the batch does not hold the queues of
    /// all tiers that it reaches.
    private let knownTierCount: Int?
    private var record: (batch: Int, tiers: Int)?

    /// - Parameters:
    ///   - reaches: The entities that the delete rules of each data source reach.
    ///   - knownTierCount: The number of tiers that were registered when the batch chose its queues; nil if the batch does not
    ///     hold the queues of all tiers that it reaches.
    init(_ registry: TierRegistry, _ reaches: [Set<Int>], knownTierCount: Int?) {
        self.registry = registry
        self.reaches = reaches
        self.knownTierCount = knownTierCount
    }

    /// Whether the batch holds the queues of all tiers that it reaches.
    var holdsQueues: Bool { knownTierCount != nil }

    /// Records the batch, if it holds the queues of all tiers that it reaches. From then on, if the delete rules reach a data
    /// source that is made later, the first batch of that data source waits until this batch has ended. Must be called when
    /// this batch holds its queues and its leases, and before it reads anything.
    func beginBatch() throws(NewTierReached) {
        guard let knownTierCount else { return }
        record = registry.begin(reaches, knowing: knownTierCount)
        if record == nil { throw NewTierReached() }
    }

    /// Records the batch, if ``beginBatch()`` has not recorded it. Must be called before the batch applies delete rules.
    func beginRules() {
        if record == nil { record = registry.begin(reaches, knowing: nil) }
    }

    /// Whether a data source owned the entity when the batch was recorded. Data sources that were made later do not count,
    /// because they wait for the batch.
    func isOwned(_ entity: Int) -> Bool { registry.isOwned(entity, byTierBelow: record?.tiers ?? .max) }

    func end() {
        if let record { registry.end(record.batch) }
        record = nil
    }
}
