internal import RowStore
internal import Synchronization

/// A call that runs work and makes one save, in the contexts and on the queues of one or several tiers.
struct TierCall: Sendable {
    /// The tiers whose contexts the work gets, at least one.
    private let tiers: [PrivateTier]
    /// The tiers whose rows the save may change.
    private let participants: [PrivateTier]
    /// The tiers whose queues are blocked during the call: ``participants``, and maybe others.
    let blocked: [PrivateTier]
    /// The number of registered tiers when the call chose its queues.
    private let knownTierCount: Int
    private let scope: BatchScope
    /// The data sources that complete the save; nil if there are none.
    private let completion: SaveCompletion?
    /// The tiers whose data source would complete the save, but was still being made when the call chose its queues.
    private let unfinished: [PrivateTier]
    /// The author, the data source and the kind of the save, for the kept history and for loops over
    /// ``PersistentContainer/saves``.
    private let facts: SaveFacts

    private var stack: PersistentStack { tiers[0].stack }

    /// The author of the save is the author of the current task.
    ///
    /// - Parameters:
    ///   - blocksReach: Whether to block the queues of the tiers that delete rules reach, even if the save must not change
    ///     the rows of these tiers.
    ///   - kind: The kind of the save.
    ///   - reversal: The record that the save reverts; nil for any other save.
    ///   - mark: The mark by which a draft finds the records of its save, and of the undo and the redo of its save; nil for
    ///     other saves.
    init(
        _ tiers: [PrivateTier], _ scope: BatchScope = .reach, blocksReach: Bool = false, kind: HistoryKind = .local,
        reversal: SaveReversal? = nil, mark: DraftMark? = nil
    ) {
        // The hook of a data source that completes saves may delete objects, and then delete rules apply.
        let scope = scope == .own && tiers.contains(where: \.completes) ? .reach : scope
        self.tiers = tiers
        facts = tiers[0].stack.facts(kind, from: tiers[0].source, reversal: reversal, mark: mark)
        self.scope = scope
        knownTierCount = tiers[0].stack.tierRegistry.count
        blocked = scope == .reach || blocksReach ? TierCall.reached(tiers) : tiers
        participants = scope == .reach ? blocked : tiers
        unfinished = TierCall.unfinished(participants, named: tiers)
        completion = scope == .reach ? SaveCompletion.of(participants, named: tiers) : nil
    }

    /// Makes a copy of a call. The copy also blocks the queues of reached tiers that were registered after the call had chosen
    /// its queues. These queues come last in the order of locking, so the copy can lock them while the call's queues are held.
    private init(extending call: TierCall) {
        (tiers, facts, scope) = (call.tiers, call.facts, call.scope)
        knownTierCount = call.stack.tierRegistry.count
        let last = call.blocked[call.blocked.count - 1].number
        blocked = call.blocked + TierCall.reached(call.tiers).filter { $0.number > last }
        participants = blocked
        unfinished = TierCall.unfinished(blocked, named: call.tiers)
        completion = SaveCompletion.of(blocked, named: call.tiers)
    }

    private static func unfinished(_ tiers: [PrivateTier], named: [PrivateTier]) -> [PrivateTier] {
        tiers.filter { $0.completes && !$0.completesNow(named) }
    }

    /// Returns the given tiers, and the tiers in which delete rules may change rows. The result is sorted: every call locks the
    /// queues in the same order, so that no two calls wait for each other.
    private static func reached(_ tiers: [PrivateTier]) -> [PrivateTier] {
        if tiers.count == 1, tiers[0].reach.isEmpty { return tiers }
        var blocked: [PrivateTier] = []
        var all = tiers + tiers.flatMap { $0.stack.tiers(owning: $0.reach) }
        addReached(by: tiers.count, &all)
        for tier in all.sorted(by: { $0.number < $1.number }) where blocked.last !== tier { blocked.append(tier) }
        return blocked
    }

    /// The hooks of the tiers from `start` on may delete objects. Adds the tiers in which delete rules may then change rows, and
    /// does the same for each added tier.
    private static func addReached(by start: Int, _ all: inout [PrivateTier]) {
        var index = start
        while index < all.count {
            let tier = all[index]
            index += 1
            guard tier.completes else { continue }
            for reached in tier.stack.tiers(owning: tier.reach) where !all.contains(where: { $0 === reached }) {
                all.append(reached)
            }
        }
    }

