internal import CSQLite
internal import RowStore

/// Tracks the length of the write-ahead log, and copies it into the main file when asked to.
///
/// It belongs to the writer, whose connection alone copies: SQLite calls it only during the writer's commits.
final class WALCheckpointer {
    /// The lengths of the log in frames (pages) at which something is done.
    struct Limits: Sendable {
        /// From this length on, an idle store copies them.
        let soft: Int
        /// From this length on, an idle store also waits briefly for readers, so that the log can start again from its
        /// beginning.
        var long: Int { soft * 4 }
        /// From this length on a commit does so, for a store that is never idle. The log grows further only while a reader, or
        /// another program, holds it up for longer than ``ReaderPool/gateWait``.
        var hard: Int { soft * 16 }
    }

    let limits: Limits
    private let connection: Connection
    private let counters: StoreCounters
    private let readers: ReaderPool
    private let reports: FailureReports
    /// Held while copying, if the store is shared.
    private let turn: FileLock?
    /// The longest wait of other statements for a lock.
    private let patience: Duration
    private var frames = 0
    private var copied = 0
    /// Why the last restart of the log did not succeed.
    private var obstacle: Obstacle?
    /// The read that was last reported; 0 for one of another program.
    private var reportedRead: UInt64?
    /// How often copying has failed in a row.
    private var failures = 0

    private struct Obstacle {
        /// The reads that blocked it.
        let reads: [ReaderPool.Read]
        /// The length of the log then.
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

    /// Copies the log if it is longer than that. If that fails, it is tried again the next time.
    func checkpoint(above limit: Int) {
        let isIdle = limit == limits.soft
        let isTooLong = frames > (isIdle ? limits.long : limit)
        guard isTooLong || frames - copied > limit else { return }
        if let turn {
            guard (try? turn.take(patience: patience)) != nil else { return }
        }
        defer { turn?.release() }
        if isTooLong { restart(isIdle) } else { note(copy(SQLITE_CHECKPOINT_PASSIVE)) }
        counters.setFrames(frames, uncopied: frames - copied)
    }

    // MARK: Copying

    /// Copies the whole log, so that the next commit starts at its beginning. New readers wait meanwhile, because otherwise
    /// some reader would always use the log.
    private func restart(_ isIdle: Bool) {
        // The same reads may still be open. Each try holds up commits and readers.
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
            note(code)
        case SQLITE_BUSY:
            failures = 0
            // A read of this container that has ended or begun meanwhile may be the reason, and does not hold up the next try.
            if open.isEmpty && (before.wasAnyOpen || hasAnyBegun) { return }
            let number = open.first?.number ?? 0
            guard reportedRead != number else { return }
            reportedRead = number
            reports.report(DataSourceError(blockedBy: open.first, path: connection.path))
        default: note(code)
        }
    }

    private func copy(_ mode: Int32) -> Int32 {
        var total: Int32 = -1
        var done: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, &total, &done)
        // Both are -1 if it could not be tried.
        if done >= 0 {
            // Others may have copied it, and started it again.
            if turn != nil { frames = Int(total) }
            copied = min(Int(done), frames)
            counters.countCheckpoint()
        }
        return code & 0xFF == SQLITE_BUSY ? SQLITE_BUSY : code
    }

    /// Reports a failure that recurs. Another program that copies at the same time is not a failure.
    private func note(_ code: Int32) {
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
                "The write-ahead log of \(connection.path) cannot be copied into the store. It grows until that is "
                    + "possible. \(cause.message)", cause: cause.cause))
    }

    /// Called after each commit.
    private func grew(to frames: Int) {
        readers.noteWrite()
        // The log started again.
        if frames < self.frames { copied = 0 }
        self.frames = frames
        counters.setFrames(frames, uncopied: frames - copied)
    }
}

extension DataSourceError {
    /// - Parameter read: The oldest open read; nil if it does not belong to this container.
    fileprivate init(blockedBy read: ReaderPool.Read?, path: String) {
        let what =
            read.map { "A read of \($0.name), open for \($0.age)," } ?? "A read of another program"
        self.init(
            .readerBlocksCheckpoint,
            "\(what) keeps the write-ahead log of \(path) from being emptied, so that it grows. Keep reads short.")
    }
}
