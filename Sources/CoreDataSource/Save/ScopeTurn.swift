internal import RowStore

/// The turns of the processes that share a store: only one of them requests the list of a scope at the same time.
///
/// The lease of a scope gives the turn. If its holder ends, the lease is free. A holder may also hang, and neither answer nor
/// end, so nobody waits longer than its own time limit for a holder that stores nothing. The lease only saves requests: of two
/// answers to the same scope, the store takes one, whoever has the lease.
struct ScopeTurn: Sendable {
    let root: RootTier
    let id: ScopeID
    /// The name of the data source.
    let source: String
    /// The longest wait for another process that stores nothing.
    let timeLimit: Duration

    /// How long to wait at most before looking whether the lease is free.
    private static let pollInterval = Duration.milliseconds(250)

    private enum Lease {
        case taken(epoch: Int64)
        case held
        /// The store cannot say who has the lease.
        case unknown
    }

    /// Runs a load in the turn of this process.
    ///
    /// - Parameter isEnough: Whether the load is no longer needed, because another process has changed what the store knows of
    ///   the scope. The first argument is what the store knew when this call began.
    /// - Throws: Errors of both closures; errors of the store; `CancellationError`.
    func run(
        isEnough: (_ before: StoredScope?, _ now: StoredScope?) throws -> Bool, _ load: () async throws -> Void
    ) async throws {
        guard let keeper = root.leases, let store = keeper.sharing as? any LeaseStore else { return try await load() }
        let before = try root.stored(id)
        var (seen, isWaiting) = (before?.answer, false)
        var end = ContinuousClock.now + timeLimit
        while true {
            let lease = await take(store, keeper, isForced: ContinuousClock.now >= end)
            if case .taken(let epoch) = lease {
                defer { release(epoch, store, keeper) }
                // The last holder may have stored its answer after the last look.
                if isWaiting, try isEnough(before, try newest()) { return }
                return try await load()
            }
            guard case .held = lease else { return try await load() }
            isWaiting = true
            try await root.scopes.waitForChange(ScopeTurn.pollInterval, root.scheduling)
            let now = try newest()
            if try isEnough(before, now) { return }
            // The holder stores one page after the other.
            if now?.answer != seen { (seen, end) = (now?.answer, ContinuousClock.now + timeLimit) }
        }
    }

    private func newest() throws(DataSourceError) -> StoredScope? {
        root.scopes.forget(id.name)
        return try root.stored(id)
    }

    private func take(_ store: any LeaseStore, _ keeper: LeaseKeeper, isForced: Bool) async -> Lease {
        await withCheckedContinuation { continuation in
            keeper.scopeQueue.async {
                let taken = Result { () throws(DataSourceError) in
                    try store.takeLease(ofScope: id.name, for: source, isForced: isForced)
                }
                switch taken {
                case .success(let epoch?): continuation.resume(returning: .taken(epoch: epoch))
                case .success(nil): continuation.resume(returning: .held)
                // If the store cannot be written, the load fails when it stores its answer.
                case .failure: continuation.resume(returning: .unknown)
                }
            }
        }
    }

    /// Nobody waits for the release. If it fails, the lease is free when this process closes the store.
    private func release(_ epoch: Int64, _ store: any LeaseStore, _ keeper: LeaseKeeper) {
        keeper.scopeQueue.async { [name = id.name] in try? store.releaseLease(ofScope: name, epoch: epoch) }
    }
}