    /// Waits for admission, runs the work, saves its edits, and waits until the save has reached the requested level.
    func perform<Result: Sendable>(
        waitFor level: SaveLevel, values: Int = 1, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> SavedWork<Result> {
        let isOnMain = isMainActor(#isolation)
        try await stack.root.admission.enter(values)
        let outcome = await blocked[0].run(self) { try save(isAwaited: level == .store, work) }
        stack.root.admission.leave(values)
        if case .failure = outcome, isOnMain && values > 0 { await stack.mainNotifier.mergeNow() }
        let saved = try outcome.get()
        var failure: (any Error)?
        if level == .store, let number = saved.uncommitted {
            do { try await stack.root.committed(number) } catch { failure = error }
        }
        // The main context may still show a failed save, so merge the rollback of the save.
        if level == .main || isOnMain && values > 0 { await stack.mainNotifier.mergeNow() }
        if let failure { throw failure }
        return saved
    }

    /// Waits for admission, runs the work, checks its edits as a save would, and discards the edits.
    func dryRun<Result: Sendable>(
        values: Int, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> Result {
        try await stack.root.admission.enter(values)
        let outcome = await blocked[0].run(self) { try dryRunOnQueues(work) }
        stack.root.admission.leave(values)
        return try outcome.get()
    }

    private func dryRunOnQueues<Result>(_ work: ([PrivateContext]) throws -> Result) throws -> Result {
        try completion?.check()
        do {
            return try batch(leases: nil).dryRun { _ in try work(tiers.map(\.box.context)) }
        } catch is NewTierReached {
            return try extended { try $0.dryRunOnQueues(work) }
        }
    }

    /// Runs the body while the queues of the tiers are blocked.
    func withBlockedQueues<R>(_ tiers: ArraySlice<PrivateTier>, _ body: () throws -> R) rethrows -> R {
        guard let next = tiers.first else { return try body() }
        return try next.executor.runAndWait { try withBlockedQueues(tiers.dropFirst(), body) }
    }

    /// Also blocks the queues of reached tiers that were registered after the call had chosen its queues. Then runs the body with
    /// the extended call.
    private func extended<R>(_ body: (TierCall) throws -> R) throws -> R {
        let call = TierCall(extending: self)
        return try call.withBlockedQueues(call.blocked.dropFirst(blocked.count)) { try body(call) }
    }

    /// Runs the work, and saves all its edits as one save, on the blocked queues. If the call throws, it changes nothing.
    ///
    /// - Parameter isAwaited: Whether the caller waits for the store. If true, and if no other call waits for a queue, the save
    ///   is committed on this thread. Otherwise the root commits the save soon, together with all other waiting saves.
    func save<Result: Sendable>(
        isAwaited: Bool, _ work: ([PrivateContext]) throws -> Result
    ) throws -> SavedWork<Result> {
        if unfinished.contains(where: { $0.isMade.load(ordering: .acquiring) }) {
            return try extended { try $0.save(isAwaited: isAwaited, work) }
        }
        try completion?.check()
        if participants.count > 1 { stack.mergeOrigins(participants.map(\.source)) }
        let contexts = tiers.map(\.box.context)
        let (result, changes, number): (Result, ChangeSet, SaveNumber)
        do {
            (result, changes, number) = try batch(leases: leases).run(isAwaited: isAwaited) { _ in try work(contexts) }
        } catch is NewTierReached {
            return try extended { try $0.save(isAwaited: isAwaited, work) }
        }
        let report = SaveReport(changes, stack.layout)
        guard number > .beforeFirst else {
            return SavedWork(result: result, report: report, isSaved: false, uncommitted: nil)
        }
        if !isAwaited || blocked.contains(where: { $0.executor.hasWaitingJobs }) {
            stack.root.commitSoon()
            return SavedWork(result: result, report: report, isSaved: true, uncommitted: number)
        }
        let isCommitted = try stack.root.commitInPlace(number)
        return SavedWork(result: result, report: report, isSaved: true, uncommitted: isCommitted ? nil : number)
    }

    /// The leases that a batch needs; nil for none.
    private var leases: LeaseSet? {
        if scope == .nothing || tiers[0].leases == nil { return nil }
        let changing = completion == nil ? tiers : tiers + participants.filter(\.completes)
        let sets = changing.compactMap { scope == .own ? $0.leases?.own : $0.leases?.reach }
        return sets.count == 1 ? sets[0] : LeaseSet(sets.reduce(into: []) { $0.formUnion($1.entities) })
    }

    private func batch(leases: LeaseSet?) -> Batch {
        let first = tiers[0]
        return Batch(
            first.box.context, first.source, with: participants.filter { $0 !== first }.map(\.box.context),
            workContexts: tiers.filter { $0 !== first }.map(\.box.context), leases: leases, completion: completion,
            facts: facts, reach: reach)
    }

    /// The entities that the delete rules of the batch reach; nil if they reach no other data source.
    private var reach: BatchReach? {
        // The hooks of data sources that complete the save may delete objects, and then delete rules apply.
        let reaching = completion == nil ? tiers : tiers + participants.filter(\.completes)
        if scope == .nothing || reaching.allSatisfy({ $0.reach.isEmpty }) { return nil }
        return BatchReach(
            stack.tierRegistry, reaching.map(\.reach), knownTierCount: scope == .reach ? knownTierCount : nil)
    }
}

extension PersistentStack {
    /// Returns the tiers of the data sources that own any of the entities.
    func tiers(owning entities: Set<Int>) -> [PrivateTier] {
        tierRegistry.owners(of: entities).compactMap { $0 as? PrivateTier }
    }
}

/// The outcome of work that was saved.
struct SavedWork<Result: Sendable>: Sendable {
    let result: Result
    let report: SaveReport
    /// Whether anything was saved.
    let isSaved: Bool
    /// The number of the save if it is not in the store yet; nil if there was nothing to save, or if the save is already in the
    /// store.
    let uncommitted: SaveNumber?
}

/// Whether the actor is the main actor. This is a separate function, because the compiler of Swift 6.3 crashes when it inlines
/// the comparison into an async function.
@inline(never)
func isMainActor(_ actor: (any Actor)?) -> Bool { actor === MainActor.shared }
