package import Dispatch
internal import RowStore
internal import Synchronization

/// Where the work of a container runs, and how it waits. Tests provide an implementation that makes every order of events
/// repeatable.
package struct WorkScheduling: Sendable {
    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - label: The name in debuggers.
    ///   - isPrivate: Whether the queue is that of a private or reading context, where waiting for a private one is forbidden.
    package var makeQueue: @Sendable (_ label: String, _ isPrivate: Bool) -> any WorkQueue
    /// Runs work after a delay.
    package var after: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    /// Makes an object that a thread can wait for.
    package var makeSignal: @Sendable () -> any WorkSignal

    package init(
        makeQueue: @escaping @Sendable (_ label: String, _ isPrivate: Bool) -> any WorkQueue,
        after: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void,
        makeSignal: @escaping @Sendable () -> any WorkSignal = { DispatchSignal() }
    ) {
        self.makeQueue = makeQueue
        self.after = after
        self.makeSignal = makeSignal
    }

    /// Queues of the system and its clock.
    package static let system = WorkScheduling { label, isPrivate in
        DispatchWorkQueue(label: label, isPrivate: isPrivate)
    } after: { delay, work in
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
    }
}

/// Runs pieces of work one after the other, in the order in which they came.
package protocol WorkQueue: AnyObject, Sendable {
    /// Runs the work after everything that came before it.
    func async(_ work: @escaping @Sendable () -> Void)

    /// Runs the work after everything that came before it, and waits for it. Never called from the queue itself.
    func sync<R>(_ work: () throws -> R) rethrows -> R

    /// Traps unless the calling code runs on the queue.
    func checkIsCurrent()
}

/// What one thread waits for and another one signals, once.
package protocol WorkSignal: Sendable {
    func signal()

    /// Blocks until the signal is given.
    func wait()
}

/// A signal of the system.
package struct DispatchSignal: WorkSignal {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func signal() { semaphore.signal() }
    package func wait() { semaphore.wait() }
}

/// A serial queue of the system.
final class DispatchWorkQueue: WorkQueue {
    private let queue: DispatchQueue
    private static let privateQueue = DispatchSpecificKey<Void>()

    init(label: String, isPrivate: Bool) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
        if isPrivate { queue.setSpecific(key: Self.privateQueue, value: ()) }
        // A read that holds up the store is reported by its queue's name.
        queue.setSpecific(key: ReaderName.key, value: label)
    }

    /// Whether the calling code runs on the queue of a private or reading context.
    static var isPrivateQueueCurrent: Bool { DispatchQueue.getSpecific(key: privateQueue) != nil }

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func sync<R>(_ work: () throws -> R) rethrows -> R { try queue.sync(execute: work) }

    func checkIsCurrent() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Runs a context's jobs one after the other on a queue of its own, so that blocking work holds up nothing else.
package final class QueueExecutor: SerialExecutor {
    private let queue: any WorkQueue
    private let waiting = Atomic<Int>(0)

    package init(_ queue: any WorkQueue) {
        self.queue = queue
    }

    /// Whether another job waits behind the one that is running.
    package var hasWaitingJobs: Bool { waiting.load(ordering: .relaxed) > 0 }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs the work after everything that was enqueued before it.
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        waiting.add(1, ordering: .relaxed)
        queue.async {
            self.waiting.subtract(1, ordering: .relaxed)
            work()
        }
    }

    /// Whether the calling code runs on the executor of any private or reading context.
    package static var isAnyCurrent: Bool { DispatchWorkQueue.isPrivateQueueCurrent }

    /// Runs the work after everything that was enqueued before it, and waits for it. Never call it on this executor.
    package func runAndWait<R>(_ work: () throws -> R) rethrows -> R {
        try queue.sync(work)
    }

    package func checkIsolated() {
        queue.checkIsCurrent()
    }
}

/// Runs work that may block for long, such as opening a store, on threads of its own.
///
/// The pool of Swift's tasks has as many threads as there are cores. Work that blocked one of them while it waited for another task,
/// such as the one that closes the store, could keep that task from running.
final class BlockingExecutor: TaskExecutor {
    private static let shared = BlockingExecutor()

    /// Runs the work, with the task's cancellation and its local values.
    static func run<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(shared) { try work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A queue of its own gets a thread at once; those of a concurrent queue come one by one while the others are blocked.
        DispatchQueue(label: "CoreDataSource.BlockingExecutor").async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

/// Where large values are released, one after the other.
package let releaseQueue = DispatchQueue(label: "CoreDataSource.releases")

/// Holds a value that takes long to release, and lets go of it on ``releaseQueue``.
///
/// A reference that is handed to a queue as well is not enough: if the queue is quicker, the last reference is the one that was
/// kept here. Here the queue empties the box, so it does not matter who lets go of the box last.
package final class ReleasedElsewhere<Value: Sendable>: Sendable {
    private let held: Guarded<Value?>

    package init(_ value: Value) {
        held = Guarded(value)
    }

    /// Calls the body with the value, unless it was released. The body must not keep it.
    package func use(_ body: (Value) -> Void) {
        if let value = held.withLock({ $0 }) { body(value) }
    }

    /// Releases the value after those that came before it.
    package func release() {
        releaseQueue.async { self.held.withLock { $0 = nil } }
    }
}
