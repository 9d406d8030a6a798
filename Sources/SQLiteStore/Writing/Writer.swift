internal import CSQLite
internal import RowStore

/// Writes change sets. Uses the only connection of the container that writes and checkpoints.
///
/// In SQLite versions before 3.51.3, two connections that write or checkpoint at the same time can damage a store. The
/// processes that share a store therefore take turns; see ``SharedWriter``.
final class Writer {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    /// The additional work for a shared store; nil if the store is not shared.
    let sharing: SharedWriter?
    /// Records the saves; nil if the store keeps no history.
    let history: HistoryWriter?
    let log: WALCheckpointer
    let watch: FileWatch
    var outside = OutsideWrites()
    /// The error that stops all later writes: a commit has failed, and may or may not be on the disk. Nil in normal operation.
    private(set) var unknown: DataSourceError?
    /// The UPDATE statement for each set of columns that were changed together. The outer index is the entity.
    var updates: [[ColumnSet: Statement]]
    /// The number of statements, and of written rows, in the current transaction.
    var statementsRun = 0
    var rowsWritten = 0
    /// The highest key that was inserted in the current transaction.
    var highestKey: Int64 = 0
    var cache = WriterCache()
    /// The rows that the open transaction has written early, for a save that is still being made; nil if no transaction is
    /// open.
    var openEarlyWrite: EarlyRows?

    /// The number of keys that a commit reserves beyond its highest key. The larger this number is, the fewer commits must move
    /// the stored bound for new keys.
    static let keyReserve: Int64 = 1024
    /// The longest time to wait for a transaction of another program or another member.
    let lockTimeout: Duration

    init(
        _ connection: Connection, _ schema: StoreSchema, counters: StoreCounters, watch: FileWatch,
        log: WALCheckpointer, sharing: SharedWriter? = nil, history: HistoryWriter? = nil, lockTimeout: Duration
    ) {
        self.sharing = sharing
        self.history = history
        self.lockTimeout = lockTimeout
        self.connection = connection
        self.schema = schema
        self.counters = counters
        updates = Array(repeating: [:], count: schema.tables.count)
        self.log = log
        self.watch = watch
        outside.record(connection)
        // Another member may have made the table of scopes since the file was read.
        if sharing != nil { connection.expectScopeTable() }
    }

    func close() {
        end()
        connection.close()
    }

    /// Ends all work, but keeps the connection open.
    func end() {
        abandonEarlyWrite()
        updates = []
        sharing?.end()
        history?.end()
        log.end()
    }

    /// Whether no more writes are possible, because a failed commit may or may not be on the disk.
    var isOutcomeUnknown: Bool { unknown != nil }

    /// Checks that the main file and the write-ahead log are still the same files as at the first check.
    ///
    /// - Throws: `storeMoved` if a file was replaced or removed.
    func checkFiles() throws(DataSourceError) { try watch.checkFiles() }

    /// Whether the store is still at its path, and this process still has the store's lock.
    var hasLock: Bool {
        do throws(DataSourceError) { try watch.checkLock() } catch { return false }
        return true
    }

