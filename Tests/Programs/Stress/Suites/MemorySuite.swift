import CoreDataSource
import Foundation
import RowStore
import StoreFaults
import Synchronization
import TestSupport

/// Saves of mixed size while main is blocked, while readers overlap, and with callbacks that nobody runs.
///
/// Memory and the log stay bounded however many they are, every save is acknowledged or refused, and main shows the last ones
/// as soon as it is free.
@MainActor
struct MemorySuite {
    private let size: Size
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    /// What waits for the store, what waits for main, what contexts remember, and what SQLite and the allocator take for
    /// themselves.
    private static let memoryLimit = 128 << 20
    /// What the log may hold before commits copy it, and one group of all that may wait.
    private static let logLimit = 96 << 20
    /// Small ones, so that what is not bounded by them is seen early.
    private static let configuration = PersistentContainer.Configuration(
        synchronous: .normal, pendingByteLimit: 16 << 20, mainBacklogByteLimit: 8 << 20)

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        self.size = size
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(size.choose(60, 120)), findings: findings)
    }

    func run() async throws {
        try await saveWhileMainIsBlocked()
        try await saveWhileReadersOverlap()
        try await callBackToABlockedMain()
    }

    // MARK: Main blocked

    private func saveWhileMainIsBlocked() async throws {
        let store = try StressStore(findings)
        let container = try await store.open(configuration: MemorySuite.configuration)
        let recordSources = try container.recordSources
        let lists = recordSources.map { FollowedList($0) }
        let writers = recordSources.indices.map { SizedWriter(table: $0, size: size, seed: seed) }
        // Each has objects, so that main follows every save from now on.
        for (recordSource, writer) in zip(recordSources, writers) { try await recordSource.put([writer.first]) }
        let held = try recordSources.map { try $0.objects() }
        let count = size.choose(2_000, 150_000)
        let watch = MemoryWatch { [url = store.url] in StressStore.logSize(url) }
        let group = DispatchGroup()
        for (recordSource, writer) in zip(recordSources, writers) {
            group.enter()
            Task.detached { [watchdog, findings] in
                await writer.save(count, recordSource, watchdog, findings)
                group.leave()
            }
        }
        blockMain(until: group)
        watch.end()
        report(watch, "while main was blocked", writers)
        try await expectShown(writers, recordSources, lists, held)
        try await container.close()
        findings.expect(integrity(of: store.url) == "ok", "the store is damaged, seed \(seed)")
    }

    /// Holds the main thread, as an app does that computes.
    private func blockMain(until group: DispatchGroup) {
        group.wait()
    }

    private func expectShown(
        _ writers: [SizedWriter], _ recordSources: [any RecordSource], _ lists: [FollowedList], _ held: [[Record]]
    ) async throws {
        watchdog.note("main", "shows the last saves")
        defer { watchdog.note("main", nil) }
        for (index, writer) in writers.enumerated() {
            let expected = writer.revisions
            let mainRecords = try recordSources[index].mainRecords()
            let found = Dictionary(mainRecords.map { ($0.key, $0.revision) }) { _, last in last }
            findings.expect(found == expected, "a fetch of table \(index) is not what was saved, seed \(seed)", .lost)
            findings.expect(
                held[index].allSatisfy { $0.revision == expected[$0.key] },
                "held objects of table \(index) are stale, seed \(seed)", .stale)
            let end = RunningClock.shared.now + .seconds(30)
            while Dictionary(lists[index].shown.map { ($0.key, $0.revision) }, uniquingKeysWith: { $1 }) != expected {
                try await Task.sleep(for: .milliseconds(20))
                if RunningClock.shared.now > end {
                    findings.recordViolation("the list of table \(index) is stale after 30 s, seed \(seed)", .stale)
                    break
                }
            }
        }
    }

    // MARK: Readers

    private func saveWhileReadersOverlap() async throws {
        let store = try StressStore(findings)
        let container = try await store.open(configuration: MemorySuite.configuration)
        let recordSource = try container.dataSource(BlueDataSource.self)
        let writer = SizedWriter(table: 2, size: size, seed: seed &+ 1)
        let count = size.choose(3_000, 600_000)
        let watch = MemoryWatch { [url = store.url] in StressStore.logSize(url) }
        let isRunning = Flag()
        let readers = (0..<6).map { number in
            Task.detached { [watchdog, findings, seed] in
                let stack = container.stack
                while isRunning.isSet {
                    watchdog.note("reader \(number)", "a snapshot")
                    do { try overlap(stack) } catch {
                        findings.recordViolation("a reader threw \(error), seed \(seed)")
                    }
                    await Task.yield()
                }
                watchdog.note("reader \(number)", nil)
            }
        }
        await writer.save(count, recordSource, watchdog, findings)
        isRunning.clear()
        for reader in readers { await reader.value }
        watch.end()
        report(watch, "while readers overlapped", [writer])
        let stored = try recordSource.mainRecords()
        findings.expect(
            Dictionary(stored.map { ($0.key, $0.revision) }, uniquingKeysWith: { $1 }) == writer.revisions,
            "not every save is there, seed \(seed)", .lost)
        try await container.close()
        findings.expect(integrity(of: store.url) == "ok", "the store is damaged, seed \(seed)")
    }

    private func report(_ watch: MemoryWatch, _ when: String, _ writers: [SizedWriter]) {
        let bytes = writers.reduce(0) { $0 + $1.byteCount }
        findings.recordFigure("of memory more \(when)", watch.growth.megabytes)
        findings.recordFigure("of log at most \(when)", watch.longestLog.megabytes)
        findings.recordFigure("saved \(when)", bytes.megabytes)
        findings.expect(
            watch.growth <= MemorySuite.memoryLimit,
            "memory grew by \(watch.growth.megabytes) \(when), seed \(seed)")
        findings.expect(
            watch.longestLog <= MemorySuite.logLimit, "the log had \(watch.longestLog.megabytes) \(when), seed \(seed)")
    }

    // MARK: Callbacks

    /// Values that wait for a callback that main does not run count, and what is too much is refused.
    private func callBackToABlockedMain() async throws {
        let store = try StressStore(findings)
        let limit = 2_000
        let container = try await store.open(
            configuration: .init(synchronous: .normal, queuedValueLimit: limit))
        let recordSource = try container.dataSource(RedDataSource.self)
        let count = limit * 5
        watchdog.note("callbacks", "\(count) saves")
        let outcomes = CallbackOutcomes()
        for number in 0..<count {
            recordSource.add([RecordData(key: "\(number)", revision: 1)]) { outcomes.note($0) }
        }
        while outcomes.count < count { try await Task.sleep(for: .milliseconds(10)) }
        let rows = try recordSource.mainRecords().count
        findings.count(.acknowledged, outcomes.made)
        findings.count(.refused, outcomes.refused)
        findings.expect(outcomes.made == rows, "\(outcomes.made) acknowledged and \(rows) stored, seed \(seed)", .lost)
        findings.expect(outcomes.others.isEmpty, "\(outcomes.others.prefix(1)), seed \(seed)")
        findings.expect(outcomes.made <= limit + 1, "\(outcomes.made) values waited, seed \(seed)")
        try await container.close()
        watchdog.note("callbacks", nil)
    }
}

@MainActor
private final class CallbackOutcomes {
    var made = 0
    var refused = 0
    var others: [String] = []
    var count: Int { made + refused + others.count }

    func note(_ result: Result<SaveReport, any Error>) {
        switch result {
        case .success: made += 1
        case .failure(let error as DataSourceError) where error.code == .storeUnavailable: refused += 1
        case .failure(let error): others.append("\(error)")
        }
    }
}

/// Two reads of one state of the store, with a while between them.
private func overlap(_ stack: PersistentStack) throws {
    let blue = stack.layout.entity(named: "Blue")?.index ?? 0
    try stack.root.store.read(.snapshot) { reader throws(DataSourceError) in
        _ = try reader.count(RowQuery(entity: blue))
        usleep(3000)
        _ = try reader.count(RowQuery(entity: blue))
    }
}
