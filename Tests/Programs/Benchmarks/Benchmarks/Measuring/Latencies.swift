internal import Synchronization

/// The times of single operations, from whichever task.
final class Latencies: Sendable {
    private let times = Mutex<[UInt64]>([])

    func add(_ nanoseconds: UInt64) { times.withLock { $0.append(nanoseconds) } }

    func add(_ nanoseconds: [UInt64]) { times.withLock { $0.append(contentsOf: nanoseconds) } }

    var all: [UInt64] { times.withLock { $0 } }
}
