import Foundation
import Synchronization

/// How much memory this process has, and the size of a store's log, looked at again and again.
final class MemoryWatch: Sendable {
    private struct State {
        var start = MemoryWatch.residentBytes
        var peak = 0
        var longestLog = 0
        var isEnded = false
    }

    private let state = Mutex(State())

    /// - Parameter logSize: Gives the bytes of the log.
    init(logSize: @escaping @Sendable () -> Int) {
        Thread { [self] in
            while !state.withLock({ $0.isEnded }) {
                let (resident, log) = (MemoryWatch.residentBytes, logSize())
                state.withLock { state in
                    state.peak = max(state.peak, resident)
                    state.longestLog = max(state.longestLog, log)
                }
                usleep(10_000)
            }
        }.start()
    }

    func end() { state.withLock { $0.isEnded = true } }

    /// How many bytes more there were at any moment than at the start.
    var growth: Int { state.withLock { max(0, $0.peak - $0.start) } }
    var longestLog: Int { state.withLock { $0.longestLog } }

    /// What is in memory of this process; 0 where that is not known.
    static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}

extension Int {
    /// In megabytes.
    var megabytes: String { "\(self >> 20) MB" }
}
