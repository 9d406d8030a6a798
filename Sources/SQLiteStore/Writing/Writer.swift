internal import CSQLite
internal import RowStore

/// Writes change sets, over the only connection that writes and checkpoints.
///
/// With every SQLite before 3.51.3, two connections that write or checkpoint at the same time can damage a store. So the
/// processes of a shared store take turns: ``SharedWriter``.
final class Writer {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    /// The additional work in a shared store; nil if the store is not shared.
    let sharing: SharedWriter?
    let log: WALCheckpointer
    private let watch: FileWatch
    /// Notices writes of other programs.
    var outside = OutsideWrites()
    /// The error after which nothing can be written: a commit failed, and its effect on the disk is unknown.
    private(set) var unknown: DataSourceError?
    /// The UPDATE statement for each set of columns that changed together, by entity.
    var updates: [[ColumnSet: Statement]]
    /// The counts of statements and of written rows in the present transaction.
    var statementsRun = 0
    var rowsWritten = 0
    /// The highest key that the present transaction has inserted.
    var highestKey: Int64 = 0
    var cache = WriterCache()
    /// The rows in the open transaction that were written early, for a save that is still being made; nil if no transaction is
    /// open.
    var openEarlyWrite: EarlyRows?

    /// The distance of the stored bound for new keys from the highest key. A large distance means that few commits must move
    /// the bound.
    static let keyReserve: Int64 = 1024
    /// The longest wait for a transaction of another program or another member.
    let patience: Duration

    init(
        _ connection: Connection, _ schema: StoreSchema, counters: StoreCounters, watch: FileWatch,
        log: WALCheckpointer, sharing: SharedWriter? = nil, patience: Duration
    ) {
        self.sharing = sharing
        self.patience = patience
        self.connection = connection
        self.schema = schema
        self.counters = counters
        updates = Array(repeating: [:], count: schema.tables.count)
        self.log = log
        self.watch = watch
        outside.record(connection)
    }

    func close() {
        end()
        connection.close()
    }

    /// Ends all work, and keeps the connection open.
    func end() {
        abandonEarlyWrite()
        updates = []
        sharing?.end()
        log.end()
    }

    /// Whether the effect of a failed commit on the disk is unknown, so that nothing more can be written.
    var isOutcomeUnknown: Bool { unknown != nil }

    /// - Throws: `storeMoved` if the files are not the files that were written before.
    func checkFiles() throws(DataSourceError) { try watch.checkFiles() }

