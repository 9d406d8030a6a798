internal import Synchronization

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
