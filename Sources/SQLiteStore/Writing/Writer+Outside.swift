internal import CSQLite
internal import Foundation
internal import RowStore

/// Notices writes of other programs to the file by SQLite's data version, a number that changes with each write.
///
/// Guarded by: the writer. This library's commits go over the writer's connection, and the writer records the number after each
/// commit. So any other change of the number comes from another program or another member.
/// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_DATA_VERSION)
struct OutsideWrites {
    private var version: UInt32 = 0
    /// Whether there is a write of another program that was not reported.
    private var hasUnreportedWrite = false

    /// Compares the file, as the connection's last transaction saw it, with the recorded state.
    ///
    /// - Parameter isExplained: Whether another member has written, which explains a change.
    /// - Returns: Whether another program has written.
    mutating func look(_ connection: Connection, isExplained: Bool = false) -> Bool {
        let found = Self.version(connection)
        guard found != version else { return false }
        version = found
        if isExplained { return false }
        hasUnreportedWrite = true
        return true
    }

    /// Whether there is a write of another program that was not reported. The call counts as its report.
    mutating func takeUnreportedWrite() -> Bool {
        defer { hasUnreportedWrite = false }
        return hasUnreportedWrite
    }

    /// Records the present state of the file.
    mutating func record(_ connection: Connection) {
        version = Self.version(connection)
    }

    private static func version(_ connection: Connection) -> UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}

extension Writer {
    /// Checks whether another program has written since the last commit, or since the last check.
    func noticeOutsideWrites() -> Bool {
        // During a transaction nobody else can write.
        if openEarlyWrite != nil { return outside.takeUnreportedWrite() }
        // A read transaction makes the connection check the file.
        let isSeen =
            (try? execute(schema.firstFreeStatement + 6, "SELECT 1 FROM \"_metadata\" LIMIT 1", hasRow: true)) != nil
        // If the keys cannot be read now, the next commit refuses a save with a key that is already in the store.
        if isSeen, outside.look(connection) { try? raiseFirstFreeKey() }
        return outside.takeUnreportedWrite()
    }

    /// The result of ``FeedReader/readFeed(after:)`` if no other member has written since the last call; nil if another member
    /// may have written.
    ///
    /// Only the writer can tell writes of other programs from its own writes, because it records the state of the file after
    /// each of its commits.
    ///
    /// - Parameter writes: The number of writes by members when all their saves had last been read.
    func emptyPage(since writes: Int64) -> FeedPage? {
        // An open transaction does not see later writes.
        guard openEarlyWrite == nil, let feed = sharing?.feed(withoutOthersSince: writes) else { return nil }
        _ = outside.look(connection)
        return FeedPage(
            position: feed.position, events: [], isMore: false, foundOutsideWrites: outside.takeUnreportedWrite(),
            leaseVersion: feed.leases)
    }

    /// Raises the first free key above the highest stored key, whoever stored the row.
    func raiseFirstFreeKey() throws(DataSourceError) {
        var highest: Int64 = 0
        for table in schema.tables.compactMap({ $0 }) {
            let found = try connection.values("SELECT max(\(EntityTable.quotedKey)) FROM \(table.quotedName)")
            if case .integer(let key)? = found.first?.first { highest = max(highest, key) }
        }
        if highest >= counters.firstFreeKey { counters.firstFreeKey = highest == .max ? .max : highest + 1 }
    }
}

/// The keys and the leases of a shared store.
extension Writer {
    /// Reserves keys that no other member gives to rows.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try transaction { () throws(DataSourceError) in
            // A bound that is too high is corrected only when the store is opened alone. Now other members may have reserved
            // keys that no row has yet.
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
            let facts = try LeaseFacts(connection, version: sharing.leaseVersion, isAlive: sharing.notifier.isAlive)
            let desk = change(facts)
            if desk != facts.desk {
                try facts.write(desk, connection)
                sharing.recordLeaseChange()
            }
            return facts.table(of: desk, schema.layout, asSeenBy: sharing.member.number)
        }
    }
}

/// Notices when the files of an open store were moved, replaced or deleted. Without this check, writes to them would succeed,
/// and everything written would be lost when the files are closed.
///
/// Guarded by: the writer. The watch only reads the identities of files by their names. It opens no file.
final class FileWatch {
    private let files: StoreFiles
    private let lock: LockFile
    /// The identity of the main file; nil until the watch has seen the file.
    private var main: FileIdentity?
    private var log: FileIdentity?

    init(_ files: StoreFiles, _ lock: LockFile) {
        self.files = files
        self.lock = lock
        main = try? files.identity(files.main)
    }

    /// Makes sure that no other process has the store's lock. Call it while SQLite's write lock is taken: a process that opens
    /// the store afterwards waits for the write lock, and then finds the present transaction.
    ///
    /// - Throws: `storeInUse` if the lock file was replaced and another process has locked the new file; `storeMoved`.
    func checkLock() throws(DataSourceError) {
        if lock.isInPlace { return }
        // If the store was moved, its lock file was moved too, and the lock must be kept.
        try check(&main, files.main)
        try lock.check()
    }

    /// Makes sure that the files are the files that were written before. Call it before a commit.
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