    /// Whether the store is still at its path, and this process still has its lock.
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
        let isEarly = openEarlyWrite?.isOf(group) == true
        if !isEarly { abandonEarlyWrite() }
        var refused: [Int: DataSourceError] = [:]
        do throws(DataSourceError) {
            try commitTogether(group)
        } catch {
            guard error.isOfOneSave else { throw error }
            refused = try group.count == 1 && !isEarly ? [0: error] : commitOneByOne(group)
        }
        // The rows are committed, whatever the result of the checkpoint.
        log.checkpoint(above: log.limits.hard)
        return CommitOutcome(refused: refused, foundOutsideWrites: outside.takeUnreportedWrite())
    }

    private func commitTogether(_ group: [ChangeSet]) throws(DataSourceError) {
        try transaction { () throws(DataSourceError) in
            for set in group { try write(set) }
        }
    }

    /// Writes each save under its own savepoint, so that only the failing saves are refused.
    ///
    /// - Returns: The errors of the refused saves, by their positions in the group.
    private func commitOneByOne(_ group: [ChangeSet]) throws(DataSourceError) -> [Int: DataSourceError] {
        try transaction { () throws(DataSourceError) in
            var refusals = Refusals()
            for (index, set) in group.enumerated() where !refusals.refusesDependent(set, at: index) {
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
        for changes in try rest(of: set) { try write(changes) }
        try sharing?.append(set)
    }

    /// Runs the body in a transaction. If rows were written early, the body runs in their transaction. If the body throws or
    /// the commit fails, everything in the transaction is rolled back, early rows included.
    func transaction<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        // Take the turn before BEGIN: pages that spill from the cache go to the WAL at once, and may restart it.
        if openEarlyWrite == nil { try sharing?.turn.take(patience: patience) }
        defer { sharing?.turn.release() }
        if openEarlyWrite == nil { try begin() }
        defer {
            endEarlyWrite()
            shrinkCache()
        }
        let result: R
        do throws(DataSourceError) {
            result = try body()
            let bound = try moveBound()
            try sharing?.finish()
            // A transaction with early rows has been open for a while, so check the lock again.
            if openEarlyWrite != nil { try watch.checkLock() }
            try watch.checkFiles()
            try commitOrRecord()
            counters.firstFreeKey = max(bound, counters.firstFreeKey)
        } catch {
            connection.rollBack()
            throw error
        }
        outside.record(connection)
        sharing?.didCommit()
        sharing?.notify()
        counters.count(statements: statementsRun, rows: rowsWritten)
        return result
    }

    /// Begins a transaction, and checks for writes of other members and programs.
    func begin() throws(DataSourceError) {
        statementsRun = 0
        rowsWritten = 0
        highestKey = 0
        try execute(schema.firstFreeStatement, "BEGIN IMMEDIATE")
        do throws(DataSourceError) {
            try watch.checkLock()
            let isExplained = try sharing?.begin() ?? false
            if outside.look(connection, isExplained: isExplained), sharing == nil { try raiseFirstFreeKey() }
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Runs the body under a savepoint. If the body throws an error that concerns one save, only the body's changes are rolled
    /// back.
    ///
    /// - Returns: The error of the save, if there was one.
    private func savepoint(_ body: () throws(DataSourceError) -> Void) throws(DataSourceError) -> DataSourceError? {
        let first = schema.firstFreeStatement + 3
        try execute(first, "SAVEPOINT one_save")
        let before = (rowsWritten, highestKey, sharing?.position ?? 0)
        do throws(DataSourceError) {
            try body()
            try execute(first + 1, "RELEASE one_save")
            return nil
        } catch {
            guard error.isOfOneSave, connection.isInTransaction else { throw error }
            try execute(first + 2, "ROLLBACK TO one_save")
            try execute(first + 1, "RELEASE one_save")
            (rowsWritten, highestKey) = (before.0, before.1)
            sharing?.position = before.2
            return error
        }
    }

    /// Stores a bound above all keys of the transaction, so that no key is given again after a restart.
    private func moveBound() throws(DataSourceError) -> Int64 {
        let bound = counters.firstFreeKey
        // In a shared store, keys are reserved before they are given.
        guard sharing == nil, highestKey >= bound else { return bound }
        let next = highestKey > Int64.max - Writer.keyReserve ? Int64.max : highestKey + Writer.keyReserve
        try execute(schema.firstFreeStatement + 2, StoreMetadata.setFirstFreeKeySQL, next)
        return next
    }

    /// Runs a statement without rows, with at most one parameter. The connection keeps the statement under the number.
    ///
    /// - Parameter hasRow: Whether the statement returns one row, which is ignored.
    func execute(
        _ number: Int, _ sql: String, _ value: Int64? = nil, hasRow: Bool = false
    ) throws(DataSourceError) {
        let statement = try connection.statement(number, sql)
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

/// The commit of a transaction, and the handling of its failure.
///
/// A commit whose sync fails may be on the disk nevertheless. SQLite rolls it back in memory, but its pages stay in the
/// write-ahead log, with the commit mark after them. A process that opens the store after a crash would find them there. So the
/// pages are overwritten before the failure is reported.
extension Writer {
    func commitTransaction() throws(DataSourceError) {
        let statement = try connection.statement(schema.firstFreeStatement + 1, "COMMIT")
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

    /// Whether a commit that failed with that code may be complete in the log. After a failed write of pages it is incomplete,
    /// because the commit mark is written last.
    private static func mayBeOnDisk(_ code: Int32) -> Bool {
        let failedToWrite = SQLITE_IOERR | (3 << 8)
        return code != failedToWrite && code & 0xFF != SQLITE_BUSY && code & 0xFF != SQLITE_FULL
    }

    /// Writes a small transaction at the position of the failed commit in the log, and waits until the transaction is on the
    /// disk.
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
    /// Writes rows early: for a save that is still being made, in a transaction that stays open.
    ///
    /// - Returns: Whether further rows of the save may follow.
    func write(_ new: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        guard !isOutcomeUnknown, let table = schema.tables[new.entity] else { return false }
        // Do not write early while other members are present: the open transaction would block their writes until the save is
        // made, however long its hooks run or this process is suspended.
        if sharing?.notifier.isAnyPresent == true {
            abandonEarlyWrite()
            return false
        }
        do throws(DataSourceError) {
            if openEarlyWrite == nil, earlyWrite.begin() {
                // Set this before the transaction begins, so that a failed BEGIN also ends the early write.
                openEarlyWrite = EarlyRows(earlyWrite)
                // Do not wait for another program that writes: the early write is optional.
                connection.setPatience(.zero)
                defer { connection.setPatience(patience) }
                try sharing?.turn.take(patience: .zero)
                try begin()
            }
            guard openEarlyWrite?.earlyWrite === earlyWrite else { return false }
            try insert(new.rows, table)
            openEarlyWrite?.add(new)
            return true
        } catch {
            // If the cause of the error persists, the commit of the save will throw it.
            abandonEarlyWrite()
            return false
        }
    }

    /// Rolls back the rows that were written early, if there are any.
    func abandonEarlyWrite() {
        guard openEarlyWrite != nil else { return }
        endEarlyWrite()
        connection.rollBack()
        shrinkCache()
        sharing?.turn.release()
    }

    /// Ends the early write at the end of its transaction.
    func endEarlyWrite() {
        openEarlyWrite?.earlyWrite.close()
        openEarlyWrite = nil
    }

    /// Deletes the early rows that the save does not have, or has with other values.
    ///
    /// - Returns: The changes of the save that are not written yet.
    func rest(of set: ChangeSet) throws(DataSourceError) -> [EntityChanges] {
        guard let openEarlyWrite else { return set.entities }
        let remainder = openEarlyWrite.remainder(of: set)
        rowsWritten += openEarlyWrite.count
        for wrong in remainder.wrong {
            guard let table = schema.tables[wrong.entity] else { continue }
            rowsWritten -= wrong.rows.count
            try delete(wrong.rows, table)
        }
        return remainder.changes
    }
}
