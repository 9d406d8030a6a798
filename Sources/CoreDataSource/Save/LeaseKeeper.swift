internal import Dispatch
package import RowStore

/// The leases of one container in a shared store.
///
/// A batch uses the leases of all entities that it can change, for its whole duration. The container keeps an unused lease
/// until another member requests the lease. The container then hands over the lease as soon as ``LeaseTimes/turn`` has
/// passed, or no batch has used the lease for ``LeaseTimes/pause``. This takes three steps: no new batch uses the lease, the
/// pending saves under the lease are committed, and the lease is released.
/// under the lease are committed, and the lease is released.
///
/// The store decides which member has a lease. The state here is a copy of the state in the store, and is updated in the order
/// of the store's versions.
package final class LeaseKeeper: Sendable {
    let sharing: any StoreSharing
    private let layout: ModelLayout
    private let scheduling: WorkScheduling
    private let queue: any WorkQueue
    /// The queue on which leases of scopes are taken and released.
    let scopeQueue: any WorkQueue
    private let state = Guarded(LeaseState())
    private let committer = Guarded(Committer())

    private struct Committer {
        weak var root: RootTier?
    }

    init(_ sharing: any StoreSharing, _ layout: ModelLayout, _ scheduling: WorkScheduling) {
        self.sharing = sharing
        self.layout = layout
        self.scheduling = scheduling
        queue = scheduling.makeQueue("CoreDataSource.leases", false)
        scopeQueue = scheduling.makeQueue("CoreDataSource.scopes", false)
    }

    func connect(_ root: RootTier) { committer.withLock { $0.root = root } }

    /// The tier that commits the pending saves of a lease before the lease is handed over.
    private var root: RootTier? { committer.withLock { $0.root } }

    // MARK: Batches

    /// Takes the leases of entities for a batch, and waits for the leases if necessary. Call ``endUse(_:)`` at the end of the
    /// batch.
    ///
    /// - Parameters:
    ///   - source: The name of the data source that runs the batch.
    ///   - owner: Returns the name of the data source that owns an entity; nil if there is none.
    /// - Throws: `leaseUnavailable` if another member does not hand over a lease in time; errors of the store.
    func use(
        _ entities: LeaseSet, for source: String, owner: (Int) -> String?
    ) throws(DataSourceError) -> LeaseUse {
        if let use = state.withLock({ $0.use(entities.entities, for: source, sharing.leaseTimes) }) { return use }
        let end = ContinuousClock.now + sharing.leaseTimes.patience
        var isAnotherTry = false
        while true {
            let (generation, requested) = (generation, ContinuousClock.now)
            // The store may have lost its newest state. Then the state here was newer than the store's answer to the previous
            // try, and the answer was ignored. So accept the next answer, whatever its version.
            if isAnotherTry { acceptAnyVersion() }
            isAnotherTry = true
            let (ticket, table) = try takeLeases(entities, for: source, owner)
            let wait = LeaseWait(entities.entities, for: source, ticket: ticket)
            state.withLock { state in
                state.add(wait)
                state.apply(table, own: sharing.member.number, requested: generation, at: requested)
            }
            handOverSoon()
            try waitFor(wait, until: end)
            if let use = wait.use { return use }
            if ContinuousClock.now >= end { throw leaseUnavailable(entities.entities) }
        }
    }

    private func takeLeases(
        _ entities: LeaseSet, for source: String, _ owner: (Int) -> String?
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        // A custom store keeps only one name for all leases of a call.
        guard let store = sharing as? any LeaseStore else {
            return try sharing.takeLeases(entities.entities, for: source)
        }
        return try store.takeLeases(
            entities.entities, for: source, owners: entities.entities.map { owner($0) ?? source })
    }

    /// Reads the saves of the earlier holders of the leases, so that hooks work on the newest rows.
    ///
    /// The container has the leases now, so other members can no longer change the entities of the batch. If reading their saves
    /// costs a round trip, ``StoreSharing/trust`` of the store says how long the last read remains valid.
    ///
    /// - Returns: Whether the container still has the leases. If false, take the leases again.
    /// - Throws: Errors of the store.
    func follow(before use: LeaseUse) throws(DataSourceError) -> Bool {
        let trust = sharing.trust
        if isTrusted(trust, { $0.isFollowed(use, trust: $1) }) { return true }
        try root?.follow(to: nil)
        if state.withLock({ $0.isBehind }) { try current() }
        return state.withLock { state in
            if let trust { state.didFollow(use, trust: trust.number) }
            return state.holds(use)
        }
    }

    /// Reads the saves of other members before a batch that only reads. Does nothing if the last read is still valid, and this
    /// container has had the leases of all the entities since then.
    ///
    /// - Throws: Errors of the store.
    func follow(beforeReading entities: Set<Int>) throws(DataSourceError) {
        if isTrusted(sharing.trust, { $0.isFollowed(entities, trust: $1) }) { return }
        try root?.follow(to: nil)
    }

    private func isTrusted(_ trust: LeaseTrust?, _ isFollowed: (LeaseState, Int) -> Bool) -> Bool {
        guard let trust else { return false }
        let now = ContinuousClock.now
        // A container that does not answer for `leaseTimes.answer` counts as stopped. Then another member gets the requested
        // lease, and this container might not notice it. So trust the leases for a shorter time only.
        let unanswered = sharing.leaseTimes.answer * 3 / 4
        return state.withLock {
            now < trust.end && $0.isConfirmed(since: now - unanswered) && isFollowed($0, trust.number)
        }
    }

    /// Checks in the store that a batch still has its leases. If the store cannot be read, uses the last answer of the store.
    ///
    /// - Throws: `leaseLost` if a lease is lost.
    func checkLeases(of use: LeaseUse) throws(DataSourceError) {
        _ = try? current()
        guard let lost = state.withLock({ $0.lost(of: use) }) else { return }
        throw DataSourceError(lostLeaseOf: layout.entities[lost].name)
    }

    /// Ends the use of leases, after the batch has ended.
    func endUse(_ use: LeaseUse) {
        if state.withLock({ $0.endUse(use) }) { handOverSoon() }
    }

    /// The time between two checks whether the holders of the leases are alive.
    private static let pollInterval = DispatchTimeInterval.milliseconds(250)

    /// Blocks until the leases are given, or until the leases must be requested again.
    ///
    /// - Throws: `storeClosed`. If the wait lasts until `end`: the error of the last check of the leases, if the check has
    ///   failed, and otherwise `leaseUnavailable`.
    private func waitFor(_ wait: LeaseWait, until end: ContinuousClock.Instant) throws(DataSourceError) {
        while wait.arrived.wait(timeout: .now() + LeaseKeeper.pollInterval) != .success {
            var failure: DataSourceError?
            let isLastCheck = ContinuousClock.now >= end
            do throws(DataSourceError) {
                try updateTable { () throws(DataSourceError) in
                    try sharing.settleLeases(answered: [], withdrawn: nil)
                }
                if isLastCheck { failure = leaseUnavailable(wait.entities) }
            } catch {
                // If the store cannot be read, nobody knows whether another member still has the lease.
                if isLastCheck || error.code == .storeClosed { failure = error }
            }
            guard let failure, state.withLock({ $0.remove(wait) }) else { continue }
            // If the withdrawal fails, the ticket stays. This container then gets the leases later, and hands over the leases
            // when others request them.
            if let ticket = wait.ticket {
                _ = try? updateTable { () throws(DataSourceError) in
                    try sharing.settleLeases(answered: [], withdrawn: ticket)
                }
            }
            throw failure
        }
    }

    private func leaseUnavailable(_ entities: [Int]) -> DataSourceError {
        let blocking = state.withLock { state in
            state.table.leases.first { lease in
                entities.contains(lease.entity) && lease.holder.number != sharing.member.number
            }
        }
        let name = blocking.map { layout.entities[$0.entity].name } ?? layout.entities[entities.first ?? 0].name
        let holder = blocking.map { "\($0.holder)" } ?? "Another process"
        return DataSourceError(
            .leaseUnavailable,
            "\(holder) is writing \(name)\(blocking.map { " for \($0.source)" } ?? "") and did not hand over the lease in time. "
                + "Try again later, or keep the batches of that process short.", entityName: name)
    }

    // MARK: Following

    /// Remembers which version of the leases the store has. If the state here is older, reads the leases.
    ///
    /// - Parameters:
    ///   - version: The version in the store.
    ///   - requested: The time just before the version was read.
    func record(_ version: Int64, at requested: ContinuousClock.Instant) {
        let isNew = state.withLock { state in
            state.record(version, at: requested)
            return state.isBehind
        }
        guard isNew else { return }
        queue.async { [weak self] in
            guard let self, self.state.withLock({ $0.table.version < version }) else { return }
            _ = try? self.current()
        }
    }

    private var generation: Int { state.withLock { $0.generation } }

    /// Runs a call that returns the leases of the store, and applies the leases to the state.
    @discardableResult
    private func updateTable(_ ask: () throws(DataSourceError) -> LeaseTable) throws(DataSourceError) -> LeaseTable {
        let (generation, requested) = (generation, ContinuousClock.now)
        let table = try ask()
        state.withLock { $0.apply(table, own: sharing.member.number, requested: generation, at: requested) }
        handOverSoon()
        return table
    }

    /// Forgets all leases, after a reset of the store.
    func forget() { state.withLock { $0.forget() } }

    /// Accepts the next answer of the store, whatever its version is, because the store may have lost its newest state.
    func acceptAnyVersion() { state.withLock { $0.acceptAnyVersion() } }

    /// Reads the leases from the store.
    @discardableResult
    func current() throws(DataSourceError) -> LeaseTable {
        try updateTable { () throws(DataSourceError) in try sharing.leases() }
    }

    // MARK: Handing over

    /// Begins to hand over the leases that other members wait for and that no batch uses.
    private func handOverSoon() {
        if state.withLock({ $0.beginHandOver() }) { queue.async { [weak self] in self?.handOver() } }
    }

    private func handOver() {
        // Query the root outside the lock, because the root has its own lock.
        let pending = state.withLock { $0.requestedHeldEntities }.filter { root?.hasPendingSaves(of: [$0]) ?? false }
        let step = state.withLock { $0.nextStep(at: .now, sharing.leaseTimes, pending: pending) }
        answer(step)
        guard !step.leaving.isEmpty, let root else { return endHandOver(nextAfter: step.delay) }
        root.flush { _ in self.queue.async { self.release(step.leaving, root) } }
        answerWhileFlushing()
    }

    /// Answers the tickets of waiting members repeatedly while a commit runs, because the commit may last longer than these
    /// members wait for an answer.
    private func answerWhileFlushing() {
        scheduling.after(sharing.leaseTimes.answer / 8) { [weak self] in
            guard let self else { return }
            self.queue.async { self.answerAgain() }
        }
    }

    private func answerAgain() {
        guard state.withLock({ $0.isHandingOverAnyLease }) else { return }
        answer(state.withLock { $0.nextAnswers(at: .now, sharing.leaseTimes) })
        answerWhileFlushing()
    }

    private func answer(_ step: LeaseState.Step) {
        if !step.unanswered.isEmpty { answer(step.unanswered) }
        for batch in step.longBatches { root?.failures.report(StoreFailure(batch)) }
    }

    /// Releases leases after a flush. If any save under these leases is still pending, keeps all of them.
    private func release(_ leaving: [Int], _ root: RootTier) {
        let isPending = root.hasPendingSaves(of: Set(leaving))
        let released = state.withLock { $0.confirm(leaving, isPending: isPending) }
        var delay = isPending ? LeaseKeeper.retryDelay : .zero
        if !released.isEmpty {
            do throws(DataSourceError) {
                try updateTable { () throws(DataSourceError) in try sharing.releaseLeases(released) }
            } catch {
                state.withLock { $0.keep(released) }
                delay = LeaseKeeper.retryDelay
                if error.code == .storeClosed { return endHandOver(nextAfter: nil) }
            }
        }
        endHandOver(nextAfter: delay)
    }

    /// The delay before the next try to hand over leases, after a commit or a release has failed.
    private static let retryDelay = Duration.milliseconds(100)

    private func answer(_ tickets: [Int64]) {
        _ = try? updateTable { () throws(DataSourceError) in
            try sharing.settleLeases(answered: tickets, withdrawn: nil)
        }
    }

    private func endHandOver(nextAfter delay: Duration?) {
        let (isHandOverRequested, isTimed) = state.withLock { state in
            (state.endHandOver(), delay.map { $0 > .zero && state.setTimer(.now + $0) } ?? false)
        }
        if isHandOverRequested || delay == .zero { handOverSoon() }
        guard isTimed, let delay else { return }
        scheduling.after(delay) { [weak self] in
            self?.state.withLock { $0.clearTimer(.now) }
            self?.handOverSoon()
        }
    }
}

