package import RowStore

/// The leases of a container, the batches that use these leases, and the members and batches that wait for leases.
///
/// The state only decides; ``LeaseKeeper`` acts.
package struct LeaseState {
    /// The last answer of the store.
    private(set) var table = LeaseTable(version: -1, leases: [], tickets: [])
    /// The number of resets of the store. Answers that were requested before a reset are ignored.
    package private(set) var generation = 0
    var leases: [Int: HeldLease] = [:]
    /// The entities whose leases other members wait for.
    var requestedEntities: Set<Int> = []
    /// The time at which each unanswered ticket of another member was first seen, by the number of the ticket.
    var unanswered: [Int64: ContinuousClock.Instant] = [:]
    private var waits: [LeaseWait] = []
    /// Whether a hand-over is running.
    var isHandingOver = false
    /// Whether another hand-over was requested since the running hand-over began.
    var isHandOverRequested = false
    /// The time of the next scheduled check whether to hand over leases; nil if no check is scheduled.
    var timer: ContinuousClock.Instant?
    /// The newest version of the table that is known to exist.
    private var newest: Int64 = -1
    /// The time just before the last read by which the store has confirmed that the table is the newest.
    private var confirmed: ContinuousClock.Instant?

    struct HeldLease {
        let epoch: Int64
        let since: ContinuousClock.Instant
        /// The last time at which a batch stopped using the lease, or at which a save under the lease was pending.
        var lastUse: ContinuousClock.Instant
        /// The number of batches that use the lease.
        var users = 0
        /// The batch that uses the lease, or the first of several such batches; nil after the batch was reported as a long one.
        var batch: LongBatch?
        /// Whether the lease is being handed over. If true, no batch may use the lease.
        var isLeaving = false
        /// The ``LeaseTrust/number`` when the saves of the earlier holders were read; nil if these saves were not read.
        var followed: Int?
    }

    package init() {}

    // MARK: Batches

    /// Lets a batch use leases, if the container has all the leases.
    ///
    /// A lease that another member waits for can be used until this container's turn ends.
    package mutating func use(
        _ entities: [Int], for source: String = "", _ times: LeaseTimes = LeaseTimes()
    ) -> LeaseUse? {
        var isRequested = false
        for entity in entities {
            guard let lease = leases[entity], !lease.isLeaving else { return nil }
            isRequested = isRequested || requestedEntities.contains(entity)
        }
        if isRequested, !isTurn(of: entities, times, at: .now) { return nil }
        return begin(entities, for: source)
    }

    /// Whether this container may still use leases that other members wait for.
    private func isTurn(of entities: [Int], _ times: LeaseTimes, at now: ContinuousClock.Instant) -> Bool {
        entities.allSatisfy { entity in
            guard requestedEntities.contains(entity), let lease = leases[entity] else { return true }
            return now - lease.since < times.turn && !isPromised(entity)
        }
    }

    private mutating func begin(_ entities: [Int], for source: String) -> LeaseUse {
        let batch = LongBatch(source: source, begin: .now)
        let epochs = entities.compactMap { entity -> LeaseEpoch? in
            guard let epoch = leases[entity]?.epoch else { return nil }
            if leases[entity]?.users == 0 { leases[entity]?.batch = batch }
            leases[entity]?.users += 1
            return LeaseEpoch(entity: entity, epoch: epoch)
        }
        return LeaseUse(epochs: epochs, generation: generation)
    }

    /// Ends the use of leases by a batch.
    ///
    /// - Returns: Whether other members wait for one of the leases.
    package mutating func endUse(_ use: LeaseUse) -> Bool {
        var isRequested = false
        // After a reset, the epochs of the store start again, so ignore a use from before the reset.
        guard use.generation == generation else { return false }
        // If a lease was lost and taken again, its new epoch belongs to other batches.
        for lease in use.epochs where leases[lease.entity]?.epoch == lease.epoch {
            leases[lease.entity]?.users -= 1
            leases[lease.entity]?.lastUse = .now
            if requestedEntities.contains(lease.entity) { isRequested = true }
        }
        return isRequested
    }

    /// True if the saves of all earlier holders of the leases were read, and this read is still valid.
    ///
    /// - Parameter trust: The current ``LeaseTrust/number``.
    package func isFollowed(_ use: LeaseUse, trust: Int) -> Bool {
        use.generation == generation
            && use.epochs.allSatisfy { leases[$0.entity]?.epoch == $0.epoch && leases[$0.entity]?.followed == trust }
    }

    /// Whether the container has the leases of all these entities, and has read the saves of the earlier holders.
    package func isFollowed(_ entities: Set<Int>, trust: Int) -> Bool {
        entities.allSatisfy { leases[$0]?.followed == trust }
    }

    /// Records that the saves of the earlier holders of the leases were read.
    ///
    /// - Parameter trust: The ``LeaseTrust/number`` before the read.
    package mutating func didFollow(_ use: LeaseUse, trust: Int) {
        guard use.generation == generation else { return }
        for lease in use.epochs where leases[lease.entity]?.epoch == lease.epoch {
            leases[lease.entity]?.followed = trust
        }
    }

    /// Records the version of the table in the store.
    package mutating func record(_ version: Int64, at requested: ContinuousClock.Instant) {
        newest = max(newest, version)
        if version == table.version { confirmed = max(confirmed ?? requested, requested) }
    }

    /// Whether the store has a newer table, or may have one.
    package var isBehind: Bool { table.version < newest }

    /// Whether the container still has the leases that the batch uses.
    func holds(_ use: LeaseUse) -> Bool { use.generation == generation && lost(of: use) == nil }

    /// Returns an entity whose lease the batch uses but the container has lost. Nil if no lease is lost, and for a batch that
    /// began before a reset.
    func lost(of use: LeaseUse) -> Int? {
        if use.generation != generation { return nil }
        return use.epochs.first { leases[$0.entity]?.epoch != $0.epoch }?.entity
    }

    /// Whether the store has confirmed the table after the given time.
    package func isConfirmed(since time: ContinuousClock.Instant) -> Bool { confirmed.map { $0 > time } ?? false }

    // MARK: Waiting

    /// Adds a waiting batch. The leases must already be requested from the store.
    mutating func add(_ wait: LeaseWait) { waits.append(wait) }

    /// Removes a waiting batch.
    ///
    /// - Returns: Whether the batch was still waiting.
    mutating func remove(_ wait: LeaseWait) -> Bool {
        guard let index = waits.firstIndex(where: { $0 === wait }) else { return false }
        waits.remove(at: index)
        return true
    }

    /// Lets a waiting batch continue if its ticket is no longer in the table: the batch has got its leases, or must request
    /// them again.
    mutating func serve() {
        for wait in waits where !isWaiting(wait) {
            let wanted = wait.entities.map { leases[$0] }
            // A lease that was given and then lost must be requested again.
            let isLost = wanted.contains { $0 == nil }
            if !isLost, wanted.contains(where: { $0?.isLeaving ?? false }) { continue }
            wait.end(isLost ? nil : begin(wait.entities, for: wait.source))
            waits.removeAll { $0 === wait }
        }
    }

    private func isWaiting(_ wait: LeaseWait) -> Bool {
        guard let ticket = wait.ticket else { return false }
        // The numbers of tickets are never reused, so this cannot be the ticket of another batch.
        return table.tickets.contains { $0.number == ticket }
    }

    /// Whether the lease was given to a batch that has not begun.
    func isPromised(_ entity: Int) -> Bool {
        waits.contains { $0.entities.contains(entity) && !isWaiting($0) }
    }

    // MARK: Following

    /// Applies an answer of the store. Ignores the answer if a newer answer is known, or if the store was reset after the read
    /// began.
    ///
    /// - Parameters:
    ///   - generation: The generation just before the read.
    ///   - time: The time just before the read.
    package mutating func apply(
        _ table: LeaseTable, own: Int64, requested generation: Int, at time: ContinuousClock.Instant
    ) {
        guard generation == self.generation, table.version >= self.table.version else { return serve() }
        // If there is no version here, any version is accepted: a store that has lost its newest state may have an older
        // version than `newest`.
        newest = self.table.version < 0 ? table.version : max(newest, table.version)
        self.table = table
        record(table.version, at: time)
        let now = ContinuousClock.now
        var leases: [Int: HeldLease] = [:]
        for lease in table.leases where lease.holder.number == own {
            let known = self.leases[lease.entity].flatMap { $0.epoch == lease.epoch ? $0 : nil }
            leases[lease.entity] = known ?? HeldLease(epoch: lease.epoch, since: now, lastUse: now)
        }
        self.leases = leases
        let others = table.tickets.filter { $0.member.number != own }
        requestedEntities = others.reduce(into: []) { $0.formUnion($1.entities) }
        var unanswered: [Int64: ContinuousClock.Instant] = [:]
        for ticket in others where !ticket.isAnswered && ticket.entities.contains(where: { leases[$0] != nil }) {
            unanswered[ticket.number] = self.unanswered[ticket.number] ?? now
        }
        self.unanswered = unanswered
        serve()
    }

    /// Accepts the next table, whatever its version is. The saves of earlier holders must then be read again.
    package mutating func acceptAnyVersion() {
        table = LeaseTable(version: -1, leases: table.leases, tickets: table.tickets)
        (newest, confirmed) = (max(newest, 0), nil)
        for entity in leases.keys { leases[entity]?.followed = nil }
    }

    /// Forgets everything, after a reset of the store.
    package mutating func forget() {
        generation += 1
        table = LeaseTable(version: -1, leases: [], tickets: [])
        (leases, requestedEntities, unanswered, confirmed, newest) = ([:], [], [:], nil, -1)
        for wait in waits { wait.end(nil) }
        waits = []
    }
}

