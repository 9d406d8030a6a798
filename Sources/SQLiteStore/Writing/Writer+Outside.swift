internal import CSQLite
internal import Foundation
internal import RowStore

/// Notices when another program writes to the file. Uses SQLite's data version, a number that changes with each write.
///
/// Guarded by: the writer. All commits of this container use the writer's connection, and the writer records the number after
/// each commit. A number that differs from the recorded number therefore means a write by another program or another member.
/// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_DATA_VERSION)
struct OutsideWrites {
    private var version: UInt32 = 0
    /// Whether another program has made a write that was not reported yet.
    private(set) var hasUnreportedWrite = false
    /// Whether another program has made a write after which the entity tags of scopes were not dropped yet.
    private(set) var makesTagsWrong = false

    /// Compares two states of the file: the state that the connection's last transaction saw, and the recorded state.
    ///
    /// - Parameter isByMember: Whether another member has written. If so, a changed number does not mean that another program
    ///   has written.
    /// - Returns: Whether another program has written.
    mutating func detectWrite(_ connection: Connection, isByMember: Bool = false) -> Bool {
        let found = Self.version(connection)
        guard found != version else { return false }
        version = found
        if isByMember { return false }
        hasUnreportedWrite = true
        makesTagsWrong = true
        return true
    }

    /// Returns whether another program has made a write that was not reported yet. The write then counts as reported.
    mutating func takeUnreportedWrite() -> Bool {
        defer { hasUnreportedWrite = false }
        return hasUnreportedWrite
    }

    /// Records the current state of the file, after a commit or when the store is opened.
    mutating func record(_ connection: Connection) {
        makesTagsWrong = false
        version = Self.version(connection)
    }

    static func version(_ connection: Connection) -> UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}

extension Writer {
    /// Compares the file with the recorded state, like ``OutsideWrites/detectWrite(_:isByMember:)``.
    func lookOutside(isByMember: Bool = false) -> Bool {
        guard outside.detectWrite(connection, isByMember: isByMember) else { return false }
        history?.foundOutsideWrites = true
        return true
    }

    /// Returns whether another program has made a write that was not reported yet; nil if the file cannot be checked now.
    func noticeOutsideWrites() -> Bool? {
        // During a transaction nobody else can write.
        if openEarlyWrite != nil { return outside.takeUnreportedWrite() }
        // A read transaction makes the connection check the file.
        let isSeen =
            (try? execute(.checkFile, "SELECT 1 FROM \"_metadata\" LIMIT 1", hasRow: true)) != nil
        // An error is ignored here: if a new object then gets the key of a stored row, the commit refuses the object's save.
        if isSeen, lookOutside() { try? raiseFirstFreeKey() }
        let isFound = outside.takeUnreportedWrite()
        return isSeen || isFound ? isFound : nil
    }

    /// Records a write of another program in the history if no save has recorded it. Called before the store is closed, because the
    /// next container does not notice earlier writes. Ignores errors other than the lock of another program: the store must be
    /// closed anyway. In a shared store, only a save can tell a write of another program from the writes of members, so this
    /// function does nothing.
    ///
    /// - Parameter waits: Whether to wait while another program has SQLite's write lock.
    /// - Returns: Whether nothing is left to record.
    @discardableResult
    func recordOutsideWrites(waits: Bool) -> Bool {
        guard let history, sharing == nil, openEarlyWrite == nil, !isOutcomeUnknown, hasLock,
            (try? execute(.checkFile, "SELECT 1 FROM \"_metadata\" LIMIT 1", hasRow: true)) != nil
        else { return true }
        _ = lookOutside()
        guard history.foundOutsideWrites else { return true }
        if !waits { connection.setBusyTimeout(.zero) }
        defer { connection.setBusyTimeout(lockTimeout) }
        do {
            // Each transaction begins with the record.
            try transaction {}
            return true
        } catch { return error.code != .storeBusy }
    }

    /// Whether all writes of other programs were reported, and no other program is in a transaction that writes.
    ///
    /// A program first writes its rows to the log, and may then wait for the disk before the rows can be read. During this time
    /// it has SQLite's write lock, so this function takes the lock for a moment. The function does not wait for the lock, and
    /// writes nothing.
    func hasReportedAllWrites() -> Bool {
        guard openEarlyWrite == nil, (try? watch.checkFiles()) != nil else { return false }
        connection.setBusyTimeout(.zero)
        defer { connection.setBusyTimeout(lockTimeout) }
        guard (try? execute(.beginImmediate, "BEGIN IMMEDIATE")) != nil else { return false }
        if lookOutside() { try? raiseFirstFreeKey() }
        connection.rollBack()
        return !outside.hasUnreportedWrite
    }

