internal import Foundation
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

/// Entering the private context from outside.
extension PrivateTier {
    /// Runs the work here, saves, and returns once the save has got as far as requested.
    ///
    /// When called on the main actor, it also waits until main and its lists show the save.
    ///
    /// - Parameters:
    ///   - values: How many values the work handles; 0 for work that only reads.
    ///   - deletes: Whether delete rules may change rows of other data sources, whose batches wait meanwhile. If not, the save
    ///     fails if they would, whatever else waits.
    nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel, values: Int = 1, deletes: Bool = true,
        _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        // Earlier calls with a callback come first, on whatever queue they wait.
        let isOrdered = waitingJobs.load(ordering: .acquiring) > 0
        let scope: BatchScope = values == 0 ? .nothing : deletes ? .reach : .own
        let joined = joined(scope)
        let held = isOrdered ? PrivateTier.held([self]) : joined
        guard held.count > 1 else {
            return try await enter(waitFor: level, values: values) {
                await self.save(isAwaited: $0, scope, work)
            }
        }
        return try await enter(waitFor: level, values: values) { isAwaited in
            await held[0].save(in: [self], joined, holding: held.dropFirst(), isAwaited: isAwaited, scope) {
                try work($0[0])
            }
        }
    }

    /// The tiers whose rows a batch of that scope may change.
    private nonisolated func joined(_ scope: BatchScope) -> [PrivateTier] {
        scope == .reach ? PrivateTier.held([self]) : [self]
    }

    /// Waits for admission, saves, and waits until the save has got as far as requested.
    nonisolated func enter<Result: Sendable>(
        waitFor level: SaveLevel, values: Int,
        _ save: (_ isAwaited: Bool) async -> Swift.Result<SavedWork<Result>, any Error>
    ) async throws -> SavedWork<Result> {
        let isOnMain = isMainActor(#isolation)
        try await stack.root.admission.enter(values)
        let outcome = await save(level == .store)
        stack.root.admission.leave(values)
        if case .failure = outcome, isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
        let saved = try outcome.get()
        var failure: (any Error)?
        if level == .store, let number = saved.uncommitted {
            do { try await stack.root.committed(number) } catch { failure = error }
        }
        // A failed save was visible until now, and is not any more.
        if level == .main || isOnMain && values > 0 { await stack.mainWaker.mergeNow() }
        if let failure { throw failure }
        return saved
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    nonisolated func performRehearsal<Result: Sendable>(
        values: Int, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await stack.root.admission.enter(values)
        let held = PrivateTier.held([self])
        let outcome = await held[0].rehearse(self, holding: held.dropFirst(), work)
        stack.root.admission.leave(values)
        return try outcome.get()
    }

    /// The blocking form. When called on the main thread, objects and fetches of main show the save when it returns; lists
    /// follow when main is free.
    nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "performAndWait of \(owner) was called inside a private context or container.read, where it could wait for itself. In a hook or perform { }, use the context that is passed in, and write to other data sources afterwards."
        )
        try stack.root.admission.enterAndWait(1)
        defer { if MainQueue.isCurrent { MainActor.assumeIsolated { stack.mainWaker.mergeObjects() } } }
        let saved: SavedWork<Result>
        do {
            defer { stack.root.admission.leave(1) }
            let held = PrivateTier.held([self])
            saved = try PrivateTier.holding(held[...]) {
                try PrivateTier.save(in: [self], held, holding: held, isAwaited: true, .reach) { try work($0[0]) }
            }
        }
        if let number = saved.uncommitted { try stack.root.waitUntilCommitted(number) }
        return saved
    }

    /// Runs the work after all earlier calls, without waiting. The callback comes on the main actor, when the save is in the
    /// store and main and its lists show it.
    nonisolated func performLater<Result: Sendable>(
        values: Int = 1, deletes: Bool = true, _ work: @escaping @Sendable (PrivateContext) throws -> Result,
        callback: @escaping @MainActor @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void
    ) {
        let waker = stack.mainWaker
        let admission = stack.root.admission
        do throws(DataSourceError) { try admission.enterNow(values) } catch {
            return waker.callBack(afterMerge: false) { callback(.failure(error)) }
        }
        let finish: @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void = { result in
            waker.callBack(afterMerge: true) {
                admission.forgetValues(values)
                callback(result)
            }
        }
        // All calls of this form take the same queues, whether they delete or not, so that they keep their order.
        let held = PrivateTier.held([self])
        let scope: BatchScope = deletes ? .reach : .own
        let joined = joined(scope)
        waitingJobs.add(1, ordering: .acquiringAndReleasing)
        held[0].executor.enqueue {
            self.waitingJobs.subtract(1, ordering: .acquiringAndReleasing)
            let saved = Swift.Result {
                try PrivateTier.holding(held.dropFirst()) {
                    try PrivateTier.save(in: [self], joined, holding: held, isAwaited: true, scope) {
                        try work($0[0])
                    }
                }
            }
            admission.endBatch()
            guard case .success(let work) = saved, let number = work.uncommitted else { return finish(saved) }
            self.stack.root.whenCommitted(number) { committed in
                finish(committed.map { work }.mapError { $0 })
            }
        }
    }
}

