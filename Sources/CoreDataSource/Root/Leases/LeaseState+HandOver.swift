internal import RowStore

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
