import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport

/// Three processes commit and copy the log by turns, as fast as they can, into one file.
///
/// Two connections that do so at once can damage a file with SQLite before 3.51.3. After every 250 rounds of each, and at the end,
/// the file is whole, it has what each process has committed, and so has the feed.
@MainActor
final class CheckpointRounds {
    private let rounds: Int
    private let findings: Findings
    private let watchdog: Watchdog

    private static let processCount = 3
    private static let batch = 250

    init(_ arguments: Arguments, _ findings: Findings) {
        rounds = arguments.count ?? arguments.size.choose(200, 10_000)
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() async throws {
        let store = try StressStore(findings)
        let follower = try SQLiteStore.open(StressStore.sharedOptions(store.url))
        var replay = FeedReplay(ModelLayout(.stress), after: follower.firstPosition)
        var processes: [RoundsProcess] = []
        for number in 1...CheckpointRounds.processCount {
            processes.append(try await RoundsProcess(store.url, number, findings, watchdog))
        }
        var done = 0
        while done < rounds && findings.violations.isEmpty {
            let count = min(CheckpointRounds.batch, rounds - done)
            let moment = "rounds \(done + 1) to \(done + count) of commits and checkpoints"
            watchdog.note("rounds", moment)
            for process in processes { process.send("go \(count)") }
            for process in processes { await process.waitForCounts() }
            done += count
            try replay.catchUp(follower) { findings.recordViolation("\($0), \(moment)") }
            try check(RecordFile(store.url), processes, replay, done, moment)
        }
        for process in processes { process.send("quit") }
        for process in processes { _ = await process.answer() }
        follower.close()
        watchdog.note("rounds", nil)
        let integrity = integrity(of: store.url)
        findings.expect(integrity == "ok", "\(integrity), after the rounds of commits and checkpoints")
        findings.recordFigure("rounds of commit and checkpoint of each of \(processes.count) processes", done)
        findings.recordFigure("commits in them", processes.reduce(0) { $0 + $1.commits })
        findings.recordFigure("checkpoints in them", processes.reduce(0) { $0 + $1.checkpoints })
    }

    private func check(
        _ file: RecordFile, _ processes: [RoundsProcess], _ replay: FeedReplay, _ done: Int, _ moment: String
    ) throws {
        let integrity = try file.integrity()
        findings.expect(integrity == "ok", "\(integrity), \(moment)")
        let records = try file.records(2)
        for process in processes {
            let own = records.filter { $0.task == Int32(process.number) }
            let counted = own.first { $0.key == RoundsChild.key(process.number, 0) }?.revision
            findings.expect(
                counted == Int64(done), "process \(process.number) has \(counted ?? 0) of \(done), \(moment)", .lost)
            let expected = min(done, Int(RoundsChild.recordCount)) + 1
            findings.expect(
                own.count == expected, "\(own.count) records of process \(process.number), \(moment)", .lost)
            findings.expect(
                process.commits == done, "\(process.commits) commits of process \(process.number), \(moment)")
        }
        findings.expect(Set(records) == replay.records("Blue"), "the feed is not as the file, \(moment)", .lost)
        findings.expect(
            replay.commits == Int64(done * processes.count), "\(replay.commits) commits in the feed, \(moment)", .lost)
    }
}

/// A process that commits and copies the log.
@MainActor
private final class RoundsProcess {
    let number: Int
    private(set) var commits = 0
    private(set) var checkpoints = 0
    private let child: ChildProcess
    private let answers: AsyncStream<String>
    private let findings: Findings

    init(_ url: URL, _ number: Int, _ findings: Findings, _ watchdog: Watchdog) async throws {
        (self.number, self.findings) = (number, findings)
        let stream = AsyncStream<String>.makeStream()
        answers = stream.stream
        child = try ChildProcess(["rounds", url.path, "\(number)"]) { line in
            guard let line else { return stream.continuation.finish() }
            switch line.split(separator: " ").first {
            // On a busy machine the rounds may take long, but nobody is stuck while there are commits.
            case "round": watchdog.renew("rounds")
            case "failed": findings.recordViolation("process \(number): \(line)", .refused)
            default: stream.continuation.yield(String(line))
            }
        }
        if await answer() != "open" { findings.recordViolation("process \(number) did not open the store") }
    }

    func send(_ line: String) { child.send(line: line) }

    /// The next line; nil once the process has ended.
    func answer() async -> String? {
        for await answer in answers { return answer }
        return nil
    }

    /// Waits until it has done its rounds.
    func waitForCounts() async {
        let words = await answer()?.split(separator: " ") ?? []
        guard words.count == 3, words[0] == "done", let commits = Int(words[1]), let checkpoints = Int(words[2]) else {
            return findings.recordViolation("process \(number) ended in its rounds", .traps)
        }
        (self.commits, self.checkpoints) = (commits, checkpoints)
    }
}