/// Whether that is the actor on which the caller runs. It is a function of its own because the compiler of Swift 6.3 fails on
/// the comparison when it is optimized into an async function.
@inline(never)
private func isMainActor(_ actor: (any Actor)?) -> Bool { actor === MainActor.shared }

/// Work that was done and saved.
struct SavedWork<Result: Sendable>: Sendable {
    let result: Result
    let report: SaveReport
    /// The number of the save; nil if there was nothing to save, or if it is already in the store.
    let uncommitted: Int64?
}

extension PrivateTier {
    /// Runs the work and saves its edits; if it throws, nothing has happened.
    ///
    /// - Parameter isAwaited: Whether the caller waits for the store. If so, and if no other call waits for this context, the
    ///   save is committed here and now. Otherwise the root commits it soon, with all other waiting saves.
    func save<Result: Sendable>(
        isAwaited: Bool, _ scope: BatchScope, _ work: (PrivateContext) throws -> Result
    ) -> Swift.Result<SavedWork<Result>, any Error> {
        Swift.Result {
            let batch = Batch(context, source, leases: PrivateTier.leases([self], scope))
            let (result, changes, number) = try batch.run(isAwaited: isAwaited, work)
            return try finish(result, changes, number, isAwaited: isAwaited, isWaitedFor: executor.hasWaitingJobs)
        }
    }