    func checkpointIfNeeded() {
        // A checkpoint is not possible during a transaction.
        if openEarlyWrite == nil { log.checkpoint(above: log.limits.soft) }
    }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        if let unknown { throw unknown }
        guard group.contains(where: { !$0.isEmpty }) else { return CommitOutcome() }
        let isEarly = openEarlyWrite?.belongsTo(group) == true
        if !isEarly { abandonEarlyWrite() }
        var refused: [Int: DataSourceError] = [:]
        do throws(DataSourceError) {
            try commitTogether(group)
        } catch {
            guard error.concernsOneSave else { throw error }
            refused = try group.count == 1 && !isEarly ? [0: error] : commitOneByOne(group)
        }
        // The rows are committed, even if the checkpoint fails.
        log.checkpoint(above: log.limits.hard)
        var outcome = CommitOutcome(refused: refused, foundOutsideWrites: outside.takeUnreportedWrite())
        outcome.position = sharing?.position
        return outcome
    }

    private func commitTogether(_ group: [ChangeSet]) throws(DataSourceError) {
        try transaction { () throws(DataSourceError) in
            for set in group { try write(set) }
        }
    }

    /// Writes each save under its own savepoint, so that only the failing saves are refused.
    ///
    /// - Returns: The errors of the refused saves. The keys are the indexes of the saves in the group.
    private func commitOneByOne(_ group: [ChangeSet]) throws(DataSourceError) -> [Int: DataSourceError] {
        try transaction { () throws(DataSourceError) in
            var refusals = Refusals()
            for (index, set) in group.enumerated() where !refusals.refuseIfDependent(set, at: index) {
                let error = try savepoint { () throws(DataSourceError) in
                    try write(set)
                }
                if let error { refusals.refuse(set, at: index, error) }
            }
            return refusals.errors
        }
    }

    private func write(_ set: ChangeSet) throws(DataSourceError) {
        try sharing?.check(set)
        for changes in try unwrittenChanges(of: set) { try write(changes) }
        try writeScopes(of: set)
        try sharing?.append(set)
        try history?.append(set)
    }

    /// Runs the body in a transaction. If rows were written early, uses the transaction of those rows. If the body throws or
    /// the commit fails, everything in the transaction is rolled back, early rows included.
    func transaction<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        // Take the lock of the members before BEGIN: pages that do not fit into the cache go to the log before the commit, and
        // may restart the log.
        if openEarlyWrite == nil { try sharing?.writeLock.take(lockTimeout: lockTimeout) }
        defer { sharing?.writeLock.release() }
        if openEarlyWrite == nil { try begin() }
        defer {
            endEarlyWrite()
            shrinkCache()
        }
        let result: R
        do throws(DataSourceError) {
            result = try body()
            let bound = try moveBound()
            try history?.finish()
            try sharing?.finish()
            // A transaction with early rows has been open for a while. Check the lock again.
            if openEarlyWrite != nil { try watch.checkLock() }
            try watch.checkFiles()
            try commitOrRecord()
            counters.firstFreeKey = max(bound, counters.firstFreeKey)
        } catch {
            connection.rollBack()
            connection.forgetNewScopeTable()
            throw error
        }
        outside.record(connection)
        history?.didCommit()
        sharing?.didCommit()
        sharing?.notify()
        counters.count(statements: statementsRun, rows: rowsWritten)
        return result
    }

    /// Begins a transaction, and checks whether other members or programs have written.
    func begin() throws(DataSourceError) {
        statementsRun = 0
        rowsWritten = 0
        highestKey = 0
        try execute(.beginImmediate, "BEGIN IMMEDIATE")
        do throws(DataSourceError) {
            try watch.checkLock()
            let isByMember = try sharing?.begin() ?? false
            if lookOutside(isByMember: isByMember), sharing == nil { try raiseFirstFreeKey() }
            try history?.begin(isByMember: isByMember)
            if isByMember { connection.expectScopeTable() }
            if outside.makesTagsWrong { try dropTags(of: nil) }
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Runs the body under a savepoint. If the body throws an error that concerns only one save, rolls back only the body's
    /// changes.
    ///
    /// - Returns: The error of the save; nil if the body succeeded.
    private func savepoint(_ body: () throws(DataSourceError) -> Void) throws(DataSourceError) -> DataSourceError? {
        try execute(.setSavepoint, "SAVEPOINT one_save")
        let before = (rowsWritten, highestKey, sharing?.position ?? 0)
        let place = history?.place
        do throws(DataSourceError) {
            try body()
            try execute(.releaseSavepoint, "RELEASE one_save")
            return nil
        } catch {
            guard error.concernsOneSave, connection.isInTransaction else { throw error }
            try execute(.rollBackToSavepoint, "ROLLBACK TO one_save")
            connection.forgetNewScopeTable()
            try execute(.releaseSavepoint, "RELEASE one_save")
            (rowsWritten, highestKey) = (before.0, before.1)
            sharing?.position = before.2
            if let place { history?.place = place }
            return error
        }
    }

    /// Stores a bound above all keys of the transaction, so that these keys are not used again after a restart.
    private func moveBound() throws(DataSourceError) -> Int64 {
        let bound = counters.firstFreeKey
        // In a shared store, keys are reserved before rows use them.
        guard sharing == nil, highestKey >= bound else { return bound }
        let next = highestKey > Int64.max - Writer.keyReserve ? Int64.max : highestKey + Writer.keyReserve
        try execute(.setFirstFreeKey, StoreMetadata.setFirstFreeKeySQL, next)
        return next
    }

    /// Runs a statement with at most one parameter and no result rows. The connection keeps the prepared
    /// statement.
    ///
    /// - Parameter hasRow: Whether the statement returns one row. The row is ignored.
    func execute(
        _ fixed: FixedStatement, _ sql: String, _ value: Int64? = nil, hasRow: Bool = false
    ) throws(DataSourceError) {
        let statement = try connection.statement(fixed, sql)
        if let value { sqlite3_bind_int64(statement.handle, 1, value) }
        let code = statement.step()
        sqlite3_reset(statement.handle)
        statementsRun += 1
        guard code == (hasRow ? SQLITE_ROW : SQLITE_DONE) else { throw connection.error(code, while: "writing") }
    }

    private func commitOrRecord() throws(DataSourceError) {
        do throws(DataSourceError) { try commitTransaction() } catch {
            if error.code == .outcomeUnknown { unknown = error }
            throw error
        }
    }
}

/// The commit of a transaction, and the handling of a failed commit.
///
/// If `fsync` fails in a commit, the commit may still be on the disk. SQLite rolls back the commit in memory, but the pages
/// stay in the write-ahead log, followed by the commit mark. After a crash, the next process that opens the store would treat
/// these pages as a complete commit. The writer therefore overwrites the pages before it reports the failure.
extension Writer {
    func commitTransaction() throws(DataSourceError) {
        let statement = try connection.statement(.commit, "COMMIT")
        let code = statement.step()
        sqlite3_reset(statement.handle)
        statementsRun += 1
        guard code != SQLITE_DONE else { return }
        let error = connection.error(code, while: "writing")
        connection.rollBack()
        guard Writer.mayBeOnDisk(code) else { throw error }
        do throws(DataSourceError) { try overwriteFailedCommit() } catch let failure {
            throw DataSourceError(outcomeUnknownAt: connection.path, cause: failure)
        }
        throw error
    }

    /// Whether a commit that failed with this code may be complete in the log. After a failed write of pages, the commit is
    /// incomplete, because SQLite writes the commit mark last.
    private static func mayBeOnDisk(_ code: Int32) -> Bool {
        let failedToWrite = SQLITE_IOERR | (3 << 8)
        return code != failedToWrite && code & 0xFF != SQLITE_BUSY && code & 0xFF != SQLITE_FULL
    }

    /// Overwrites the failed commit in the log with a small transaction, and waits until the transaction is on the disk.
    private func overwriteFailedCommit() throws(DataSourceError) {
        let level = try connection.values("PRAGMA synchronous").first?.first
        try connection.set(pragma: "synchronous", to: 2)
        try connection.transaction { () throws(DataSourceError) in
            try connection.run(StoreMetadata.countFailedCommitSQL)
        }
        if case .integer(let level)? = level { try connection.set(pragma: "synchronous", to: level) }
    }
}

extension DataSourceError {
    init(outcomeUnknownAt path: String, cause: DataSourceError) {
        self.init(
            .outcomeUnknown,
            "The disk failed while \(path) was being written, and again while the write was being undone. After a restart "
                + "the save may or may not be stored. Check the disk, then open the store again.",
            cause: cause.description)
    }
}

extension Writer {
    /// Writes rows early, before their save is complete. The transaction stays open.
    ///
    /// - Returns: Whether more rows of the save may be written early.
    func write(_ new: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        guard !isOutcomeUnknown, let table = schema.tables[new.entity] else { return false }
        // Do not write early while other members are present. The open transaction would block their writes until the save is
        // made, even while the save's hooks run or this process is suspended.
        if sharing?.notifier.isAnyPresent == true {
            abandonEarlyWrite()
            return false
        }
        do throws(DataSourceError) {
            if openEarlyWrite == nil, earlyWrite.begin() {
                // Set the property before BEGIN, so that a failed BEGIN also ends the early write.
                openEarlyWrite = EarlyRows(earlyWrite)
                // Do not wait for another program that is writing: the early write is optional.
                connection.setBusyTimeout(.zero)
                defer { connection.setBusyTimeout(lockTimeout) }
                try sharing?.writeLock.take(lockTimeout: .zero)
                try begin()
            }
            guard openEarlyWrite?.earlyWrite === earlyWrite else { return false }
            try insert(new.rows, table)
            openEarlyWrite?.add(new)
            return true
        } catch {
            // If the cause of the error persists, the commit of the save throws the error.
            abandonEarlyWrite()
            return false
        }
    }

    /// Rolls back the rows that were written early, if any.
    func abandonEarlyWrite() {
        guard openEarlyWrite != nil else { return }
        endEarlyWrite()
        connection.rollBack()
        shrinkCache()
        sharing?.writeLock.release()
    }

    /// Ends the early write. Called at the end of the transaction.
    func endEarlyWrite() {
        openEarlyWrite?.earlyWrite.close()
        openEarlyWrite = nil
    }

    /// Deletes each early row that is missing from the save, or has other values in the save.
    ///
    /// - Returns: The changes of the save that are not written yet.
    func unwrittenChanges(of set: ChangeSet) throws(DataSourceError) -> [EntityChanges] {
        guard let openEarlyWrite else { return set.entities }
        let remainder = openEarlyWrite.remainder(of: set)
        rowsWritten += openEarlyWrite.count
        for stale in remainder.stale {
            guard let table = schema.tables[stale.entity] else { continue }
            rowsWritten -= stale.rows.count
            try delete(stale.rows, table)
        }
        return remainder.changes
    }
}
