internal import CSQLite
internal import RowStore

/// Tracks the length of the write-ahead log, and copies the log into the main file on request.
///
/// Guarded by: the writer. Only the writer's connection copies the log. SQLite calls this object only during commits of the
/// writer.
final class WALCheckpointer {
    /// The lengths of the log, in frames (pages), above which the log is copied.
    struct Limits: Sendable {
        /// If more than this number of frames are not copied yet, an idle store copies them.
        let soft: Int
        /// If the log is longer than this, an idle store also waits briefly for readers, so that the log can restart from its
        /// beginning.
        var long: Int { soft * 4 }
        /// If the log is longer than this, a commit also waits for readers. This limit is for a store that is never idle. The
        /// log still grows if a reader or another program blocks the restart for longer than ``ReaderPool/gateWait``.
        var hard: Int { soft * 16 }
    }

    let limits: Limits
    private let connection: Connection
    private let counters: StoreCounters
    private let readers: ReaderPool
    private let reports: FailureReports
    /// The lock that is taken during a copy; nil if the store is not shared.
    private let writeLock: FileLock?
    /// The longest time that a statement of the connection waits for a lock, except during the attempts to empty the log.
    private let lockTimeout: Duration
    private var frames = 0
    private var copied = 0
    /// The old length of the log, after a restart. The log's index keeps the old length until the next commit. Nil at all other
    /// times.
    private var emptiedLength: Int?
    /// Whether the last attempt has copied the whole log. SQLite can copy the whole log only if each open read sees the
    /// newest state.
    private var isWhole = false
    /// The length of the log, in frames, above which the log is to be emptied again while snapshots are open; 0 after a
    /// restart.
    private var nextAttempt = 0
    /// The reads that blocked the last attempt to restart the log; nil if the attempt succeeded.
    private var obstacle: Obstacle?
    /// The length of the log, in frames, at the last attempt that waited in vain for a read of another program; nil after a
    /// success.
    private var lengthAtLastWait: Int?
    /// The number of the last read that was reported as an obstacle; 0 for a read of another program.
    private var reportedRead: UInt64?
    /// The number of failed copies since the last success.
    private var failures = 0

    private struct Obstacle {
        /// The reads of this container that blocked the restart; empty if another program's read blocked it.
        let reads: [ReaderPool.Read]
        /// The length of the log at the time of the attempt, in frames (pages).
        let frames: Int
    }