    /// If no other member has written since the last search for saves, returns the result of ``FeedReader/readFeed(after:)``
    /// without another search. Returns nil if another member may have written.
    ///
    /// Only the writer can distinguish its own writes from writes of other programs, because the writer records the state of
    /// the file after each of its commits.
    ///
    /// - Parameter writes: The number of writes by all members at the time of the last search, which had found all their saves.
    func emptyPage(since writes: Int64) -> FeedPage? {
        // A connection with an open transaction does not see later writes.
        guard openEarlyWrite == nil, let feed = sharing?.feed(ifUnchangedByOthersSince: writes) else { return nil }
        _ = lookOutside()
        return FeedPage(
            position: feed.position, events: [], isMore: false, foundOutsideWrites: outside.takeUnreportedWrite(),
            leaseVersion: feed.leases)
    }

    /// Raises the first free key above the highest stored key. Another program may have stored the row with that key.
    func raiseFirstFreeKey() throws(DataSourceError) {
        var highest: Int64 = 0
        for table in schema.tables.compactMap({ $0 }) {
            let found = try connection.values("SELECT max(\(EntityTable.quotedKey)) FROM \(table.quotedName)")
            if case .integer(let key)? = found.first?.first { highest = max(highest, key) }
        }
        if highest >= counters.firstFreeKey { counters.firstFreeKey = highest == .max ? .max : highest + 1 }
    }
}

/// The keys and leases of a shared store.
extension Writer {
    /// Reserves keys for new rows of this member. No other member uses these keys.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try transaction { () throws(DataSourceError) in
            // Do not correct a bound that is too high: other members may have reserved keys that no row has yet. Such a bound
            // is corrected only when a process opens the store alone.
            guard case .integer(let stored)? = try connection.values(StoreMetadata.selectFirstFreeKeySQL).first?.first,
                (1...KeyBound.limit).contains(stored)
            else { throw SharedTables.damaged(connection) }
            let start = KeyBound.checked(stored, highestKey: try connection.highestKey(schema))
            let end = start > Int64.max - count ? Int64.max : start + count
            _ = try connection.values(StoreMetadata.setFirstFreeKeySQL, [.integer(end)])
            return start..<end
        }
    }

    func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable {
        guard let sharing else { throw DataSourceError.storeClosed }
        return try transaction { () throws(DataSourceError) in
            let snapshot = try LeaseSnapshot(
                connection, version: sharing.leaseVersion, isAlive: sharing.notifier.isAlive)
            let arbiter = change(snapshot)
            if arbiter != snapshot.arbiter {
                try snapshot.write(arbiter, connection)
                sharing.recordLeaseChange()
            }
            return snapshot.table(of: arbiter, schema.layout, asSeenBy: sharing.member.number)
        }
    }

    /// Releases the leases of this member, so that waiting members get the leases at once, and so that this member does not look
    /// like a crashed member in an inspection. Called before the store is closed. Writes nothing if this member has neither
    /// leases nor tickets. Ignores errors: the store must be closed anyway, and the leases of a member that has ended are free.
    ///
    /// - Parameter change: Releases all leases of this member.
    func leave(_ change: LeaseChange) {
        guard let sharing, !isOutcomeUnknown,
            (try? LeaseSnapshot(connection, version: sharing.leaseVersion))?.arbiter.involves(sharing.member.number)
                == true
        else { return }
        _ = try? changeLeases(change)
    }
}

/// Notices when the files of an open store were moved, replaced or deleted. After such a change, writes would still succeed,
/// but all written data would be lost when the files are closed.
///
/// Guarded by: the writer. The watch only reads the identities of the files at the paths, and opens no file.
final class FileWatch {
    private let files: StoreFiles
    private let lock: LockFile
    /// The identity of the main file; nil until the watch first finds the file.
    private var main: FileIdentity?
    private var log: FileIdentity?

    init(_ files: StoreFiles, _ lock: LockFile) {
        self.files = files
        self.lock = lock
        main = try? files.identity(files.main)
    }

    /// Checks that no other process has the store's lock. Call this method while the connection has SQLite's write lock: a
    /// process that opens the store later then waits for the write lock, and sees the result of the current transaction.
    ///
    /// - Throws: `storeInUse` if the lock file was replaced and another process has locked the new file; `storeMoved` if the
    ///   main file was moved.
    func checkLock() throws(DataSourceError) {
        if lock.isInPlace { return }
        // Check the main file first: if the store was moved together with its lock file, this process must keep its lock on
        // that file.
        try check(&main, files.main)
        try lock.check()
    }

    /// Checks that the main file and the write-ahead log are still the same files as at the first check. Call this method
    /// before a commit.
    ///
    /// - Throws: `storeMoved` if the main file or the write-ahead log was replaced or removed.
    func checkFiles() throws(DataSourceError) {
        try check(&main, files.main)
        try check(&log, files.log)
    }

    private func check(_ known: inout FileIdentity?, _ path: String) throws(DataSourceError) {
        let found = try files.identity(path)
        guard let expected = known else {
            known = found
            return
        }
        guard found == expected else { throw DataSourceError(storeMoved: path) }
    }
}
