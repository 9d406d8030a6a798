internal import CSQLite
internal import RowStore

/// Tracks the length of the write-ahead log, and copies the log into the main file on request.
///
/// Guarded by: the writer. Only the writer's connection copies the log, and SQLite calls this object only during the writer's
/// commits.
final class WALCheckpointer {
    /// The lengths of the log, in frames (pages), above which the log is copied.
    struct Limits: Sendable {
        /// Above this length, an idle store copies the frames.
        let soft: Int
        /// Above this length, an idle store also waits briefly for readers, so that the log can restart from its beginning.
        var long: Int { soft * 4 }
        /// Above this length, a commit also waits for readers, for a store that is never idle. The log grows further only while
        /// a reader or another program blocks the restart for longer than ``ReaderPool/gateWait``.
        var hard: Int { soft * 16 }
    }

    let limits: Limits
    private let connection: Connection
    private let counters: StoreCounters
    private let readers: ReaderPool
    private let reports: FailureReports
    /// Locked during the copy; nil if the store is not shared.
    private let turn: FileLock?
    /// The longest wait of the connection's other statements for a lock.
    private let patience: Duration
    private var frames = 0
    private var copied = 0
    /// The obstacle to the last restart of the log; nil if the log was restarted.
    private var obstacle: Obstacle?
    /// The number of the read that was last reported; 0 for a read of another program.
    private var reportedRead: UInt64?
    /// The number of failed copies since the last success.
    private var failures = 0

    private struct Obstacle {
        /// The reads that blocked the restart; empty for another program's reads.
        let reads: [ReaderPool.Read]
        /// The length of the log at that time.
        let frames: Int
    }

    init(
        _ connection: Connection, counters: StoreCounters, limits: Limits, readers: ReaderPool,
        reports: FailureReports, turn: FileLock? = nil, patience: Duration
    ) {
        self.turn = turn
        self.patience = patience
        connection.setPatience(patience)
        self.limits = limits
        self.connection = connection
        self.counters = counters
        self.readers = readers
        self.reports = reports
        sqlite3_wal_hook(
            connection.handle,
            { checkpointer, _, _, frames in
                if let checkpointer {
                    Unmanaged<WALCheckpointer>.fromOpaque(checkpointer).takeUnretainedValue().grew(to: Int(frames))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends the callbacks, which have a pointer to this object.
    func end() {
        sqlite3_wal_hook(connection.handle, nil, nil)
    }

    /// Copies the log if it is longer than the limit. A failure is ignored until the next call.
    func checkpoint(above limit: Int) {
        let isIdle = limit == limits.soft
        let isTooLong = frames > (isIdle ? limits.long : limit)
        guard isTooLong || frames - copied > limit else { return }
        if let turn {
            guard (try? turn.take(patience: patience)) != nil else { return }
        }
        defer { turn?.release() }
        if isTooLong { restart(isIdle) } else { record(copy(SQLITE_CHECKPOINT_PASSIVE)) }
        counters.setFrames(frames, uncopied: frames - copied)
    }

    // MARK: Copying

    /// Copies the whole log, so that the next commit starts at the log's beginning. New readers wait during the copy. Otherwise
    /// some reader would always use the log.
    private func restart(_ isIdle: Bool) {
        // Do not try again while the same reads may be open, because each attempt delays commits and readers.
        if let obstacle, frames < obstacle.frames + limits.soft,
            obstacle.reads.isEmpty ? !isIdle : readers.isAnyOpen(obstacle.reads)
        {
            return
        }
        let before = readers.closeGate()
        sqlite3_busy_timeout(connection.handle, ReaderPool.gateWait)
        let code = copy(SQLITE_CHECKPOINT_RESTART)
        connection.setPatience(patience)
        let (open, hasAnyBegun) = readers.openGate(before.last)
        obstacle = code == SQLITE_OK ? nil : Obstacle(reads: open, frames: frames)
        switch code {
        case SQLITE_OK:
            frames = 0
            copied = 0
            reportedRead = nil
            record(code)
        case SQLITE_BUSY:
            failures = 0
            // The reason may be a read of this container that has ended or begun meanwhile. Such a read does not delay the next
            // attempt, so it is not reported.
            if open.isEmpty && (before.wasAnyOpen || hasAnyBegun) { return }
            let number = open.first?.number ?? 0
            guard reportedRead != number else { return }
            reportedRead = number
            reports.report(DataSourceError(blockedBy: open.first, path: connection.path))
        default: record(code)
        }
    }

    private func copy(_ mode: Int32) -> Int32 {
        var total: Int32 = -1
        var done: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, &total, &done)
        // Both numbers are -1 if SQLite could not try to copy.
        if done >= 0 {
            // Other members may have copied and restarted the log.
            if turn != nil { frames = Int(total) }
            copied = min(Int(done), frames)
            counters.countCheckpoint()
        }
        return code & 0xFF == SQLITE_BUSY ? SQLITE_BUSY : code
    }

    /// Reports the second failure in a row. A copy by another program at the same time is no failure.
    private func record(_ code: Int32) {
        guard code != SQLITE_OK && code != SQLITE_BUSY else {
            failures = 0
            return
        }
        failures += 1
        guard failures == 2 else { return }
        let cause = connection.error(code, while: "copying the log of")
        reports.report(
            DataSourceError(
                .checkpointFailed,
                "The write-ahead log of \(connection.path) cannot be copied into the store. The log grows until the copy is "
                    + "possible. \(cause.message)", cause: cause.cause))
    }

    /// Called after each commit.
    private func grew(to frames: Int) {
        readers.recordWrite()
        // The log was restarted.
        if frames < self.frames { copied = 0 }
        self.frames = frames
        counters.setFrames(frames, uncopied: frames - copied)
    }
}

extension DataSourceError {
    /// - Parameter read: The oldest open read; nil if another program has the read open.
    fileprivate init(blockedBy read: ReaderPool.Read?, path: String) {
        let what =
            read.map { "A read of \($0.name), open for \($0.age)," } ?? "A read of another program"
        self.init(
            .readerBlocksCheckpoint,
            "\(what) keeps the write-ahead log of \(path) from being emptied, so that the log grows. Keep reads short.")
    }
}
