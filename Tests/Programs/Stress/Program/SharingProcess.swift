import Foundation
import Synchronization
import TestSupport

/// A process that shares the store.
@MainActor
final class SharingProcess {
    let number: Int
    private let child: ChildProcess
    private let answers: AsyncStream<String>
    private let counts: SharingCounts

    /// - Parameter didSave: Called for each of its saves that was reported.
    init(
        _ place: SharedPlace, _ number: Int, _ findings: Findings, didSave: @escaping @Sendable () -> Void
    ) async throws {
        self.number = number
        let stream = AsyncStream<String>.makeStream()
        let counts = SharingCounts()
        self.counts = counts
        child = try ChildProcess(["sharing", place.description, "\(number)"]) { line in
            guard let line else { return stream.continuation.finish() }
            let words = line.split(separator: " ")
            switch words.first {
            case "saved":
                counts.note(Int64(words[1]) ?? 0, String(words[2]))
                didSave()
            case "waited": counts.note(wait: Int(words[1]) ?? 0)
            case "copied": counts.note(checkpoints: Int(words[1]) ?? 0)
            case "refused": counts.note(refused: String(words[1]))
            case "failed": findings.recordViolation("process \(number): \(line)", .refused)
            default: stream.continuation.yield(String(line))
            }
        }
        answers = stream.stream
        if await answer() != "open" { findings.recordViolation("process \(number) did not open the store") }
    }

    func send(_ line: String) { child.send(line: line) }
    func kill() { child.send(signal: SIGKILL) }

    /// Stops it for a time, as a machine that sleeps does.
    func stop(for time: Duration) async throws {
        child.send(signal: SIGSTOP)
        defer { child.send(signal: SIGCONT) }
        try await Task.sleep(for: time)
    }

    /// The next line that is an answer; nil once the process has ended.
    func answer() async -> String? {
        for await answer in answers { return answer }
        return nil
    }

    /// The longest time that its main actor did nothing, in milliseconds.
    var longestWait: Int { counts.longestWait }
    /// The longest time from the end of a disturbance to the next save that was reported, in milliseconds; nil if there was none.
    var recovery: Int? { counts.recovery }
    /// Whatever disturbed it has ended.
    func beginRecovery() { counts.beginRecovery() }

    /// The newest of its own saves that was reported to it.
    var acknowledged: Int64 { counts.newest }
    /// How often it has copied the log of a file.
    var checkpointCount: Int { counts.checkpoints }
    func takeAcknowledgedCount() -> Int { counts.takeCount() }
    /// What was reported of its attempts since the last call.
    func takeAttempts() -> (saved: [String], refused: [String]) { counts.takeAttempts() }
}

private final class SharingCounts: Sendable {
    private struct State {
        var newest: Int64 = 0
        var count = 0
        var checkpoints = 0
        var longestWait = 0
        var disturbed: ContinuousClock.Instant?
        var recovery: Int?
        var attempts: (saved: [String], refused: [String]) = ([], [])
    }

    private let state = Mutex(State())

    func note(_ number: Int64, _ text: String) {
        state.withLock { state in
            state.newest = max(state.newest, number)
            state.count += 1
            state.attempts.saved.append(text)
            guard let disturbed = state.disturbed else { return }
            state.disturbed = nil
            state.recovery = max(state.recovery ?? 0, Int((.now - disturbed) / .milliseconds(1)))
        }
    }

    func note(checkpoints: Int) { state.withLock { $0.checkpoints = checkpoints } }
    func note(wait: Int) { state.withLock { $0.longestWait = max($0.longestWait, wait) } }
    func beginRecovery() { state.withLock { $0.disturbed = .now } }
    func note(refused text: String) { state.withLock { $0.attempts.refused.append(text) } }

    func takeAttempts() -> (saved: [String], refused: [String]) {
        state.withLock { state in
            defer { state.attempts = ([], []) }
            return state.attempts
        }
    }

    var newest: Int64 { state.withLock { $0.newest } }
    var longestWait: Int { state.withLock { $0.longestWait } }
    var recovery: Int? { state.withLock { $0.recovery } }
    var checkpoints: Int { state.withLock { $0.checkpoints } }
    func takeCount() -> Int {
        state.withLock { state in
            defer { state.count = 0 }
            return state.count
        }
    }
}
