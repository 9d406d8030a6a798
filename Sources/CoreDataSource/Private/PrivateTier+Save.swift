internal import Foundation
internal import RowStore

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