/// The entities that a batch can change. The batch needs the leases of these entities.
final class LeaseSet: Sendable {
    /// In ascending order.
    let entities: [Int]

    init(_ entities: Set<Int>) {
        self.entities = entities.sorted()
    }
}

/// The leases that a batch uses.
package struct LeaseUse: Sendable, Hashable {
    package let epochs: [LeaseEpoch]
    /// The number of resets of the store before the batch.
    package let generation: Int

    package init(epochs: [LeaseEpoch], generation: Int) {
        self.epochs = epochs
        self.generation = generation
    }
}

/// A batch that waits for leases.
final class LeaseWait: Sendable {
    let entities: [Int]
    /// The name of the data source that waits.
    let source: String
    /// The ticket of the wait; nil if the leases were given at once.
    let ticket: Int64?
    /// Signaled when the leases are given, or when the leases must be requested again.
    let arrived = DispatchSemaphore(value: 0)
    private let taken = Guarded<LeaseUse?>(nil)

    init(_ entities: [Int], for source: String, ticket: Int64?) {
        self.entities = entities
        self.source = source
        self.ticket = ticket
    }

    /// The leases of the batch; nil if the leases must be requested again.
    var use: LeaseUse? { taken.withLock { $0 } }

    func end(_ use: LeaseUse?) {
        taken.withLock { $0 = use }
        arrived.signal()
    }
}
