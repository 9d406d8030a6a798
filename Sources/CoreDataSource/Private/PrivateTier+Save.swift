internal import Foundation
internal import RowStore

/// Work that was done and saved.
struct SavedWork<Result: Sendable>: Sendable {
    let result: Result
    let report: SaveReport
    /// The number of the save; nil if there was nothing to save, or if it is in the store already.
    let uncommitted: Int64?
}

extension PrivateTier {
    /// Runs the work and saves what it edited; if it throws, nothing has happened.
    ///
    /// - Parameter isAwaited: Whether the caller waits for the store. If so, and if nobody waits for this context, the save is
    ///   committed here and now. Otherwise the root commits it soon, with all others that come in meanwhile.
    func save<Result: Sendable>(
        isAwaited: Bool, _ work: (PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        let (result, changes, number) = try Batch(context, source).run(isAwaited: isAwaited, work)
        return try finish(result, changes, number, isAwaited: isAwaited, isWaitedFor: executor.hasWaitingJobs)
    }

    /// Runs the work with the contexts of several data sources and makes one save of what they edited.
    static func perform<Result: Sendable>(
        in tiers: [PrivateTier], waitFor level: SaveLevel, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> SavedWork<Result> {
        // Everybody takes the queues in this order, so that no two calls wait for each other.
        var held: [PrivateTier] = []
        for tier in tiers.sorted(by: { $0.place < $1.place }) where held.last !== tier { held.append(tier) }
        guard let first = held.first else {
            preconditionFailure("perform(in:) was called without a data source. Name at least one.")
        }
        return try await first.enter(waitFor: level, values: 1) { isAwaited in
            try await first.save(in: tiers, holding: held, isAwaited: isAwaited, work)
        }
    }

    private func save<Result: Sendable>(
        in tiers: [PrivateTier], holding held: [PrivateTier], isAwaited: Bool,
        _ work: @Sendable ([PrivateContext]) throws -> Result
    ) throws -> SavedWork<Result> {
        func hold(_ next: Int) throws -> SavedWork<Result> {
            if next < held.count { return try held[next].executor.runAndWait { try hold(next + 1) } }
            stack.unite(held.map(\.source))
            let contexts = tiers.map(\.held.context)
            let (result, changes, number) = try Batch(context, source, with: held.dropFirst().map(\.held.context))
                .run(isAwaited: isAwaited) { _ in try work(contexts) }
            return try finish(
                result, changes, number, isAwaited: isAwaited,
                isWaitedFor: held.contains { $0.executor.hasWaitingJobs })
        }
        return try hold(1)
    }

    /// - Parameter isWaitedFor: Whether anybody waits for a context of the save.
    private func finish<Result: Sendable>(
        _ result: Result, _ changes: ChangeSet, _ number: Int64, isAwaited: Bool, isWaitedFor: Bool
    ) throws -> SavedWork<Result> {
        let report = SaveReport(changes)
        guard number > 0 else { return SavedWork(result: result, report: report, uncommitted: nil) }
        if !isAwaited || isWaitedFor {
            stack.root.commitSoon()
            return SavedWork(result: result, report: report, uncommitted: number)
        }
        let isCommitted = try stack.root.commitInPlace(number)
        return SavedWork(result: result, report: report, uncommitted: isCommitted ? nil : number)
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    func rehearse<Result: Sendable>(_ work: @Sendable (PrivateContext) throws -> Result) throws -> Result {
        try Batch(context, source).rehearse(work)
    }
}
