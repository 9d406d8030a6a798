import CoreDataSource
import Foundation
import RowStore
import Synchronization
import TestSupport

/// What stores keep their rows on: it outlives them, lets one of them in at a time, and fails now and then.
final class SimulatedDisk: Sendable {
    private struct State {
        var isInUse = false
        /// Whether a commit or a reset is under way: the tiers see to it that there is one at a time.
        var isWriting = false
        /// How many commits are still to fail.
        var failing = 0
        var isHealthy = false
        /// Whether the last commit failed so that nobody knows what is left of it: then there are no more until the store is
        /// opened again.
        var isUnknown = false
        /// Whether a store was closed while it wrote.
        var wasClosedWhileWriting = false
        /// What turns out then to have been written.
        var unnoticed: [ChangeSet] = []
        var moment = PossibleStates.Moment()
    }

    let layout: ModelLayout
    fileprivate let rows: InMemoryStore
    fileprivate let simulation: Simulation
    private let state = Mutex(State())

    init(_ layout: ModelLayout, _ simulation: Simulation) {
        self.layout = layout
        self.simulation = simulation
        rows = InMemoryStore(layout)
    }

    /// What has happened so far.
    var moment: PossibleStates.Moment { state.withLock { $0.moment } }

    /// Saves that were promised to main only may be rolled back now, and until it ends.
    func beginRisk() { state.withLock { $0.moment.risksBegun += 1 } }
    func endRisk() { state.withLock { $0.moment.risksEnded += 1 } }

    private func noteRisk() {
        beginRisk()
        endRisk()
    }

    /// From now on nothing fails.
    func heal() { state.withLock { ($0.isHealthy, $0.failing) = (true, 0) } }

    /// A store on it; nil while another one is open.
    func open() -> SimulatedStore? {
        let isFree = state.withLock { state in
            defer { state.isInUse = true }
            return !state.isInUse
        }
        return isFree ? SimulatedStore(self) : nil
    }

    var isInUse: Bool { state.withLock { $0.isInUse } }

    var isUnknown: Bool { state.withLock { $0.isUnknown } }

    var wasClosedWhileWriting: Bool { state.withLock { $0.wasClosedWhileWriting } }

    fileprivate func release() {
        let unnoticed = state.withLock { state in
            if state.isWriting { state.wasClosedWhileWriting = true }
            defer { (state.isInUse, state.isUnknown, state.unnoticed) = (false, false, []) }
            return state.unnoticed
        }
        _ = try? rows.commit(unnoticed)
    }

    fileprivate func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try beginWriting()
        defer { endWriting() }
        state.withLock { $0.moment.resetsBegun += 1 }
        defer { state.withLock { $0.moment.resetsEnded += 1 } }
        simulation.note("reset begins")
        simulation.interleave()
        if fails() { throw DataSourceError(.storeUnreadable, "The disk failed.") }
        let startup = try rows.reset(didEmpty: didEmpty)
        state.withLock { ($0.isUnknown, $0.unnoticed) = (false, []) }
        simulation.note("the store is empty")
        simulation.interleave()
        return startup
    }

    private func beginWriting() throws(DataSourceError) {
        let isFree = state.withLock { state in
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if !isFree { throw DataSourceError(.storeCorrupt, "The tiers write while they write.") }
    }

    private func endWriting() { state.withLock { $0.isWriting = false } }

    /// Whether the next thing fails: now and then, and then for a while.
    private func fails() -> Bool {
        let number = simulation.random(below: 40)
        return state.withLock { state in
            if state.isHealthy { return false }
            if state.failing == 0, number < 2 { state.failing = number == 0 ? 1 : 8 }
            guard state.failing > 0 else { return false }
            state.failing -= 1
            return true
        }
    }

    /// Whether the commit fails, and is found after a restart or not.
    private func becomesUnknown(_ group: [ChangeSet]) -> Bool {
        let number = simulation.random(below: 300)
        let isUnknown = state.withLock { state in
            guard !state.isHealthy, number < 2 else { return false }
            (state.isUnknown, state.unnoticed) = (true, number == 0 ? group : [])
            return true
        }
        if isUnknown { simulation.note("the outcome of the commit is unknown") }
        return isUnknown
    }

    /// Commits and all else may come before what is read and after it, not in the middle: that is one state.
    fileprivate func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        // Private contexts read with the lock of the unique values that they share.
        let isLocked = simulation.isInPrivateContext
        simulation.interleave(isLocked: isLocked)
        defer { simulation.interleave(isLocked: isLocked) }
        return try rows.read(isolation, body)
    }

    fileprivate func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try beginWriting()
        defer { endWriting() }
        simulation.note("commit of \(group.map { $0.number })")
        simulation.interleave()
        if isUnknown || becomesUnknown(group) {
            noteRisk()
            throw DataSourceError(.outcomeUnknown, "The disk failed twice.")
        }
        if fails() {
            simulation.note("commit fails")
            noteRisk()
            throw DataSourceError(simulation.random(below: 2) == 0 ? .diskFull : .storeBusy, "The disk failed.")
        }
        var refusals = Refusals()
        var taken: [ChangeSet] = []
        for (place, set) in group.enumerated() where !refusals.refuseIfDependent(set, at: place) {
            // As if another program had stored the same value.
            if !state.withLock({ $0.isHealthy }), simulation.random(below: 30) == 0 {
                refusals.refuse(set, at: place, DataSourceError(.uniquenessViolated, "Another program was here."))
            } else {
                taken.append(set)
            }
        }
        // They are rolled back once this has returned.
        let isRisk = !refusals.errors.isEmpty
        if isRisk { beginRisk() }
        defer { if isRisk { endRisk() } }
        let outcome = try rows.commit(taken)
        simulation.note("committed \(taken.map { $0.number }), refused \(refusals.errors.keys.sorted())")
        guard outcome.refused.isEmpty else {
            throw DataSourceError(.storeCorrupt, "The tiers gave the store what cannot be: \(outcome.refused)")
        }
        simulation.interleave()
        return CommitOutcome(refused: refusals.errors)
    }
}

/// A store of a simulation.
final class SimulatedStore: PersistentStore {
    private let disk: SimulatedDisk
    private let isOpen = Mutex(true)

    fileprivate init(_ disk: SimulatedDisk) {
        self.disk = disk
    }

    var firstFreeKey: Int64 { disk.rows.firstFreeKey }
    var longestValue: Int { disk.rows.longestValue }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try check()
        return try disk.commit(group)
    }

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try check()
        return try disk.read(isolation, body)
    }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try check()
        return try disk.reset(didEmpty: didEmpty)
    }

    func closeIfIdle() -> Bool {
        close()
        return true
    }

    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { disk.release() }
    }

    private func check() throws(DataSourceError) {
        guard isOpen.withLock({ $0 }) else { throw DataSourceError(.storeClosed, "The store was closed.") }
    }
}
