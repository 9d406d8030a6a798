internal import CSQLite
internal import Foundation
internal import RowStore

/// Notices when other programs write to the file, by the number that SQLite assigns to each state of it.
///
/// It belongs to the writer. Only the writer's connection changes the number for this library's own commits, so any other
/// change was made by another program. (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html,
/// SQLITE_FCNTL_DATA_VERSION)
struct OutsideWrites {
    private var version: UInt32 = 0
    /// Whether a change has not been reported yet.
    private var isNews = false

    /// Compares the file, as the connection's last transaction has seen it, with the recorded state.
    ///
    /// - Parameter isExplained: Whether a container that shares the store has written.
    /// - Returns: Whether it has changed.
    mutating func look(_ connection: Connection, isExplained: Bool = false) -> Bool {
        let found = Self.version(connection)
        guard found != version else { return false }
        version = found
        if isExplained { return false }
        isNews = true
        return true
    }

    /// Whether there was a change that has not been reported; it is reported now.
    mutating func takeNews() -> Bool {
        defer { isNews = false }
        return isNews
    }

    /// Records the present state.
    mutating func note(_ connection: Connection) {
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
        // Nobody else can write while a transaction is open.
        if early != nil { return outside.takeNews() }
        // A read transaction makes the connection look at the file.
        let isSeen =
            (try? execute(schema.firstFreeStatement + 6, "SELECT 1 FROM \"_metadata\" LIMIT 1", hasRow: true)) != nil
        // If the keys cannot be read now, the next commit refuses a save whose key is taken.
        if isSeen, outside.look(connection) { try? raiseFirstFreeKey() }
        return outside.takeNews()
    }

    /// The news of a shared store if no other member has written since those before; nil if one may have.
    ///
    /// Only the writer tells the writes of other programs from own ones, because own commits do not change what its connection
    /// knows of the file.
    ///
    /// - Parameter writes: How often members had written when the news before were complete.
    func quietNews(since writes: Int64) -> SharedNews? {
        // A transaction that is open shows nothing new.
        guard early == nil, let feed = sharing?.feed(withoutOthersSince: writes) else { return nil }
        _ = outside.look(connection)
        return SharedNews(
            position: feed.position, events: [], isMore: false, foundOutsideWrites: outside.takeNews(),
            leaseVersion: feed.leases)
    }

    /// Continues with keys above the highest stored one, whoever stored it.
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
    /// Keys that no other member gives.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try transaction { () throws(DataSourceError) in
            // A bound that is too high is corrected when the store is opened alone, because others may have keys now that no
            // row shows.
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
            let facts = try LeaseFacts(connection, version: sharing.leaseVersion, isAlive: sharing.bell.isAlive)
            let desk = change(facts)
            if desk != facts.desk {
                try facts.write(desk, connection)
                sharing.noteLeaseChange()
            }
            return facts.table(of: desk, schema.layout, asSeenBy: sharing.member.number)
        }
    }
}

/// Notices when the files of an open store were moved, replaced or deleted. Writing to them would continue without an error,
/// and everything written would be lost when they are closed.
///
/// It belongs to the writer, and only looks at names; it opens no file.
final class FileWatch {
    private let files: StoreFiles
    private let lock: LockFile
    /// Nil until it was seen for the first time.
    private var main: FileIdentity?
    private var log: FileIdentity?

    init(_ files: StoreFiles, _ lock: LockFile) {
        self.files = files
        self.lock = lock
        main = try? files.identity(files.main)
    }

    /// Makes sure that nobody else has been let in. Called while SQLite's write lock is held: whoever opens the store from here on
    /// waits for it, and so finds what is about to be committed.
    ///
    /// - Throws: `storeInUse` if the lock file is another one, which another process has locked; `storeMoved`.
    func checkLock() throws(DataSourceError) {
        if lock.isInPlace { return }
        // If the store was moved, so was its lock, which is not to be given up then.
        try check(&main, files.main)
        try lock.check()
    }

    /// Makes sure that the files are those that were written to. Called before a commit.
    ///
    /// - Throws: `storeMoved` if the store's file or its write-ahead log is not the one that was there before.
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
