internal import Synchronization

/// Counts the work of a store since its opening.
///
/// **Isolation**: any thread.
package final class StoreCounters: Sendable {
    private let statements = Atomic(0)
    private let rows = Atomic(0)
    private let frames = Atomic(0)
    private let uncopied = Atomic(0)
    private let checkpoints = Atomic(0)
    private let continued = Atomic(0)
    private let logWaits = Atomic(0)
    private let freeKey: Atomic<Int64>

    init(firstFreeKey: Int64) {
        freeKey = Atomic(firstFreeKey)
    }

    /// The number of statements that ran. Both reads and writes count.
    package var statementsRun: Int { statements.load(ordering: .relaxed) }
    /// The number of rows that committed transactions inserted, updated or deleted.
    package var rowsWritten: Int { rows.load(ordering: .relaxed) }
    /// The used part of the write-ahead log, in bytes.
    package var walBytes: Int {
        let frames = frames.load(ordering: .relaxed)
        return frames == 0 ? 0 : 32 + frames * (24 + 4096)
    }

    /// The number of times that this container copied the write-ahead log, or part of it, into the main file.
    package var checkpointCount: Int { checkpoints.load(ordering: .relaxed) }

    func countCheckpoint() { checkpoints.wrappingAdd(1, ordering: .relaxed) }

    /// The number of attempts to empty the write-ahead log that could wait for reads. For tests.
    package var logWaitCount: Int { logWaits.load(ordering: .relaxed) }

    func countLogWait() { logWaits.wrappingAdd(1, ordering: .relaxed) }

    /// The number of long reads that another thread continued.
    package var readsContinued: Int { continued.load(ordering: .relaxed) }

    func countContinuedRead() { continued.wrappingAdd(1, ordering: .relaxed) }

    var firstFreeKey: Int64 {
        get { freeKey.load(ordering: .acquiring) }
        set { freeKey.store(newValue, ordering: .releasing) }
    }

    func count(statements: Int, rows: Int = 0) {
        self.statements.wrappingAdd(statements, ordering: .relaxed)
        self.rows.wrappingAdd(rows, ordering: .relaxed)
    }

    /// The number of frames of the log that are not copied into the main file yet.
    var uncopiedFrames: Int { uncopied.load(ordering: .relaxed) }

    func setFrames(_ frames: Int, uncopied: Int) {
        self.frames.store(frames, ordering: .relaxed)
        self.uncopied.store(uncopied, ordering: .relaxed)
    }
}