/// The hand-over of leases to the members that wait for them.
extension LeaseState {
    /// Begins a hand-over if other members wait for a lease of this container.
    ///
    /// - Returns: Whether to begin. If false, no member waits for a lease, or the running hand-over will check once more.
    mutating func beginHandOver() -> Bool {
        guard requestedEntities.contains(where: { leases[$0] != nil }) else { return false }
        isHandOverRequested = isHandingOver
        defer { isHandingOver = true }
        return !isHandingOver
    }

    /// - Returns: Whether another hand-over was requested during this hand-over.
    mutating func endHandOver() -> Bool {
        isHandingOver = false
        defer { isHandOverRequested = false }
        return isHandOverRequested
    }

    /// The entities whose leases this container has and other members wait for.
    var requestedHeldEntities: Set<Int> { requestedEntities.filter { leases[$0] != nil } }

    /// The next actions for the members that wait.
    package struct Step {
        /// The leases to hand over. No batch uses these leases, and no batch may begin to use them.
        package var leaving: [Int] = []
        /// Tickets of other members that must be answered now.
        var unanswered: [Int64] = []
        /// The batches that use leases for which the tickets in ``unanswered`` wait. Each batch is reported only once.
        var longBatches: [LongBatch] = []
        /// The time until the next check; nil to wait for a change.
        package var delay: Duration?
    }

