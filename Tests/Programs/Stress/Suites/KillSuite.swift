import CoreDataSource
import Foundation
import StoreFaults
import TestSupport

/// Kills processes in the middle of their saves, at random moments and before random calls for the files, asks some to end,
/// and has others reset the store; each store goes through several of them.
///
/// Every acknowledged save is there, and each save whole or not at all. Half of the stores keep a history, and have a record of
/// exactly the saves that are there.
@MainActor
struct KillSuite {
    private enum Ending {
        /// Killed so long after it opened the store; or after it began, if `fromStart`.
        case moment(Int, fromStart: Bool)
        case call(Int)
        case onRequest(Int)
    }

    private let rounds: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    private static let roundsPerStore = 10

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        rounds = size.choose(60, 1000)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() async throws {
        var random = SeededRandom(seed: seed)
        var round = 0
        while round < rounds && findings.violations.count < 20 {
            var world = World(store: try StressStore(findings), seed: random.next())
            for _ in 0..<min(KillSuite.roundsPerStore, rounds - round) {
                round += 1
                watchdog.note("round", "\(round) of \(rounds)")
                let before = findings.violations.count
                try await kill(&world, round, &random)
                // What is wrong in one store would be wrong ever after.
                if findings.violations.count > before { break }
            }
        }
        watchdog.note("round", nil)
    }

    /// A store, and what is known of it.
    private struct World {
        let store: StressStore
        let seed: UInt64
        var epoch = 0
        var done = [Int64](repeating: 0, count: KillPlan.taskCount)
        var isMade = false

        var key: String { "\(epoch)" }
        func ledger(_ task: Int) -> Ledger { Ledger(seed: seed &+ UInt64(epoch), task: task) }
    }

    private func kill(_ world: inout World, _ round: Int, _ random: inout SeededRandom) async throws {
        let isReset = world.isMade && random.next(below: 10) == 0
        let old = world
        if isReset {
            world.epoch += 1
            world.done = world.done.map { _ in 0 }
        }
        let ending: Ending
        switch random.next(below: 20) {
        case 0..<8: ending = .moment(random.next(below: 150), fromStart: false)
        case 8..<11: ending = .moment(random.next(below: 80), fromStart: true)
        case 11..<18: ending = .call(1 + random.next(below: 1 << (3 + random.next(below: 8))))
        default: ending = .onRequest(random.next(below: 60))
        }
        let moment = "round \(round), \(ending), seed \(seed)"
        let known = try await end(world, ending, moment)
        findings.count(.kills)
        findings.count(.acknowledged, known.count)
        for failure in known.failures { findings.recordViolation("\(failure), \(moment)") }
        // A process that was killed while it reset the store leaves all of the old one, or a new one.
        if isReset, !known.isOpen, try await isOfAnotherKey(world) {
            world = old
            world.done = try await check(world, old.done, old.done, isNew: false, moment)
        } else {
            let upper = known.shown.map { known.isOpen ? $0 + 1 : $0 }
            world.done = try await check(world, known.stored, upper, isNew: !known.isOpen, moment)
        }
        world.isMade = true
    }

    /// Runs a child until it is ended.
    ///
    /// - Returns: What it acknowledged; if it was asked to end, everything that it did before must be stored.
    private func end(_ world: World, _ ending: Ending, _ moment: String) async throws -> Acknowledgements.Snapshot {
        var plan = KillPlan(
            folder: world.store.folder, seed: world.ledger(0).seed, key: world.key, lastCall: 0, done: world.done)
        if case .call(let number) = ending { plan.lastCall = number }
        let acknowledged = try Acknowledgements(
            world.store.folder.appending(component: "acknowledged"), done: world.done)
        let opened = AsyncStream<Void>.makeStream()
        let child = try ChildProcess(plan.arguments) { line in
            if let line { acknowledged.note(line) }
            if line?.hasPrefix("open") ?? true { opened.continuation.finish() }
        }
        var isRequested = false
        var before = acknowledged.value
        switch ending {
        case .moment(let milliseconds, let fromStart):
            if !fromStart { for await _ in opened.stream {} }
            try await Task.sleep(for: .milliseconds(milliseconds))
            child.send(signal: SIGKILL)
        case .onRequest(let milliseconds):
            for await _ in opened.stream {}
            try await Task.sleep(for: .milliseconds(milliseconds))
            isRequested = true
            before = acknowledged.value
            child.send(signal: SIGTERM)
        case .call:
            // It may never come to that call while it has nothing to do.
            try await Task.sleep(for: .milliseconds(300))
            child.send(signal: SIGKILL)
        }
        let end = await child.end()
        if end == .exit(Watchdog.exitCode) {
            findings.recordViolation("a process hung, \(moment)", .hangs)
        } else if end != .signal(isRequested ? SIGTERM : SIGKILL) {
            findings.recordViolation("a process ended by \(end), \(moment)", .traps)
        }
        var known = acknowledged.value
        if isRequested { known.stored = zip(known.stored, before.shown).map(max) }
        return known
    }

    private func isOfAnotherKey(_ world: World) async throws -> Bool {
        do {
            try await world.store.open(key: world.key, configuration: .init(resetPolicy: .fail)).close()
            return false
        } catch let error as DataSourceError where error.code == .modelChanged {
            return true
        }
    }

    /// Expects each task's records to be those after as many operations as its first record counts.
    ///
    /// - Parameters:
    ///   - isNew: Whether there may be no store yet.
    /// - Returns: How many operations of each task the store has.
    private func check(
        _ world: World, _ minimums: [Int64], _ maximums: [Int64], isNew: Bool, _ moment: String
    ) async throws -> [Int64] {
        watchdog.note("check", moment)
        defer { watchdog.note("check", nil) }
        let container = try await world.store.open(key: world.key, configuration: .init(resetPolicy: .fail))
        let reason = container.startup.reason
        // Where there was no store, asking made one.
        findings.expect(
            reason == .current || isNew && reason == .firstLaunch && minimums.allSatisfy { $0 == 0 },
            "the next start found \(reason), \(moment)", .lost)
        let records = try container.recordSources.map { try $0.mainRecords() }.joined()
        let byTask = Dictionary(grouping: records) { Int($0.task) }
        var done: [Int64] = []
        for task in 0..<KillPlan.taskCount {
            let ledger = world.ledger(task)
            let found = byTask[task] ?? []
            let count = found.first { $0.key == ledger.key(0) }?.revision ?? 0
            done.append(count)
            findings.expect(
                count >= minimums[task],
                "task \(task) has \(count) operations of \(minimums[task]) acknowledged ones, \(moment)", .lost)
            findings.expect(
                count <= maximums[task],
                "task \(task) has \(count) operations of \(maximums[task]) begun ones, \(moment)")
            findings.expect(
                Set(found) == ledger.values(ledger.cells(after: count)) && found.count == Set(found).count,
                "task \(task) does not have the records after \(count) operations, \(moment)", .half)
        }
        if container.keepsHistory {
            let difference = try await HistoryReplay(container).difference()
            findings.expect(difference == nil, "\(difference ?? ""), \(moment)", .half)
        }
        try await container.close()
        let integrity = integrity(of: world.store.url)
        findings.expect(integrity == "ok", "\(integrity), \(moment)")
        return done
    }
}
