package import Dispatch
package import Foundation
internal import RowStore
internal import Synchronization

/// The queues, timers and signals of a container. Tests provide an implementation in which the order of events is repeatable.
package struct WorkScheduling: Sendable {
    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - label: The name of the queue in debuggers.
    ///   - isPrivate: Whether a private or reading context uses the queue. On such a queue, a call traps that could wait for the
    ///     queue itself, such as `performAndWait`.
    package var makeQueue: @Sendable (_ label: String, _ isPrivate: Bool) -> any WorkQueue
    /// Runs work after a delay.
    package var after: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    /// Makes a signal that a thread can wait for.
    package var makeSignal: @Sendable () -> any WorkSignal
    /// Returns the current time.
    package var now: @Sendable () -> Date = { Date() }
    /// Returns the time of a clock that also runs while the system sleeps, unlike the clock of ``after``.
    package var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    package init(
        makeQueue: @escaping @Sendable (_ label: String, _ isPrivate: Bool) -> any WorkQueue,
        after: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void,
        makeSignal: @escaping @Sendable () -> any WorkSignal = { DispatchSignal() }
    ) {
        self.makeQueue = makeQueue
        self.after = after
        self.makeSignal = makeSignal
    }

    /// The queues and the clock of the system.
    package static let system = WorkScheduling { label, isPrivate in
        DispatchWorkQueue(label: label, isPrivate: isPrivate)
    } after: { delay, work in
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
    }
}

/// A serial queue. It runs work in the order in which the work was enqueued.
package protocol WorkQueue: AnyObject, Sendable {
    /// Enqueues work.
    func async(_ work: @escaping @Sendable () -> Void)

    /// Enqueues work, and waits until the work has run. Never call this function on the queue itself.
    func sync<R>(_ work: () throws -> R) rethrows -> R

    /// Traps if the calling code does not run on the queue.
    func checkIsCurrent()
}

/// A signal that one thread sends once, and that another thread waits for.
package protocol WorkSignal: Sendable {
    func signal()

    /// Blocks until the signal is sent.
    func wait()
}

package struct DispatchSignal: WorkSignal {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func signal() { semaphore.signal() }
    package func wait() { semaphore.wait() }
}

final class DispatchWorkQueue: WorkQueue {
    private let queue: DispatchQueue
    private static let privateQueue = DispatchSpecificKey<Void>()

    init(label: String, isPrivate: Bool) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
        if isPrivate { queue.setSpecific(key: Self.privateQueue, value: ()) }
        // If a read delays the store, the store reports the name of the read's queue.
        queue.setSpecific(key: ReaderName.key, value: label)
    }

    /// Whether the calling code runs on the queue of a private or reading context.
    static var isPrivateQueueCurrent: Bool { DispatchQueue.getSpecific(key: privateQueue) != nil }

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func sync<R>(_ work: () throws -> R) rethrows -> R { try queue.sync(execute: work) }

    func checkIsCurrent() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Runs the jobs of a context one after the other, on a queue for this context alone. So blocking work does not delay other
/// contexts.
package final class QueueExecutor: SerialExecutor {
    private let queue: any WorkQueue
    private let waiting = Atomic<Int>(0)

    package init(_ queue: any WorkQueue) {
        self.queue = queue
    }

    /// Whether another job is waiting for the running job to end.
    package var hasWaitingJobs: Bool { waiting.load(ordering: .relaxed) > 0 }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Enqueues work.
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        waiting.add(1, ordering: .relaxed)
        queue.async {
            self.waiting.subtract(1, ordering: .relaxed)
            work()
        }
    }

    /// Whether the calling code runs on the executor of any private or reading context.
    package static var isAnyCurrent: Bool { DispatchWorkQueue.isPrivateQueueCurrent }

    /// Enqueues work, and waits until the work has run. Never call this function on this executor.
    package func runAndWait<R>(_ work: () throws -> R) rethrows -> R {
        try queue.sync(work)
    }

    package func checkIsolated() {
        queue.checkIsCurrent()
    }
}

/// Runs work that may block for long, such as opening a store, on separate threads.
///
/// Swift's cooperative pool has as many threads as there are cores. If work blocked such a thread while it waited for another
/// task, such as closing the store, the other task might never get a thread.
final class BlockingExecutor: TaskExecutor {
    private static let shared = BlockingExecutor()

    /// Runs the work within the calling task, so that the task's cancellation and task-local values apply.
    static func run<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(shared) { try work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Use a new queue, because a new queue gets a thread at once. A concurrent queue gets more threads only slowly if its
        // threads are blocked.
        DispatchQueue(label: "CoreDataSource.BlockingExecutor").async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

/// The queue on which large values are released, one after the other.
package let releaseQueue = DispatchQueue(label: "CoreDataSource.releases")

/// A box for a value that takes long to release. The value is released on ``releaseQueue``.
///
/// Passing a second reference to the queue is not enough: if the queue finishes first, the caller has the last reference. With
/// the box, the queue itself removes the value, no matter which thread releases the box last.
package final class ReleasedOffMain<Value: Sendable>: Sendable {
    private let value: Guarded<Value?>

    package init(_ value: Value) {
        self.value = Guarded(value)
    }

    /// Calls the body with the value, if the value was not released yet. The body must not keep the value.
    package func use(_ body: (Value) -> Void) {
        if let value = self.value.withLock({ $0 }) { body(value) }
    }

    /// Releases the value on the queue.
    package func release() {
        releaseQueue.async { self.value.withLock { $0 = nil } }
    }
}
