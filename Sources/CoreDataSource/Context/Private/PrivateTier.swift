internal import RowStore
internal import Synchronization

/// The tier of one data source, in which its saves begin. Its batches run one after the other on its queue.
///
/// **Isolation**: the serial queue of the tier. The queue never waits for the main actor.
package actor PrivateTier {
    nonisolated let box: ContextBox
    /// The number of the tier. Calls lock the queues of several data sources in the order of these numbers.
    nonisolated let number: Int
    /// The entities of other data sources whose rows may change, or must be checked, when objects of this data source are
    /// deleted.
    nonisolated let reach: Set<Int>
    /// The number of enqueued jobs with a callback that have not begun.
    nonisolated let waitingJobs = Atomic<Int>(0)
    /// Whether the data source completes saves (``SaveCompleting``).
    nonisolated let completes: Bool
    /// Whether the initialization of the data source has ended. Until then, other data sources do not call its hook.
    nonisolated let isMade = Atomic<Bool>(false)
    private nonisolated let weakCompleter = Guarded(WeakCompleter())
    /// The leases that batches need; nil if the store is not shared.
    nonisolated let leases: TierLeases?
    nonisolated let stack: PersistentStack
    nonisolated let executor: QueueExecutor
    /// The class name of the data source.
    nonisolated let owner: String
    /// Identifies the data source in its saves.
    nonisolated let source: SaveSource
    /// The running loads of single objects and of lists.
    nonisolated let loads: CoalescedLoads

    init(_ stack: PersistentStack, owner: String, ownedEntities: Set<Int>, completes: Bool) {
        self.stack = stack
        self.owner = owner
        self.completes = completes
        loads = CoalescedLoads { [scopes = stack.root.scopes] in scopes.loadsDidChange(of: $0) }
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.private.\(owner)", true))
        source = SaveSource(owner)
        stack.register(source, ownedEntities)
        number = stack.tierRegistry.count
        reach = stack.graph.reach(of: ownedEntities).subtracting(ownedEntities)
        leases = stack.root.leases == nil ? nil : TierLeases(ownedEntities, reach, stack.layout)
        box = ContextBox(
            context: PrivateContext(stack, stack.root.rows, owner: owner) { ownedEntities.contains($0) ? .own : .read })
    }

    package var context: PrivateContext { box.context }

    /// Registers this tier as the owner of the entities, so that other data sources find it. All batches of this tier wait for
    /// the batches that are running now and whose delete rules reach the entities.
    @MainActor
    func register(_ entities: Set<Int>) {
        let ends = stack.tierRegistry.register(self, entities, stack.root.scheduling.makeSignal)
        if !ends.isEmpty { executor.enqueue { for end in ends { end.wait() } } }
    }

    /// Sets the data source, which the tier does not keep alive.
    nonisolated func connect(_ completer: (any SaveCompleting)?) {
        weakCompleter.withLock { $0 = WeakCompleter(completer) }
    }

    /// Whether the data source completes the save of a call. While the data source is being made, it completes only its own saves.
    ///
    /// - Parameter named: The tiers whose contexts the work of the call gets.
    nonisolated func completesNow(_ named: [PrivateTier]) -> Bool {
        completes && (isMade.load(ordering: .acquiring) || named.contains { $0 === self })
    }

    /// The data source, if it completes saves; nil after it was released.
    nonisolated var completer: (any SaveCompleting)? { weakCompleter.withLock(\.object) }

    // MARK: For tests

    package var registeredObjectCount: Int { context.registeredObjectCount }
    package var registeredByteCount: Int { context.registeredByteCount }
    package var registeredByteCountCheck: (tracked: Int, recomputed: Int) { context.registeredByteCountCheck }
    package var rowsTested: Int { context.rowsTested }
    package func forgetObjects() { context.forgetObjects() }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// The calls that run work in the private context.
extension PrivateTier {
    /// Runs the work on the queue, saves its edits, and returns when the save has reached the requested level.
    ///
    /// On the main actor, the call also waits until the main context and its lists show the save.
    ///
    /// - Parameters:
    ///   - values: The number of values that the work handles; 0 for work that only reads.
    ///   - deletes: Whether delete rules may change rows of other data sources. If true, batches of these data sources wait
    ///     during the call. If false, the save fails if delete rules reach such rows.
    nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel, values: Int = 1, deletes: Bool = true, kind: HistoryKind = .local,
        _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        let scope: BatchScope = values == 0 ? .nothing : deletes ? .reach : .own
        // If earlier calls with a callback are waiting, lock the same queues as these calls, so that the earlier calls run
        // first.
        let call = TierCall(
            [self], scope, blocksReach: waitingJobs.load(ordering: .acquiring) > 0, kind: kind)
        return try await call.perform(waitFor: level, values: values) { try work($0[0]) }
    }

    /// Runs the work, checks its edits as a save would, and discards the edits.
    nonisolated func performDryRun<Result: Sendable>(
        values: Int, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        try await TierCall([self], .reach).dryRun(values: values) { try work($0[0]) }
    }

    /// Runs the work on the queue, saves its edits, and blocks until the save is in the store.
    ///
    /// On the main thread, objects and fetches of the main context show the save when the call returns. Lists show the
    /// save later, when the main actor is free.
    nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "performAndWait of \(owner) was called inside a private context or container.read, and could wait for itself. In a hook or perform { }, use the context that is passed in, and write to other data sources afterwards."
        )
        try stack.root.admission.enterAndWait(1)
        defer { if MainQueue.isCurrent { MainActor.assumeIsolated { stack.mainNotifier.mergeObjects() } } }
        let saved: SavedWork<Result>
        do {
            defer { stack.root.admission.leave(1) }
            let call = TierCall([self], .reach)
            saved = try call.runAndWait { try $0.save(isAwaited: true) { try work($0[0]) } }
        }
        if let number = saved.uncommitted { try stack.root.waitUntilCommitted(number) }
        return saved
    }

    /// Enqueues the work after all earlier calls, and returns at once.
    ///
    /// The callback runs on the main actor, after the save is in the store, and after the main context and its lists
    /// show the save.
    nonisolated func performLater<Result: Sendable>(
        values: Int = 1, deletes: Bool = true, kind: HistoryKind = .local,
        _ work: @escaping @Sendable (PrivateContext) throws -> Result,
        callback: @escaping @MainActor @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void
    ) {
        let notifier = stack.mainNotifier
        let admission = stack.root.admission
        do throws(DataSourceError) { try admission.enterNow(values) } catch {
            return notifier.callBack(afterMerge: false) { callback(.failure(error)) }
        }
        let finish: @Sendable (Swift.Result<SavedWork<Result>, any Error>) -> Void = { result in
            notifier.callBack(afterMerge: true) {
                admission.forgetValues(values)
                callback(result)
            }
        }
        // Calls with a callback must keep their order. So all of them lock the same queues, even if a call deletes nothing.
        let call = TierCall([self], deletes ? .reach : .own, blocksReach: true, kind: kind)
        waitingJobs.add(1, ordering: .acquiringAndReleasing)
        call.blocked[0].executor.enqueue {
            self.waitingJobs.subtract(1, ordering: .acquiringAndReleasing)
            let saved = Swift.Result {
                try call.runInOrder { try $0.save(isAwaited: true) { try work($0[0]) } }
            }
            admission.endBatch()
            guard case .success(let work) = saved, let number = work.uncommitted else { return finish(saved) }
            self.stack.root.whenCommitted(number) { committed in
                finish(committed.map { work }.mapError { $0 })
            }
        }
    }

    /// Runs the body with the call on this queue, while the queues of the call's other tiers are blocked.
    func run<R: Sendable>(
        _ call: TierCall, _ body: @Sendable (TierCall) throws -> R
    ) -> Swift.Result<R, any Error> {
        Swift.Result { try call.withBlockedQueues(call.blocked.dropFirst()) { try body(call) } }
    }
}

/// A context that is used only on its queue.
///
/// Guarded by: the queue of its tier. A save over several data sources blocks the queues of all these data sources. An actor
/// cannot express such a lock.
struct ContextBox: @unchecked Sendable {
    let context: PrivateContext
}

/// The leases that batches of a data source need.
struct TierLeases: Sendable {
    /// The leases of batches that change only owned entities. If another entity shares a uniqueness constraint with an owned
    /// entity, the lease of the other entity is included. The batch checks the constraint in the tables of all these
    /// entities, so no other member may change the tables meanwhile.
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
