package import RowStore

/// Which leases a container has, which batches use them, and who waits for them. It is a value that decides, and does nothing.
package struct LeaseState {
    /// What the store said last.
    private(set) var table = LeaseTable(version: -1, leases: [], tickets: [])
    /// How often the store was reset. Older answers do not apply to the new store.
    package private(set) var generation = 0
    var held: [Int: Held] = [:]
    /// The entities that other containers wait for.
    var asked: Set<Int> = []
    /// When tickets of others were first seen, if they have not been answered.
    var unanswered: [Int64: ContinuousClock.Instant] = [:]
    private var waits: [LeaseWait] = []
    /// Whether something is being handed over.
    var isHandingOver = false
    /// Whether anything has changed since that began.
    var isMoreToDo = false
    /// When the next check is due.
    var timer: ContinuousClock.Instant?
    /// The newest version of the table that is known to exist.
    private var newest: Int64 = -1
    /// When the store was asked that said last that the table is the newest one.
    private var confirmed: ContinuousClock.Instant?

    struct Held {
        let epoch: Int64
        let since: ContinuousClock.Instant
        /// When a batch last used it, or a save under it was last seen to wait for the store.
        var lastUse: ContinuousClock.Instant
        /// How many batches use it.
        var users = 0
        /// The batch that uses it, or the first of several; nil once it was reported that others wait for it.
        var batch: LongBatch?
        /// Whether it is being handed over, so that no batch may use it.
        var isLeaving = false
        /// The ``LeaseTrust/number`` under which the saves of its earlier holders were taken in; nil if they were not.
        var followed: Int?
    }

    package init() {}

    // MARK: Batches

    /// Lets a batch use leases, if they are all here. One that another container waits for can be used until this container's turn ends.
    package mutating func use(
        _ entities: [Int], for source: String = "", _ times: LeaseTimes = LeaseTimes()
    ) -> LeaseUse? {
        var isAsked = false
        for entity in entities {
            guard let lease = held[entity], !lease.isLeaving else { return nil }
            isAsked = isAsked || asked.contains(entity)
        }
        if isAsked, !isTurn(of: entities, times, at: .now) { return nil }
        return begin(entities, for: source)
    }

    /// Whether this container may go on to use leases that others wait for.
    private func isTurn(of entities: [Int], _ times: LeaseTimes, at now: ContinuousClock.Instant) -> Bool {
        entities.allSatisfy { entity in
            guard asked.contains(entity), let lease = held[entity] else { return true }
            return now - lease.since < times.turn && !isPromised(entity)
        }
    }

    private mutating func begin(_ entities: [Int], for source: String) -> LeaseUse {
        let batch = LongBatch(source: source, begin: .now)
        let epochs = entities.compactMap { entity -> LeaseEpoch? in
            guard let epoch = held[entity]?.epoch else { return nil }
            if held[entity]?.users == 0 { held[entity]?.batch = batch }
            held[entity]?.users += 1
            return LeaseEpoch(entity: entity, epoch: epoch)
        }
        return LeaseUse(epochs: epochs, generation: generation)
    }

    /// A batch has ended.
    ///
    /// - Returns: Whether other containers wait for one of its leases.
    package mutating func endUse(_ use: LeaseUse) -> Bool {
        var isAsked = false
        // A store that was reset counts epochs from the beginning.
        guard use.generation == generation else { return false }
        // A lease that was lost meanwhile and is here again is used by other batches.
        for lease in use.epochs where held[lease.entity]?.epoch == lease.epoch {
            held[lease.entity]?.users -= 1
            held[lease.entity]?.lastUse = .now
            if asked.contains(lease.entity) { isAsked = true }
        }
        return isAsked
    }

    /// Whether the saves of all earlier holders of the leases were taken in, and nothing can have come since.
    ///
    /// - Parameter trust: The present ``LeaseTrust/number``.
    package func isFollowed(_ use: LeaseUse, trust: Int) -> Bool {
        use.generation == generation
            && use.epochs.allSatisfy { held[$0.entity]?.epoch == $0.epoch && held[$0.entity]?.followed == trust }
    }

    /// Whether that is so for all these entities.
    package func isFollowed(_ entities: Set<Int>, trust: Int) -> Bool {
        entities.allSatisfy { held[$0]?.followed == trust }
    }

    /// Everything that was saved before the leases were given was taken in.
    ///
    /// - Parameter trust: The ``LeaseTrust/number`` before it was asked for.
    package mutating func didFollow(_ use: LeaseUse, trust: Int) {
        guard use.generation == generation else { return }
        for lease in use.epochs where held[lease.entity]?.epoch == lease.epoch { held[lease.entity]?.followed = trust }
    }

    /// Notes that the store had that version of the table.
    package mutating func note(_ version: Int64, at asked: ContinuousClock.Instant) {
        newest = max(newest, version)
        if version == table.version { confirmed = max(confirmed ?? asked, asked) }
    }

    /// Whether the store has a newer table, or may have another one.
    package var isBehind: Bool { table.version < newest }

    /// Whether the leases that the batch uses are still here.
    func holds(_ use: LeaseUse) -> Bool { use.generation == generation && lost(of: use) == nil }

    /// An entity whose lease the batch uses, and which is not here any more; nil if there is none, and after a reset of the
    /// store, when there are no leases of that time.
    func lost(of use: LeaseUse) -> Int? {
        if use.generation != generation { return nil }
        return use.epochs.first { held[$0.entity]?.epoch != $0.epoch }?.entity
    }

    /// Whether the store was asked for the newest table, after that time.
    package func isConfirmed(since time: ContinuousClock.Instant) -> Bool { confirmed.map { $0 > time } ?? false }

    // MARK: Waiting

    /// A batch begins to wait. The store has been asked already.
    mutating func add(_ wait: LeaseWait) { waits.append(wait) }

    /// A batch stops waiting.
    ///
    /// - Returns: Whether it was still waiting.
    mutating func remove(_ wait: LeaseWait) -> Bool {
        guard let place = waits.firstIndex(where: { $0 === wait }) else { return false }
        waits.remove(at: place)
        return true
    }

    /// Lets the batches continue whose tickets were served.
    mutating func serve() {
        for wait in waits where !isWaiting(wait) {
            let leases = wait.entities.map { held[$0] }
            // A lease that was given and taken away again must be requested again.
            let isLost = leases.contains { $0 == nil }
            if !isLost, leases.contains(where: { $0?.isLeaving ?? false }) { continue }
            wait.end(isLost ? nil : begin(wait.entities, for: wait.source))
            waits.removeAll { $0 === wait }
        }
    }

    private func isWaiting(_ wait: LeaseWait) -> Bool {
        guard let ticket = wait.ticket else { return false }
        // No other ticket ever had this number.
        return table.tickets.contains { $0.number == ticket }
    }

    /// Whether a batch was given the lease and has not begun.
    func isPromised(_ entity: Int) -> Bool {
        waits.contains { $0.entities.contains(entity) && !isWaiting($0) }
    }

    // MARK: Following

    /// Takes an answer of the store, unless a newer one is known, or the store was reset since it was asked.
    ///
    /// - Parameters:
    ///   - asked: The generation when the store was asked.
    ///   - time: When that was.
    package mutating func take(
        _ table: LeaseTable, own: Int64, asked generation: Int, at time: ContinuousClock.Instant
    ) {
        guard generation == self.generation, table.version >= self.table.version else { return serve() }
        // A store that has lost its newest state has older versions.
        newest = self.table.version < 0 ? table.version : max(newest, table.version)
        self.table = table
        note(table.version, at: time)
        let now = ContinuousClock.now
        var held: [Int: Held] = [:]
        for lease in table.leases where lease.holder.number == own {
            let known = self.held[lease.entity].flatMap { $0.epoch == lease.epoch ? $0 : nil }
            held[lease.entity] = known ?? Held(epoch: lease.epoch, since: now, lastUse: now)
        }
        self.held = held
        let others = table.tickets.filter { $0.member.number != own }
        asked = others.reduce(into: []) { $0.formUnion($1.entities) }
        var unanswered: [Int64: ContinuousClock.Instant] = [:]
        for ticket in others where !ticket.isAnswered && ticket.entities.contains(where: { held[$0] != nil }) {
            unanswered[ticket.number] = self.unanswered[ticket.number] ?? now
        }
        self.unanswered = unanswered
        serve()
    }

    /// The next table is accepted, whatever its version, and what was taken in is read again.
    package mutating func doubt() {
        table = LeaseTable(version: -1, leases: table.leases, tickets: table.tickets)
        (newest, confirmed) = (max(newest, 0), nil)
        for entity in held.keys { held[entity]?.followed = nil }
    }

    /// The store was reset.
    package mutating func forget() {
        generation += 1
        table = LeaseTable(version: -1, leases: [], tickets: [])
        (held, asked, unanswered, confirmed, newest) = ([:], [], [:], nil, -1)
        for wait in waits { wait.end(nil) }
        waits = []
    }
}

