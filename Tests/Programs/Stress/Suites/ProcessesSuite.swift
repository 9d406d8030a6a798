import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport

/// Several processes have one store open, add, sync, delete and follow; one of them is killed now and then, and another takes
/// its place.
///
/// At the end of each round, every list of every process shows what a fetch finds, what its private contexts have, what the
/// file has, and what the feed comes to when it is replayed; in the feed, each change begins where the one before it ended.
/// What was reported as saved is there, and the file is whole. The kept history has the saves of all processes in one order: the
/// records, replayed, are the store.
@MainActor
final class ProcessesSuite {
    private let rounds: Int
    private let processCount: Int
    private let saveCount: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        rounds = size.choose(6, 100)
        processCount = size.choose(3, 8)
        saveCount = size.choose(40, 100)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() async throws {
        let store = try StressStore(findings)
        var random = SeededRandom(seed: seed)
        var options = StressStore.sharedOptions(store.url)
        options.history = HistoryReplay.kept
        let follower = try SQLiteStore.open(options)
        let url = store.url
        let shared = try await SharingProcesses(
            "processes", processCount, findings: findings, watchdog: watchdog
        ) { _ in .file(url) }
        shared.follow(follower, after: follower.firstPosition)
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            let killed = random.next(below: 2) == 0 ? random.next(below: processCount) : nil
            shared.begin(saveCount, &random, moment)
            if let killed {
                try await Task.sleep(for: .milliseconds(random.next(below: 300)))
                shared.children[killed].kill()
                findings.count(.kills)
            }
            try await shared.stopSome(round, but: killed, &random)
            await shared.waitUntilDone(but: killed, moment)
            if let killed {
                let child = shared.children[killed]
                _ = await child.answer()
                try expectAcknowledged(store, child, moment)
                // Another number: what the killed one had begun may be there or not.
                try await shared.replace(killed, by: processCount + round)
            }
            try await shared.check(moment, { try RecordFile(store.url) }) {
                try self.expectAcknowledged(store, $0, moment)
            }
            let integrity = try RecordFile(store.url).integrity()
            findings.expect(integrity == "ok", "\(integrity), \(moment)")
        }
        await shared.end(rounds)
        let container = try StressStore.openShared(store.url)
        let difference = try await HistoryReplay(container).difference()
        findings.expect(difference == nil, "\(difference ?? ""), seed \(seed)")
        try await container.close()
        let integrity = integrity(of: store.url)
        findings.expect(integrity == "ok", "\(integrity), seed \(seed)")
    }

    /// The record that a process alone writes counts its saves.
    private func expectAcknowledged(_ store: StressStore, _ child: SharingProcess, _ moment: String) throws {
        let found = try RecordFile(store.url).savedCount(of: child.number)
        findings.expect(
            found >= child.acknowledged,
            "process \(child.number) has \(found) of \(child.acknowledged) acknowledged saves, \(moment)", .lost)
    }
}
