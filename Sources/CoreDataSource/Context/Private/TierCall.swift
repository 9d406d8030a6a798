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
        let facts = tiers[0].stack.facts(kind, from: tiers[0].source, reversal: reversal, mark: mark)
        self.init(tiers, scope, facts, blocksReach: blocksReach)
    }

    /// - Parameter first: The lowest number of a tier whose queue the call may block.
    private init(
        _ tiers: [PrivateTier], _ scope: BatchScope, _ facts: SaveFacts, blocksReach: Bool, from first: Int = 0
    ) {
        (self.tiers, self.scope, self.facts) = (tiers, scope, facts)
        // Read the number before choosing, so that a tier that is registered meanwhile counts as new.
        knownTierCount = tiers[0].stack.tierRegistry.count
        blocked = scope == .reach || blocksReach ? TierCall.reached(tiers, from: first) : tiers
        participants = scope == .reach ? blocked : tiers
        unfinished = participants.filter { $0.completes && !$0.completesNow(tiers) }
        completion = scope == .reach ? SaveCompletion.of(participants, named: tiers) : nil
    }

    /// Makes a copy of the call that chooses its queues again, after the call has thrown ``NewTierReached``.
    private func choosingAgain(from first: Int = 0) -> TierCall {
        TierCall(tiers, scope, facts, blocksReach: false, from: first)
    }

    /// Returns the given tiers, and the tiers in which delete rules may change rows. The result is sorted: every call locks the
    /// queues in the same order, so that no two calls wait for each other.
    ///
    /// - Parameter first: The lowest number of a returned tier.
    private static func reached(_ tiers: [PrivateTier], from first: Int) -> [PrivateTier] {
        if tiers.count == 1, tiers[0].reach.isEmpty { return tiers }
        var blocked: [PrivateTier] = []
        var all = tiers + tiers.flatMap { $0.stack.tiers(owning: $0.reach) }
        addReached(by: tiers.count, &all)
        for tier in all.sorted(by: { $0.number < $1.number }) where blocked.last !== tier && tier.number >= first {
            blocked.append(tier)
        }
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
        let outcome = await run { try $0.begin(values) { try $0.save(isAwaited: level == .store, work) } }
        stack.root.admission.leave(values, hasBegun: true)
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
    ) async throws -> SavedWork<Result> {
        try await stack.root.admission.enter(values)
        let outcome = await run { try $0.begin(values) { try $0.dryRunOnQueues(work) } }
        stack.root.admission.leave(values, hasBegun: true)
        return try outcome.get()
    }

    /// Runs the batch of an admitted call. If the call must choose its queues again, its values wait again.
    private func begin<R>(_ values: Int, _ batch: (TierCall) throws -> R) throws -> R {
        stack.root.admission.beginBatch(values)
        do { return try batch(self) } catch {
            if error is NewTierReached { stack.root.admission.takeBackBatch(values) }
            throw error
        }
    }

    private func dryRunOnQueues<Result: Sendable>(
        _ work: ([PrivateContext]) throws -> Result
    ) throws -> SavedWork<Result> {
        try checkCompletion()
        let (result, changes) = try batch(leases: nil).dryRun { _ in try work(tiers.map(\.box.context)) }
        return SavedWork(
            result: result, report: SaveReport(changes, stack.layout), isSaved: false, uncommitted: nil)
    }

    // MARK: Queues

    /// Runs the body on the queues of the call. If the body throws ``NewTierReached``, leaves the queues, chooses them again, and
    /// runs the body with the new call.
    private func run<R: Sendable>(_ body: @Sendable (TierCall) throws -> R) async -> Result<R, any Error> {
        let outcome = await blocked[0].run(self, body)
        guard case .failure(let error) = outcome, error is NewTierReached else { return outcome }
        return await choosingAgain().run(body)
    }

    /// Does the same as ``run(_:)``, and blocks the thread.
    func runAndWait<R>(_ body: (TierCall) throws -> R) throws -> R {
        do {
            return try withBlockedQueues(blocked[...]) { try body(self) }
        } catch is NewTierReached {
            return try choosingAgain().runAndWait(body)
        }
    }

    /// Does the same as ``run(_:)``, but on the first queue of the call, which stays locked. Otherwise, a later call could begin
    /// first.
    ///
    /// The new call cannot lock queues that come before its first queue in the order of locking. If its delete rules reach the data
    /// source of such a queue, the save throws `entityNotOwned`.
    func runInOrder<R>(_ body: (TierCall) throws -> R) throws -> R {
        do {
            return try withBlockedQueues(blocked.dropFirst()) { try body(self) }
        } catch is NewTierReached {
            return try choosingAgain(from: blocked[0].number).runInOrder(body)
        }
    }

    /// Runs the body while the queues of the tiers are blocked.
    func withBlockedQueues<R>(_ tiers: ArraySlice<PrivateTier>, _ body: () throws -> R) rethrows -> R {
        guard let next = tiers.first else { return try body() }
        return try next.executor.runAndWait { try withBlockedQueues(tiers.dropFirst(), body) }
    }

    // MARK: Saving

    /// - Throws: ``NewTierReached`` if a data source that completes the save was still being made when the call chose its queues,
    ///   and is finished now; `storeClosed` if such a data source was released.
    private func checkCompletion() throws {
        if unfinished.contains(where: { $0.isMade.load(ordering: .acquiring) }) { throw NewTierReached() }
        try completion?.check()
    }

    /// Runs the work, and saves all its edits as one save, on the blocked queues. If the call throws, it changes nothing.
    ///
    /// - Parameter isAwaited: Whether the caller waits for the store. If true, and if no other call waits for a queue, the save
    ///   is committed on this thread. Otherwise the root commits the save soon, together with all other waiting saves.
    func save<Result: Sendable>(
        isAwaited: Bool, _ work: ([PrivateContext]) throws -> Result
    ) throws -> SavedWork<Result> {
        try checkCompletion()
        if participants.count > 1 { stack.mergeOrigins(participants.map(\.source)) }
        let contexts = tiers.map(\.box.context)
        let (result, changes, number) = try batch(leases: leases).run(isAwaited: isAwaited) { _ in try work(contexts) }
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
            facts: facts, reach: batchReach)
    }

    /// The entities that the delete rules of the batch reach; nil if they reach no other data source.
    private var batchReach: BatchReach? {
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

/// The outcome of work that was saved, or of a dry run.
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