    /// Runs the work with the contexts of data sources and saves their edits as one save.
    ///
    /// - Parameter tiers: At least one.
    static func perform<Result: Sendable>(
        in tiers: [PrivateTier], waitFor level: SaveLevel, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> SavedWork<Result> {
        let held = held(tiers)
        let first = held[0]
        return try await first.enter(waitFor: level, values: 1) { isAwaited in
            await first.save(in: tiers, held, holding: held.dropFirst(), isAwaited: isAwaited, .reach, work)
        }
    }

    /// The tiers, and those whose rows delete rules may change. Every call takes their queues in the same order, so that no two
    /// calls wait for each other.
    static func held(_ tiers: [PrivateTier]) -> [PrivateTier] {
        if tiers.count == 1, tiers[0].reach.isEmpty { return tiers }
        var held: [PrivateTier] = []
        let all = tiers + tiers.flatMap { $0.stack.tiers(owning: $0.reach) }
        // Data sources without entities have no position.
        func order(_ tier: PrivateTier) -> (Int, UInt) { (tier.place, UInt(bitPattern: ObjectIdentifier(tier))) }
        for tier in all.sorted(by: { order($0) < order($1) }) where held.last !== tier { held.append(tier) }
        return held
    }

    /// Saves what the work edits with the contexts of some of the tiers, while it holds the queues of others, too.
    ///
    /// - Parameter joined: The tiers whose rows the save may change. Their queues are held.
    func save<Result: Sendable>(
        in tiers: [PrivateTier], _ joined: [PrivateTier], holding others: ArraySlice<PrivateTier>, isAwaited: Bool,
        _ scope: BatchScope, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) -> Swift.Result<SavedWork<Result>, any Error> {
        Swift.Result {
            try PrivateTier.holding(others) {
                try PrivateTier.save(in: tiers, joined, holding: [self] + others, isAwaited: isAwaited, scope, work)
            }
        }
    }

    /// Runs the body while it holds the queues of those tiers.
    static func holding<R>(_ tiers: ArraySlice<PrivateTier>, _ body: () throws -> R) rethrows -> R {
        guard let next = tiers.first else { return try body() }
        return try next.executor.runAndWait { try holding(tiers.dropFirst(), body) }
    }

    /// Runs the work with the contexts of some of the tiers whose rows may change, and saves all edits as one save.
    ///
    /// - Parameters:
    ///   - joined: The tiers whose rows may change.
    ///   - held: The tiers whose queues are held: those, and perhaps others.
    static func save<Result: Sendable>(
        in tiers: [PrivateTier], _ joined: [PrivateTier], holding held: [PrivateTier], isAwaited: Bool,
        _ scope: BatchScope, _ work: ([PrivateContext]) throws -> Result
    ) throws -> SavedWork<Result> {
        let first = tiers[0]
        if joined.count > 1 { first.stack.unite(joined.map(\.source)) }
        let contexts = tiers.map(\.held.context)
        let (result, changes, number) = try first.batch(holding: joined, for: tiers, scope).run(isAwaited: isAwaited) {
            _ in
            try work(contexts)
        }
        return try first.finish(
            result, changes, number, isAwaited: isAwaited,
            isWaitedFor: held.contains { $0.executor.hasWaitingJobs })
    }

    /// - Parameter tiers: The tiers whose contexts are passed to the work.
    private nonisolated func batch(
        holding held: [PrivateTier], for tiers: [PrivateTier], _ scope: BatchScope
    ) -> Batch {
        Batch(
            self.held.context, source, with: held.filter { $0 !== self }.map(\.held.context),
            named: tiers.filter { $0 !== self }.map(\.held.context), leases: PrivateTier.leases(tiers, scope))
    }

    /// - Parameter isWaitedFor: Whether any call waits for a context of the save.
    private nonisolated func finish<Result: Sendable>(
        _ result: Result, _ changes: ChangeSet, _ number: Int64, isAwaited: Bool, isWaitedFor: Bool
    ) throws -> SavedWork<Result> {
        let report = SaveReport(changes, stack.layout)
        guard number > 0 else { return SavedWork(result: result, report: report, uncommitted: nil) }
        if !isAwaited || isWaitedFor {
            stack.root.commitSoon()
            return SavedWork(result: result, report: report, uncommitted: number)
        }
        let isCommitted = try stack.root.commitInPlace(number)
        return SavedWork(result: result, report: report, uncommitted: isCommitted ? nil : number)
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    func rehearse<Result: Sendable>(
        _ tier: PrivateTier, holding others: ArraySlice<PrivateTier>,
        _ work: @Sendable (PrivateContext) throws -> Result
    ) -> Swift.Result<Result, any Error> {
        Swift.Result {
            try PrivateTier.holding(others) {
                try tier.batch(holding: [self] + others, for: [tier], .nothing).rehearse(work)
            }
        }
    }
}

extension PersistentStack {
    /// The tiers of the data sources that own any of those entities.
    func tiers(owning entities: Set<Int>) -> [PrivateTier] { owners(of: entities).compactMap { $0 as? PrivateTier } }
}
