import CoreDataSource
import Foundation
import RowStore
import StoreFaults
import Synchronization
import TestSupport

/// Another process writes to the file with plain SQL, while the app adds, syncs and deletes the same records.
///
/// Nothing is stale a second later, no acknowledged save is lost but for the columns that were written from outside after it,
/// and only saves that collide with a row from outside are refused, with those that rest on them.
@MainActor
final class OutsideWritesSuite {
    private let rounds: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog
    private var longestWait = Duration.zero

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        rounds = size.choose(10, 500)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(30), findings: findings)
    }

    func run() async throws {
        let store = try StressStore(findings)
        let container = try await store.open(configuration: .init(synchronous: .normal))
        let recordSources = try container.recordSources
        let lists = recordSources.map { FollowedList($0) }
        let history = Mutex(WriteHistory())
        let isDone = AsyncStream<Void>.makeStream()
        let child = try ChildProcess(["outside", store.url.path]) { [watchdog] line in
            if let line, let event = WriteEvent(line: line) {
                history.withLock { $0.add(event) }
                watchdog.note("outside writes", "the other process \(line)")
            }
            if line == "done" { isDone.continuation.yield() }
            if line == nil { isDone.continuation.finish() }
        }
        var random = SeededRandom(seed: seed)
        var apps = recordSources.indices.map {
            OutsideApp(table: $0, recordSource: recordSources[$0], random: random.branch(UInt64($0)))
        }
        var done = isDone.stream.makeAsyncIterator()
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            watchdog.note("outside writes", moment)
            let tables = ["0", "1", "2", "01", "02", "12", "012", "012"][random.next(below: 8)]
            // Written to while the app does nothing at first, then while it does.
            let isAppIdle = round % 3 == 0
            let held = try recordSources.map { try $0.objects() }
            child.send(line: "go \(random.next(below: 150)) \(tables) \(random.next() >> 20)")
            let isRunning = Flag()
            let saves = isAppIdle ? [] : apps.map { app in Task { await app.run(while: { isRunning.isSet }) } }
            guard await done.next() != nil else {
                findings.recordViolation("the other process ended, \(moment)")
                break
            }
            isRunning.clear()
            watchdog.note("outside writes", "the app's last saves, \(moment)")
            var made: [OutsideApp.Outcome] = []
            for save in saves { made += await save.value }
            note(made, history, moment)
            try await expectNothingStale(store, recordSources, lists, held, moment)
            try expectHistory(store, history, moment)
            // Nobody else writes now, so every save succeeds.
            for app in apps {
                let outcomes = await app.putAll()
                for case .refused(let refusal) in outcomes {
                    findings.recordViolation("\(refusal.error) though nobody else writes, \(moment)", .refused)
                }
                note(outcomes, history, moment)
            }
            try await expectNothingStale(store, recordSources, lists, [], "after the last saves, \(moment)")
            try expectHistory(store, history, moment)
            history.withLock { $0.forget() }
            apps = apps.map {
                OutsideApp(table: $0.table, recordSource: $0.recordSource, random: random.branch(random.next()))
            }
        }
        child.send(signal: SIGKILL)
        _ = await child.end()
        try await container.close()
        let integrity = integrity(of: store.url)
        findings.expect(integrity == "ok", "\(integrity), seed \(seed)")
        watchdog.note("outside writes", nil)
    }

    /// Adds what was acknowledged to the history, and looks for refusals without a reason.
    private func note(_ outcomes: [OutsideApp.Outcome], _ history: borrowing Mutex<WriteHistory>, _ moment: String) {
        let refusals = outcomes.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }
        for outcome in outcomes {
            switch outcome {
            case .made(let events):
                findings.count(.acknowledged)
                for event in events { history.withLock { $0.add(event) } }
            case .refused(let refusal):
                findings.count(.refused)
                let reason = history.withLock { refusal.isExplained(by: $0, others: refusals) }
                findings.expect(reason, "table \(refusal.table): \(refusal.error), \(moment)")
            }
        }
    }

    private func expectHistory(
        _ store: StressStore, _ history: borrowing Mutex<WriteHistory>, _ moment: String
    ) throws {
        let file = try RecordFile(store.url)
        for table in RecordFile.tables.indices {
            let records = try file.records(table)
            for contradiction in history.withLock({ $0.contradictions(table, records) }) {
                findings.recordViolation("\(contradiction), \(moment)", .lost)
            }
        }
    }

    /// Waits until everybody shows what the file has, a second of this process at most.
    private func expectNothingStale(
        _ store: StressStore, _ recordSources: [any RecordSource], _ lists: [FollowedList], _ held: [[Record]],
        _ moment: String
    ) async throws {
        watchdog.note("outside writes", "nothing may be stale, \(moment)")
        let file = try RecordFile(store.url)
        let (start, wall) = (RunningClock.shared.now, ContinuousClock.now)
        var late: [String] = []
        while true {
            let wait = RunningClock.shared.now - start
            let stale = try await stale(file, recordSources, lists, held)
            // A look that begins after the second is the last one in time, however long the others took. Its
            // result separates what is slow from what never comes.
            if wait > .seconds(1), late.isEmpty { late = stale }
            if stale.isEmpty || wait > .seconds(11) {
                noteWait(RunningClock.shared.now - start)
                if late.isEmpty { return }
                let end = stale.isEmpty ? "for \((ContinuousClock.now - wall).seconds) s" : "for good"
                let names = late.joined(separator: ", ")
                return findings.recordViolation("\(names) do not show what the file has, \(end), \(moment)", .stale)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Who does not show what the file has.
    ///
    /// Fetches and private contexts look at the file, and then all are notified. So lists and objects come first, which nobody
    /// asks anything, and the others when those are current.
    private func stale(
        _ file: RecordFile, _ recordSources: [any RecordSource], _ lists: [FollowedList], _ held: [[Record]]
    ) async throws -> [String] {
        let all = try recordSources.indices.map { Set(try file.records($0)) }
        var stale: [String] = []
        for (table, name) in RecordFile.tables.enumerated() {
            if Set(lists[table].shown) != all[table] { stale.append("the list of \(name)") }
            if held.indices.contains(table), !held[table].allSatisfy({ isCurrent($0, all[table]) }) {
                stale.append("objects of \(name)")
            }
        }
        guard stale.isEmpty else { return stale }
        for (table, name) in RecordFile.tables.enumerated() {
            if Set(try recordSources[table].mainRecords()) != all[table] { stale.append("fetches of \(name)") }
            if Set(try await recordSources[table].contextRecords()) != all[table] {
                stale.append("the context of \(name)")
            }
        }
        return stale
    }

    private func noteWait(_ wait: Duration) {
        longestWait = max(longestWait, wait)
        findings.recordFigure("ms at most until nothing was stale", Int(longestWait / .milliseconds(1)))
    }

    /// A held object is as its row is, or deleted; another row of the same key may have come since.
    private func isCurrent(_ object: Record, _ records: Set<RecordData>) -> Bool {
        object.isDeleted || records.contains(object.data)
    }
}