    /// - Parameter pending: The entities with pending saves under their leases.
    package mutating func nextStep(
        at now: ContinuousClock.Instant, _ times: LeaseTimes, pending: Set<Int>
    ) -> Step {
        var step = Step()
        for entity in requestedEntities.sorted() {
            guard let lease = leases[entity], lease.users == 0, !lease.isLeaving, !isPromised(entity) else { continue }
            var rest = times.turn - (now - lease.since)
            let lastUse = pending.contains(entity) ? now : lease.lastUse
            leases[entity]?.lastUse = lastUse
            rest = min(rest, times.pause - (now - lastUse))
            if rest > .zero {
                step.delay = min(step.delay ?? rest, rest)
            } else {
                leases[entity]?.isLeaving = true
                step.leaving.append(entity)
            }
        }
        let answers = nextAnswers(at: now, times)
        (step.unanswered, step.longBatches) = (answers.unanswered, answers.longBatches)
        if let delay = answers.delay { step.delay = min(step.delay ?? delay, delay) }
        return step
    }

    /// Whether any lease is being handed over. Saves under such a lease are committed first.
    var isHandingOverAnyLease: Bool { leases.values.contains { $0.isLeaving } }

    /// Returns the answers that are due, and the long batches to report.
    mutating func nextAnswers(at now: ContinuousClock.Instant, _ times: LeaseTimes) -> Step {
        var step = Step()
        for (ticket, since) in unanswered {
            let rest = times.answer / 4 - (now - since)
            if rest > .zero {
                step.delay = min(step.delay ?? rest, rest)
            } else {
                step.unanswered.append(ticket)
                unanswered[ticket] = nil
                step.longBatches += takeLongBatches(ticket)
            }
        }
        return step
    }

    private mutating func takeLongBatches(_ ticket: Int64) -> [LongBatch] {
        let entities = table.tickets.first { $0.number == ticket }?.entities ?? []
        var batches: [LongBatch] = []
        for entity in entities {
            guard let lease = leases[entity], lease.users > 0, let batch = lease.batch else { continue }
            batches.append(batch)
            for entity in leases.keys where leases[entity]?.batch == batch { leases[entity]?.batch = nil }
        }
        return batches
    }

    /// Returns those of the given leases that can be released now, and keeps the others.
    ///
    /// - Parameter isPending: Whether any saves under the leases are still pending. If true, all leases are kept.
    mutating func confirm(_ leaving: [Int], isPending: Bool) -> [Int] {
        let given =
            isPending ? [] : leaving.filter { requestedEntities.contains($0) && leases[$0] != nil && !isPromised($0) }
        keep(leaving.filter { !given.contains($0) })
        return given
    }

    /// Whether no batch uses the lease of an entity. For tests.
    package func isIdle(_ entity: Int) -> Bool { leases[entity]?.users == 0 }

    /// Stops the hand-over of leases, so that batches can use them again.
    mutating func keep(_ entities: [Int]) {
        for entity in entities { leases[entity]?.isLeaving = false }
        serve()
    }

    /// - Returns: Whether the caller must schedule a check at `time`. If false, a check at `time` or earlier is already
    ///   scheduled.
    mutating func setTimer(_ time: ContinuousClock.Instant) -> Bool {
        if let timer, timer <= time { return false }
        timer = time
        return true
    }

    mutating func clearTimer(_ now: ContinuousClock.Instant) {
        if let timer, timer <= now { self.timer = nil }
    }
}
