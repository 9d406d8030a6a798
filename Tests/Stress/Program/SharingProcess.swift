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
