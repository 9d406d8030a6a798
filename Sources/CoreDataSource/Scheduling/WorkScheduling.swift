internal import Dispatch
internal import RowStore

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
