import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Synchronization
import TestSupport

/// Several processes have one store open, add, sync, delete and follow; one of them is killed now and then, and another takes
/// its place.
///
/// At the end of each round, every list of every process shows what a fetch finds, what its private contexts have, what the
/// file has, and what the feed comes to when it is replayed; in the feed, each change begins where the one before it ended.
/// What a process was told is saved is there, and the file is whole.
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
        let follower = try SQLiteStore.open(StressStore.sharedOptions(store.url))
        var replay = FeedReplay(ModelLayout(.stress), after: follower.firstPosition)
        var children: [SharingProcess] = []
        for number in 0..<processCount { children.append(try await SharingProcess(.file(store.url), number, findings)) }
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            watchdog.note("processes", moment)
            let killed = random.next(below: 2) == 0 ? random.next(below: processCount) : nil
            for child in children { child.send("go \(saveCount) \(random.next() >> 20)") }
            if let killed {
                try await Task.sleep(for: .milliseconds(random.next(below: 300)))
                children[killed].kill()
                findings.count(.kills)
            }
            for (number, child) in children.enumerated() where number != killed {
                if await child.answer() != "done" { findings.violation("process \(number) ended, \(moment)", .traps) }
            }
            if let killed {
                _ = await children[killed].answer()
                let acknowledged = children[killed].acknowledged
                try expectAcknowledged(store, children[killed].number, acknowledged, moment)
                // Another number: what the killed one had begun may be there or not.
                children[killed] = try await SharingProcess(
                    .file(store.url), processCount + round, findings)
            }
            try replay.takeIn(follower) { self.findings.violation("\($0), \(moment)") }
            try await check(store, children, replay, moment)
        }
        for child in children { child.send("quit") }
        for child in children { _ = await child.answer() }
        follower.close()
        let integrity = integrity(of: store.url)
        findings.expect(integrity == "ok", "\(integrity), seed \(seed)")
        findings.figure("rounds of \(processCount) processes", rounds)
        watchdog.note("processes", nil)
    }

    private func check(
        _ store: StressStore, _ children: [SharingProcess], _ replay: FeedReplay, _ moment: String
    ) async throws {
        watchdog.note("processes", "what all show, \(moment)")
        for child in children { child.send("check") }
        for child in children {
            let answer = await child.answer() ?? "nothing"
            findings.expect(answer == "same", "process \(child.number): \(answer), \(moment)", .stale)
            findings.count(.acknowledged, child.takeAcknowledgedCount())
            try expectAcknowledged(store, child.number, child.acknowledged, moment)
        }
        let file = try RecordFile(store.url)
        for table in RecordFile.tables.indices {
            let replayed = replay.records(RecordFile.tables[table])
            findings.expect(
                Set(try file.records(table)) == replayed, "the feed of \(RecordFile.tables[table]), \(moment)", .lost)
        }
        let integrity = try file.integrity()
        findings.expect(integrity == "ok", "\(integrity), \(moment)")
    }

    /// The record that a process alone writes counts its saves.
    private func expectAcknowledged(
        _ store: StressStore, _ number: Int, _ acknowledged: Int64, _ moment: String
    ) throws {
        let key = SharingChild.ownKey(number)
        let found = try RecordFile(store.url).records(2).first { $0.key == key }?.revision ?? 0
        findings.expect(
            found >= acknowledged, "process \(number) has \(found) of \(acknowledged) acknowledged saves, \(moment)",
            .lost)
    }
}

/// A process that shares the store.
@MainActor
final class SharingProcess {
    let number: Int
    private let child: ChildProcess
    private let answers: AsyncStream<String>
    private let counts: SharingCounts

    init(_ place: SharedPlace, _ number: Int, _ findings: Findings) async throws {
        self.number = number
        let stream = AsyncStream<String>.makeStream()
        let counts = SharingCounts()
        self.counts = counts
        child = try ChildProcess(["sharing", place.description, "\(number)"]) { line in
            guard let line else { return stream.continuation.finish() }
            let words = line.split(separator: " ", maxSplits: 1)
            switch words.first {
            case "saved": counts.note(Int64(words[1]) ?? 0)
            case "failed": findings.violation("process \(number): \(line)", .refused)
            default: stream.continuation.yield(String(line))
            }
        }
        answers = stream.stream
        if await answer() != "open" { findings.violation("process \(number) did not open the store") }
    }

    func send(_ line: String) { child.send(line: line) }
    func kill() { child.send(signal: SIGKILL) }

    /// The next line that is an answer; nil once the process has ended.
    func answer() async -> String? {
        for await answer in answers { return answer }
        return nil
    }

    /// The newest of its own saves that it was told of.
    var acknowledged: Int64 { counts.newest }
    func takeAcknowledgedCount() -> Int { counts.takeCount() }
}

private final class SharingCounts: Sendable {
    private let state = Mutex((newest: Int64(0), count: 0))

    func note(_ number: Int64) { state.withLock { $0 = (max($0.newest, number), $0.count + 1) } }
    var newest: Int64 { state.withLock { $0.newest } }
    func takeCount() -> Int {
        state.withLock { state in
            defer { state.count = 0 }
            return state.count
        }
    }
}