/// Handing leases over to those who wait for them.
extension LeaseState {
    /// A hand-over is due, if others wait for a lease that this container has.
    ///
    /// - Returns: Whether to begin the hand-over. If false, there is nothing to do, or the one under way will check once more.
    mutating func beginHandOver() -> Bool {
        guard asked.contains(where: { held[$0] != nil }) else { return false }
        isMoreToDo = isHandingOver
        defer { isHandingOver = true }
        return !isHandingOver
    }

    /// - Returns: Whether to begin again.
    mutating func endHandOver() -> Bool {
        isHandingOver = false
        defer { isMoreToDo = false }
        return isMoreToDo
    }

    /// The entities that other containers wait for, and of which this one has the leases.
    var askedHere: Set<Int> { asked.filter { held[$0] != nil } }

    /// The next actions for those who wait.
    package struct Step {
        /// Leases that no batch uses, and that no batch may use from now on.
        package var leaving: [Int] = []
        /// Tickets of others that have waited too long for a sign that they are known.
        var unanswered: [Int64] = []
        /// The batches that these tickets wait for, each only once.
        var longBatches: [LongBatch] = []
        /// When to check again; nil to wait for a change.
        package var delay: Duration?
    }

    /// - Parameter pending: The entities under whose leases saves were made that wait for the store.
    package mutating func nextStep(
        at now: ContinuousClock.Instant, _ times: LeaseTimes, pending: Set<Int>
    ) -> Step {
        var step = Step()
        for entity in asked.sorted() {
            guard let lease = held[entity], lease.users == 0, !lease.isLeaving, !isPromised(entity) else { continue }
            var rest = times.turn - (now - lease.since)
            let lastUse = pending.contains(entity) ? now : lease.lastUse
            held[entity]?.lastUse = lastUse
            rest = min(rest, times.pause - (now - lastUse))
            if rest > .zero {
                step.delay = min(step.delay ?? rest, rest)
            } else {
                held[entity]?.isLeaving = true
                step.leaving.append(entity)
            }
        }
        let answers = nextAnswers(at: now, times)
        (step.unanswered, step.longBatches) = (answers.unanswered, answers.longBatches)
        if let delay = answers.delay { step.delay = min(step.delay ?? delay, delay) }
        return step
    }

