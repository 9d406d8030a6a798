internal import RowStore

/// The turns of the processes that share a store: only one of them at a time requests the list of a scope.
///
/// The process with the lease of the scope has the turn. If this process ends, the lease is free. The process can also hang.
/// So if it stores nothing, each waiting process waits only up to its own time limit. Of several processes that have waited,
/// one takes over, and the others wait for that one. The lease only prevents unnecessary requests: of two answers to the same
/// scope, the store takes one, whichever process has the lease.
struct ScopeTurn: Sendable {
    let root: RootTier
    let id: ScopeID
    /// The name of the data source.
    let source: String
    /// The longest wait for another process that stores nothing.
    let timeLimit: Duration

    /// The longest time limit of a load: a week. Timers do not accept all durations.
    static let longestWait = Duration.seconds(604_800)

    /// The longest time between two checks whether the lease is free.
    private static let pollInterval = Duration.milliseconds(250)

    /// Runs a load in the turn of this process.
    ///
    /// - Parameters:
    ///   - isEnough: Whether the load is no longer needed, because another process has changed what the store knows of
    ///     the scope. The first argument is what the store knew when this call began.
    ///   - didProgress: Called when the process with the turn has stored another page, or when another process takes the turn.
    /// - Throws: Errors of the closures; errors of the store; `CancellationError`.
    func run(
        isEnough: (_ before: StoredScope?, _ now: StoredScope?) throws -> Bool, didProgress: () -> Void,
        _ load: () async throws -> Void
    ) async throws {
        guard let keeper = root.leases, let store = keeper.sharing as? any LeaseStore else { return try await load() }
        let before = try root.stored(id)
        let limit = min(max(timeLimit, .zero), ScopeTurn.longestWait)
        var (seen, holder): (Int64, Int64?) = (before?.answer ?? 0, nil)
        var end = ContinuousClock.now + limit
        while true {
            let isLate = ContinuousClock.now >= end
            switch await take(store, keeper, overtaking: isLate ? holder : nil) {
            case .taken(let epoch):
                defer { release(epoch, store, keeper) }
                // The previous holder may have stored its answer after the last check.
                if holder != nil, try isEnough(before, try newest()) { return }
                return try await load()
            case .held(let epoch):
                // Give each new holder the whole time.
                if epoch != holder {
                    (holder, end) = (epoch, ContinuousClock.now + limit)
                    didProgress()
                }
            // The store cannot say who has the lease.
            case nil: return try await load()
            }
            try await root.scopes.waitForChange(ScopeTurn.pollInterval, root.scheduling)
            let now = try newest()
            if try isEnough(before, now) { return }
            // The holder has stored another page, so give it the whole time again.
            if now?.answer ?? 0 != seen {
                (seen, end) = (now?.answer ?? 0, ContinuousClock.now + limit)
                didProgress()
            }
        }
    }

    private func newest() throws(DataSourceError) -> StoredScope? {
        root.scopes.forget(id.name.string)
        return try root.stored(id)
    }

    /// - Returns: The lease, or the epoch of its holder; nil if the store cannot be written. In that case, the load fails
    ///   when it stores its answer.
    private func take(_ store: any LeaseStore, _ keeper: LeaseKeeper, overtaking epoch: Int64?) async -> ScopeLease? {
        await withCheckedContinuation { continuation in
            keeper.scopeQueue.async {
                continuation.resume(
                    returning: try? store.takeLease(ofScope: id.name.string, for: source, overtaking: epoch))
            }
        }
    }

    /// Nobody waits for the release. If it fails, the lease is free when this process closes the store.
    private func release(_ epoch: Int64, _ store: any LeaseStore, _ keeper: LeaseKeeper) {
        keeper.scopeQueue.async { [name = id.name.string] in try? store.releaseLease(ofScope: name, epoch: epoch) }
    }
}
