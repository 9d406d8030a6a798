import Foundation
import Synchronization

/// Measures how long the main actor did nothing at a time, by the turns that another thread had meanwhile: while the whole process is
/// halted, neither has any.
@MainActor
final class MainWatch {
    /// In milliseconds.
    private(set) var longestWait = 0
    private nonisolated static let turn = 5

    private final class Turns: Sendable {
        let count = Atomic(0)
    }

    init() {
        let turns = Turns()
        Thread {
            while true {
                usleep(UInt32(MainWatch.turn) * 1000)
                turns.count.add(1, ordering: .relaxed)
            }
        }.start()
        Task { [weak self] in
            var last = turns.count.load(ordering: .relaxed)
            while let self {
                try? await Task.sleep(for: .milliseconds(MainWatch.turn))
                let now = turns.count.load(ordering: .relaxed)
                self.longestWait = max(self.longestWait, (now - last) * MainWatch.turn)
                last = now
            }
        }
    }
}
