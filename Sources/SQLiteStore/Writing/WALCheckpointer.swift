internal import CSQLite
internal import RowStore

/// Knows how long the write-ahead log is and copies it into the main file when told to.
///
/// It belongs to the writer: SQLite calls it back during the writer's commits only.
final class LogWatch {
    /// How many frames (pages) the log holds before something is done about it.
    struct Limits: Sendable {
        /// From here on an idle store copies them.
        let soft: Int
        /// From here on copying also waits, a little, for readers, so that the log can start again from its beginning.
        var long: Int { soft * 4 }
        /// From here on a commit itself copies them, for a store that is never idle.
        var hard: Int { soft * 16 }
    }

    let limits: Limits
    private let connection: Connection
    private let counters: StoreCounters
    private var frames = 0
    private var copied = 0

    init(_ connection: Connection, _ counters: StoreCounters, _ limits: Limits) {
        self.limits = limits
        self.connection = connection
        self.counters = counters
        sqlite3_wal_hook(
            connection.handle,
            { watch, _, _, frames in
                if let watch { Unmanaged<LogWatch>.fromOpaque(watch).takeUnretainedValue().grew(to: Int(frames)) }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends the callbacks, which have a pointer to this object.
    func end() {
        sqlite3_wal_hook(connection.handle, nil, nil)
    }

    /// Copies the log if more frames than that are not in the main file yet. A failure leaves them for the next time.
    func checkpoint(above limit: Int) {
        guard frames - copied > limit else { return }
        var total: Int32 = 0
        var done: Int32 = 0
        let waits = frames > limits.long && limit == limits.soft
        if waits { sqlite3_busy_timeout(connection.handle, 100) }
        sqlite3_wal_checkpoint_v2(
            connection.handle, "main", waits ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, &total, &done)
        if waits { sqlite3_busy_timeout(connection.handle, Connection.patience) }
        copied = max(0, Int(done))
        counters.setFrames(frames, uncopied: frames - copied)
    }

    private func grew(to frames: Int) {
        // The log began again.
        if frames < self.frames { copied = 0 }
        self.frames = frames
        counters.setFrames(frames, uncopied: frames - copied)
    }
}