    /// Whether leases are being handed over, and saves under them are being committed first.
    var isLeaving: Bool { held.values.contains { $0.isLeaving } }

    /// What to tell those who wait.
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
            guard let lease = held[entity], lease.users > 0, let batch = lease.batch else { continue }
            batches.append(batch)
            for entity in held.keys where held[entity]?.batch == batch { held[entity]?.batch = nil }
        }
        return batches
    }

    /// The part of these leases that may be given away now; the rest is kept.
    ///
    /// - Parameter isPending: Whether there are saves that cannot be committed, so that nothing may be given away.
    mutating func confirm(_ leaving: [Int], isPending: Bool) -> [Int] {
        let given = isPending ? [] : leaving.filter { asked.contains($0) && held[$0] != nil && !isPromised($0) }
        keep(leaving.filter { !given.contains($0) })
        return given
    }

    /// Whether no batch uses the lease of an entity. For tests.
    package func isIdle(_ entity: Int) -> Bool { held[entity]?.users == 0 }

    /// Lets batches use leases again that were about to be given away.
    mutating func keep(_ entities: [Int]) {
        for entity in entities { held[entity]?.isLeaving = false }
        serve()
    }

    /// - Returns: Whether a check at that time must be scheduled.
    mutating func setTimer(_ time: ContinuousClock.Instant) -> Bool {
        if let timer, timer <= time { return false }
        timer = time
        return true
    }

    mutating func clearTimer(_ now: ContinuousClock.Instant) {
        if let timer, timer <= now { self.timer = nil }
    }
}