    init(
        _ connection: Connection, counters: StoreCounters, limits: Limits, readers: ReaderPool,
        reports: FailureReports, writeLock: FileLock? = nil, lockTimeout: Duration
    ) {
        self.writeLock = writeLock
        self.lockTimeout = lockTimeout
        connection.setBusyTimeout(lockTimeout)
        self.limits = limits
        self.connection = connection
        self.counters = counters
        self.readers = readers
        self.reports = reports
        sqlite3_wal_hook(
            connection.handle,
            { checkpointer, _, _, frames in
                if let checkpointer {
                    Unmanaged<WALCheckpointer>.fromOpaque(checkpointer).takeUnretainedValue().logDidChange(
                        to: Int(frames))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends the callbacks from SQLite, which have a pointer to this object.
    func end() {
        sqlite3_wal_hook(connection.handle, nil, nil)
    }

    /// Copies the log if it is longer than the limit, in frames (pages). A failed copy is tried again by the next call.
    func checkpoint(above limit: Int) {
        let isIdle = limit == limits.soft
        let isTooLong = frames > (isIdle ? limits.long : limit)
        guard isTooLong || frames - copied > limit else { return }
        if let writeLock {
            guard (try? writeLock.take(lockTimeout: lockTimeout)) != nil else { return }
        }
        defer { writeLock?.release() }
        if isTooLong { restart(isIdle) } else { record(copy(SQLITE_CHECKPOINT_PASSIVE)) }
        counters.setFrames(frames, uncopied: frames - copied)
    }

    // MARK: Copying

    /// Copies the whole log, so that the next commit starts at the beginning of the log. New readers wait during the copy:
    /// otherwise there might always be a reader that uses the log.
    private func restart(_ isIdle: Bool) {
        // Do not try again while the same reads may still be open, because each attempt delays commits and readers.
        if let obstacle, frames < obstacle.frames + limits.soft,
            obstacle.reads.isEmpty ? !isIdle : readers.isAnyOpen(obstacle.reads)
        {
            return
        }
        if let snapshot = readers.oldestSnapshot { return copyBesides(snapshot) }
        // A read of another program may last long, for example if another process keeps a snapshot open. So after an attempt
        // has waited for such a read in vain, wait again only when the log is twice as long. The attempts in between do not
        // wait, and succeed if the read has ended.
        let waits = lengthAtLastWait.map { frames >= 2 * $0 } ?? true
        if waits { counters.countLogWait() }
        let before = readers.closeGate()
        sqlite3_busy_timeout(connection.handle, waits ? ReaderPool.gateWait : 0)
        let code = copy(SQLITE_CHECKPOINT_RESTART)
        connection.setBusyTimeout(lockTimeout)
        let (open, hasAnyBegun) = readers.openGate(before.last)
        obstacle = code == SQLITE_OK ? nil : Obstacle(reads: open, frames: frames)
        switch code {
        case SQLITE_OK:
            // The next commit begins at the start of the log. Reset the numbers here, because `setLength` resets them only if
            // the length shrinks.
            (frames, copied, nextAttempt) = (0, 0, 0)
            emptiedLength = connection.logLength
            reportedRead = nil
            lengthAtLastWait = nil
            record(code)
        case SQLITE_BUSY:
            failures = 0
            // The obstacle may be a read of this container that has ended or begun meanwhile. Do not report such a read,
            // because it does not delay the next attempt.
            if open.isEmpty && (before.wasAnyOpen || hasAnyBegun) { return }
            if open.isEmpty, waits { lengthAtLastWait = frames }
            let number = open.first?.number ?? 0
            guard reportedRead != number else { return }
            reportedRead = number
            reports.report(DataSourceError(blockedBy: open.first, path: connection.path))
        default: record(code)
        }
    }

    /// Copies the part of the log that a snapshot does not need. The log cannot restart before the snapshot ends, so the copy
    /// makes neither commits nor readers wait.
    private func copyBesides(_ snapshot: ReaderPool.Read) {
        record(copy(SQLITE_CHECKPOINT_PASSIVE))
        obstacle = Obstacle(reads: [snapshot], frames: frames)
        guard reportedRead != snapshot.number else { return }
        reportedRead = snapshot.number
        reports.report(DataSourceError(blockedBy: snapshot, path: connection.path))
    }

    /// Reads the length of the log. This is needed if only other members write, because then no commit of this container has
    /// recorded the length.
    func readLength() {
        if let length = connection.logLength, length != emptiedLength { setLength(length) }
    }

    /// Whether the log is so long that it should be emptied while snapshots are open, and has grown since the last attempt.
    var isLong: Bool { frames > max(limits.soft, nextAttempt) }

    /// Copies the log. If each snapshot sees the newest state, begins the transactions of the snapshots again. The snapshots
    /// still see the same state.
    ///
    /// A transaction that begins when the whole log is copied reads only the main file. So the next commit can write at the
    /// beginning of the log. But the frames of later commits cannot be copied while the transaction is open.
    func emptyBesideSnapshots() {
        if let writeLock {
            guard (try? writeLock.take(lockTimeout: .zero)) != nil else { return }
        }
        defer { writeLock?.release() }
        // A copy makes the connection forget which state of the file it has seen. So read the newest state, and remember its
        // version, before the copy.
        let isSeen = (try? connection.values("PRAGMA data_version")) != nil
        let version = OutsideWrites.version(connection)
        record(copy(SQLITE_CHECKPOINT_PASSIVE))
        nextAttempt = frames + limits.soft / 4
        counters.setFrames(frames, uncopied: frames - copied)
        guard isSeen, isWhole else { return }
        connection.setBusyTimeout(.zero)
        defer { connection.setBusyTimeout(lockTimeout) }
        // During this transaction nobody can write, so the version stays the same after the comparison.
        guard (try? connection.run("BEGIN IMMEDIATE")) != nil else { return }
        defer { connection.rollBack() }
        if OutsideWrites.version(connection) == version { readers.renewSnapshots() }
    }

    private func copy(_ mode: Int32) -> Int32 {
        var total: Int32 = -1
        var done: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, &total, &done)
        isWhole = code == SQLITE_OK && done >= 0 && done == total
        // If SQLite could not try to copy, both numbers are -1.
        if done >= 0 {
            // Others may have written, copied or restarted the log.
            setLength(Int(total))
            copied = Int(done)
            counters.countCheckpoint()
        }
        return code & 0xFF == SQLITE_BUSY ? SQLITE_BUSY : code
    }

    /// Reports the second failure in a row. SQLITE_BUSY is not a failure, because another program may be copying the log.
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
    private func logDidChange(to frames: Int) {
        readers.recordWrite()
        setLength(frames)
        counters.setFrames(frames, uncopied: frames - copied)
    }

    private func setLength(_ length: Int) {
        // The length has shrunk, so the log was restarted.
        if length < frames { (copied, nextAttempt) = (0, 0) }
        frames = length
        emptiedLength = nil
    }
}

extension DataSourceError {
    /// Makes the error for a read that keeps the log from being emptied.
    ///
    /// - Parameter read: The oldest open read; nil for a read of another program.
    fileprivate init(blockedBy read: ReaderPool.Read?, path: String) {
        let what =
            read.map { "A read of \($0.name), open for \($0.age)," } ?? "A read of another program"
        let remedy = read?.isSnapshot == true ? "Call unpin(), or end the loop." : "Keep reads short."
        self.init(
            .readerBlocksCheckpoint,
            "\(what) keeps the write-ahead log of \(path) from being emptied, so that the log grows. \(remedy)")
    }
}
