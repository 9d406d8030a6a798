import Foundation
import Synchronization
import TestSupport

/// Saves records of very different sizes, again and again the same ones, and knows what it saved last.
final class SizedWriter: Sendable {
    private struct State {
        var random: SeededRandom
        var revisions: [String: Int64] = [:]
        var byteCount = 0
        var lastRevision: Int64 = 0
    }

    private let table: Int
    private let size: Size
    private let state: Mutex<State>

    init(table: Int, size: Size, seed: UInt64) {
        self.table = table
        self.size = size
        state = Mutex(State(random: SeededRandom(seed: seed).branch(UInt64(table))))
    }

    /// The revision of each record that was saved last.
    var revisions: [String: Int64] { state.withLock { $0.revisions } }
    /// How many bytes were saved.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The first save.
    var first: RecordData {
        state.withLock { $0.revisions["\(table)/0"] = 0 }
        return RecordData(key: "\(table)/0", task: Int32(table))
    }

    func save(_ count: Int, _ recordSource: any RecordSource, _ watchdog: Watchdog, _ findings: Findings) async {
        for number in 0..<count {
            let values = next()
            watchdog.note("writer \(table)", "save \(number) of \(count)")
            do {
                try await recordSource.put(values)
                findings.count(.acknowledged)
                state.withLock { state in
                    for value in values { state.revisions[value.key] = value.revision }
                }
            } catch {
                findings.recordViolation("save \(number) of table \(table) threw \(error)", .refused)
            }
        }
        watchdog.note("writer \(table)", nil)
    }

    private func next() -> [RecordData] {
        state.withLock { state in
            state.lastRevision += 1
            // Most are small; a few are so large that some thousands of them would not fit into memory.
            let (small, medium) = size.choose((700, 900), (970, 995))
            let kind = state.random.next(below: 1000)
            let (rows, length): (Int, Int) =
                if kind < small {
                    (1 + state.random.next(below: 5), 100 + state.random.next(below: 400))
                } else if kind < medium {
                    (20, 2_000)
                } else {
                    (1, state.random.next(below: 10) == 0 ? 1_000_000 : 200_000)
                }
            state.byteCount += rows * length
            let text = String(repeating: "x", count: length)
            return (0..<rows).map { _ in
                RecordData(
                    key: "\(table)/\(state.random.next(below: 2_000))", task: Int32(table),
                    revision: state.lastRevision, text: text)
            }
        }
    }
}
