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
struct OutsideWritesSuite {
    private let rounds: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        rounds = size.choose(10, 500)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(30), findings: findings)
    }

    func run() async throws {
        let store = try StressStore(findings)
        let container = try await store.open(configuration: .init(synchronous: .normal))
        let keepers = try container.keepers
        let lists = keepers.map { FollowedList($0) }
        let history = Mutex(WriteHistory())
        let isDone = AsyncStream<Void>.makeStream()
        let child = try ChildProcess(["outside", store.url.path]) { line in
            if let line, let event = WriteEvent(line: line) { history.withLock { $0.add(event) } }
            if line == "done" { isDone.continuation.yield() }
            if line == nil { isDone.continuation.finish() }
        }
        var random = SeededRandom(seed: seed)
        var apps = keepers.indices.map { OutsideApp(table: $0, keeper: keepers[$0], random: random.branch(UInt64($0))) }
        var done = isDone.stream.makeAsyncIterator()
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            watchdog.note("outside writes", moment)
            let tables = ["0", "1", "2", "01", "02", "12", "012", "012"][random.next(below: 8)]
            // Written to while the app does nothing at first, then while it does.
            let isAppIdle = round % 3 == 0
            let held = try keepers.map { try $0.objects() }
            child.send(line: "go \(random.next(below: 150)) \(tables) \(random.next() >> 20)")
            let isRunning = Flag()
            let saves = isAppIdle ? [] : apps.map { app in Task { await app.run(while: { isRunning.isSet }) } }
            guard await done.next() != nil else {
                findings.violation("the other process ended, \(moment)")
                break
            }
            isRunning.clear()
            var made: [OutsideApp.Outcome] = []
            for save in saves { made += await save.value }
            note(made, history, moment)
            try await expectNothingStale(store, keepers, lists, held, moment)
            try expectHistory(store, history, moment)
            // Nobody else writes now, so every save succeeds.
            for index in apps.indices {
                let outcomes = await apps[index].putAll()
                for case .refused(let refusal) in outcomes {
                    findings.violation("\(refusal.error) though nobody else writes, \(moment)", .refused)
                }
                note(outcomes, history, moment)
            }
            try await expectNothingStale(store, keepers, lists, [], "after the last saves, \(moment)")
            try expectHistory(store, history, moment)
            apps = apps.map { OutsideApp(table: $0.table, keeper: $0.keeper, random: random.branch(random.next())) }
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
                findings.violation("\(contradiction), \(moment)", .lost)
            }
        }
    }

    /// Waits a second at most until everybody shows what the file has.
    private func expectNothingStale(
        _ store: StressStore, _ keepers: [any RecordKeeper], _ lists: [FollowedList], _ held: [[Record]],
        _ moment: String
    ) async throws {
        let file = try RecordFile(store.url)
        let start = ContinuousClock.now
        var stale: [String] = []
        // Half a second more, for a machine that has other things to do.
        repeat {
            stale = []
            for (table, keeper) in keepers.enumerated() {
                let records = try file.records(table)
                let name = RecordFile.tables[table]
                let all = Set(records)
                if Set(try keeper.shown()) != all { stale.append("fetches of \(name)") }
                if Set(lists[table].shown) != all { stale.append("the list of \(name)") }
                if Set(try await keeper.kept()) != all { stale.append("the context of \(name)") }
                let keys = Set(records.map(\.key))
                if held.indices.contains(table), !held[table].allSatisfy({ isCurrent($0, all, keys) }) {
                    stale.append("objects of \(name)")
                }
            }
            if stale.isEmpty { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now - start < .milliseconds(1500)
        findings.violation("\(stale.joined(separator: ", ")) do not show what the file has, \(moment)", .stale)
    }

    /// A held object is as its row is, or deleted; another row of the same key may have come since.
    private func isCurrent(_ object: Record, _ records: Set<RecordData>, _ keys: Set<String>) -> Bool {
        object.isDeleted || records.contains(object.data)
    }
}
