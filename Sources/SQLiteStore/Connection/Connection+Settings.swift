internal import CSQLite
internal import RowStore

extension Connection {
    /// The longest time to wait for another program's lock, in milliseconds. Saves have their own limit.
    static let lockTimeout: Int32 = 2000

    /// The maximum length of a store's path, in bytes. SQLite appends at most `-journal` to the path.
    static let longestPath = Int(sqlite3_vfs_find(nil)?.pointee.mxPathname ?? 512) - 8

    var longestValue: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)) }

    /// Applies the settings that every connection needs before its first read. None of these settings changes the file.
    func configure() throws(DataSourceError) {
        sqlite3_busy_timeout(handle, Connection.lockTimeout)
        try set(SQLITE_DBCONFIG_DEFENSIVE, true)
        try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        // A word in double quotes is always a name, never a string. An unknown name is an error.
        try set(SQLITE_DBCONFIG_DQS_DML, false)
        try set(SQLITE_DBCONFIG_DQS_DDL, false)
        // Closing must write nothing until it is certain that the file is a store of this library. A reader must never write.
        try set(closingCopiesLog: false)
        sqlite3_wal_autocheckpoint(handle, 0)
        let code = addFunctions()
        guard code == SQLITE_OK else { throw error(code, while: "opening") }
    }

    /// Applies the settings that every connection needs after its first read. The first read has shown that the file is a
    /// database.
    func configureAfterFirstRead() throws(DataSourceError) {
        // An I/O error in a mapped page would raise a signal instead of an error.
        try set(pragma: "mmap_size", to: 0)
        try set(pragma: "cell_size_check", to: 1)
    }

    func configureReader() throws(DataSourceError) {
        try configureAfterFirstRead()
        try set(pragma: "temp_store", to: 2)
        try set(pragma: "query_only", to: 1)
        try set(pragma: "cache_size", to: -4000)
    }

    /// The size of the writer's page cache, in kilobytes.
    static let writerCache: Int64 = 16_000

    func configureWriter(_ level: SynchronousLevel) throws(DataSourceError) {
        try configureAfterFirstRead()
        // Sorting for an index can need as much space as the store itself, so SQLite sorts in temporary files. SQLite puts
        // these files into the first existing folder of SQLITE_TMPDIR, TMPDIR, /var/tmp and /tmp.
        try set(pragma: "temp_store", to: 1)
        try set(pragma: "cache_size", to: -Connection.writerCache)
        try set(pragma: "journal_size_limit", to: 4 << 20)
        let mode = try values("PRAGMA journal_mode = WAL")
        guard mode == [[.text("wal")]] else {
            throw DataSourceError(
                .storeUnreadable,
                "SQLite cannot use a write-ahead log for \(path). Put the store on a local disk whose file system has shared memory.",
                cause: "SQLite chose \(mode.first.map { "\($0)" } ?? "no log at all").")
        }
        try set(pragma: "synchronous", to: level == .full ? 2 : 1)
        // Without this setting, a disk on an Apple platform may keep data in its cache after `fsync`. Other platforms ignore
        // the setting.
        try set(pragma: "fullfsync", to: 1)
        try set(pragma: "checkpoint_fullfsync", to: 1)
        try set(closingCopiesLog: true)
    }

    /// Sets whether the last connection to close copies the log into the main file, and removes the log.
    func set(closingCopiesLog isOn: Bool) throws(DataSourceError) {
        try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isOn)
    }

    /// Sets one of the switches of `sqlite3_db_config`.
    private func set(_ name: Int32, _ isOn: Bool) throws(DataSourceError) {
        let code = csqlite_set_switch(handle, name, isOn ? 1 : 0)
        guard code == SQLITE_OK else { throw error(code, while: "opening") }
    }

    /// Sets whether SQLite regularly checks if the task of a running statement was canceled.
    func setChecksCancellation(_ isOn: Bool) {
        guard isOn else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        let connection = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, 4000,
            { connection in
                guard let connection else { return 0 }
                let isCancellable = Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().isCancellable
                return isCancellable && Task.isCancelled ? 1 : 0
            }, connection)
    }

    /// Sets the longest time that statements wait for a lock.
    func setBusyTimeout(_ lockTimeout: Duration) {
        sqlite3_busy_timeout(handle, Int32(clamping: Int64(lockTimeout / .milliseconds(1))))
    }

    /// Sets a pragma and reads its value back, because SQLite silently ignores features that it was built without.
    func set(pragma name: String, to value: Int64) throws(DataSourceError) {
        try run("PRAGMA \(name) = \(value)")
        let found = try values("PRAGMA \(name)")
        // If there is no row, this build of SQLite cannot map files at all.
        if found.isEmpty && name == "mmap_size" { return }
        guard found == [[.integer(value)]] else {
            throw DataSourceError(
                .storeUnreadable, "This SQLite does not support \(name) = \(value). Link SQLite 3.40 or newer.")
        }
    }
}

extension Connection {
    /// The number of frames in the log, including those of other processes; nil if the number cannot be read. The number is
    /// read from the index of the log in shared memory. This makes no system call, because the connection has mapped the
    /// index. The number can change at any time.
    ///
    /// The index has the same layout in all versions of SQLite (https://www.sqlite.org/walformat.html#the_wal_index_header).
    var logLength: Int? {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer)
        guard code == SQLITE_OK, let file = pointer, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return nil }
        let (regionSize, layout, lengthOffset): (Int32, UInt32, Int) = (32768, 3_007_000, 16)
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, regionSize, 0, &region) == SQLITE_OK, let region,
            region.load(as: UInt32.self) == layout
        else { return nil }
        return Int(region.load(fromByteOffset: lengthOffset, as: UInt32.self))
    }
}
