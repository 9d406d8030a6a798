import Foundation
import Synchronization

/// Measures time that this process could use: it stands still while a thread that has work waits for a processor.
///
/// On a busy machine every limit in wall time is too short some day. A limit on this clock is one of the process itself. Where
/// the system does not count the waits it is wall time.
final class RunningClock: Sendable {
    private struct State {
        var elapsed = Duration.zero
        var last = ContinuousClock.now
        /// How long each thread has waited for a processor so far, in nanoseconds.
        var waits: [String: UInt64] = [:]
    }

    static let shared = RunningClock()

    private let state = Mutex(State())

    private init() {
        let thread = Thread { [self] in
            while true {
                measure()
                usleep(20_000)
            }
        }
        thread.start()
    }

    /// How much of that time there was since the first use.
    var now: Duration { state.withLock { $0.elapsed } }

    private func measure() {
        let waits = RunningClock.waits()
        state.withLock { state in
            let longest = waits.map { $0.value - min($0.value, state.waits[$0.key] ?? 0) }.max() ?? 0
            let now = ContinuousClock.now
            state.elapsed += now - state.last - .nanoseconds(longest)
            state.last = now
            state.waits = waits
        }
    }

    /// The second number of each thread's `schedstat`. (https://docs.kernel.org/scheduler/sched-stats.html)
    private static func waits() -> [String: UInt64] {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var waits: [String: UInt64] = [:]
        for thread in threads {
            let line = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            if let words = line?.split(separator: " "), words.count > 1 { waits[thread] = UInt64(words[1]) }
        }
        return waits
    }
}
