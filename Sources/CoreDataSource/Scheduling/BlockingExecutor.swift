internal import Dispatch

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
