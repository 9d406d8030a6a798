internal import CSQLite
internal import RowStore

/// Writes change sets over the only connection that writes and checkpoints.
///
/// Two connections that do so at once can damage a store with every SQLite before 3.51.3. In a shared store the processes take
/// turns: ``SharedWriter``.
final class Writer {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    /// For a shared store.
    let sharing: SharedWriter?
    let log: WALCheckpointer
    private let watch: FileWatch
    /// Notices writes of other programs.
    var outside = OutsideWrites()
    /// Why nothing can be written any more: it is unknown what a failed commit has left on the disk.
    private(set) var unknown: DataSourceError?
    /// The UPDATE for each set of columns that changed together, by entity.
    var updates: [[ColumnSet: Statement]]
    /// Of the group being written.
    var statementsRun = 0
    var rowsWritten = 0
    /// The highest key that the transaction has inserted.
    var highestKey: Int64 = 0
    var cache = WriterCache()
    /// What the open transaction has of a save that is still being made; nil where no transaction is open.
    var early: EarlyRows?

    /// How far above the highest key the bound for new keys is set, so that few commits have to move it.
    static let keyReserve: Int64 = 1024
    /// The longest wait for a transaction of another program, or of another process that shares the store.
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
        outside.note(connection)
    }

    func close() {
        end()
        connection.close()
    }

    /// Ends all work, and leaves the connection open.
    func end() {
        abandonEarlyWrite()
        updates = []
        sharing?.end()
        log.end()
    }

    /// Whether nobody knows what a commit that failed has left on the disk, so that no more can be written.
    var isOutcomeUnknown: Bool { unknown != nil }

    /// - Throws: `storeMoved` if the files are not those that were written to.
    func checkFiles() throws(DataSourceError) { try watch.checkFiles() }

    /// Whether the store is where it was, and this process still has its lock.
    var holdsLock: Bool {
        do throws(DataSourceError) { try watch.checkLock() } catch { return false }
        return true
    }

    func checkpointIfNeeded() {
        // No transaction may be open meanwhile.
        if early == nil { log.checkpoint(above: log.limits.soft) }
    }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        if let unknown { throw unknown }
        guard group.contains(where: { !$0.isEmpty }) else { return CommitOutcome() }
        let isEarly = early?.isOf(group) == true
        if !isEarly { abandonEarlyWrite() }
        var refused: [Int: DataSourceError] = [:]
        do throws(DataSourceError) {
            try commitTogether(group)
        } catch {
            guard error.isOfOneSave else { throw error }
            refused = try group.count == 1 && !isEarly ? [0: error] : commitOneByOne(group)
        }
        // The rows are safe, whatever the result of this.
        log.checkpoint(above: log.limits.hard)
        return CommitOutcome(refused: refused, foundOutsideWrites: outside.takeNews())
    }

    private func commitTogether(_ group: [ChangeSet]) throws(DataSourceError) {
        try transaction { () throws(DataSourceError) in
            for set in group { try write(set) }
        }
    }

    /// Writes what can be written of a group of which something cannot.
    ///
    /// - Returns: Why the others were refused, by their positions.
    private func commitOneByOne(_ group: [ChangeSet]) throws(DataSourceError) -> [Int: DataSourceError] {
        try transaction { () throws(DataSourceError) in
            var refusals = Refusals()
            for (place, set) in group.enumerated() where !refusals.refusesDependent(set, at: place) {
                let error = try savepoint { () throws(DataSourceError) in
                    try write(set)
                }
                if let error { refusals.refuse(set, at: place, error) }
            }
            return refusals.errors
        }
    }

    private func write(_ set: ChangeSet) throws(DataSourceError) {
        try sharing?.check(set)
        for changes in try rest(of: set) { try write(changes) }
        try sharing?.append(set)
    }

    /// Runs the body in a transaction: in the one in which rows were written early, if there is one. If it throws, or cannot be
    /// committed, nothing of it has happened, and of what was written early neither.
    func transaction<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        // Before it: what does not fit into memory goes to the log at once, and may start it again from its beginning.
        if early == nil { try sharing?.turn.take(patience: patience) }
        defer { sharing?.turn.release() }
        if early == nil { try begin() }
        defer {
            endEarlyWrite()
            shrinkCache()
        }
        let result: R
        do throws(DataSourceError) {
            result = try body()
            let bound = try moveBound()
            try sharing?.finish()
            // A transaction in which rows were written early has been open for a while.
            if early != nil { try watch.checkLock() }
            try watch.checkFiles()
            try commitOrNote()
            counters.firstFreeKey = max(bound, counters.firstFreeKey)
        } catch {
            connection.rollBack()
            throw error
        }
        outside.note(connection)
        sharing?.didCommit()
        sharing?.ring()
        counters.count(statements: statementsRun, rows: rowsWritten)
        return result
    }

    /// Begins a transaction, and looks at what others have done.
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

    /// Runs the body so that an error of one save takes back what the body did and nothing else.
    ///
    /// - Returns: That error, if there was one.
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

    /// Makes sure that no key of the transaction is given again after a restart.
    private func moveBound() throws(DataSourceError) -> Int64 {
        let bound = counters.firstFreeKey
        // Keys of a shared store were reserved before they were given.
        guard sharing == nil, highestKey >= bound else { return bound }
        let next = highestKey > Int64.max - Writer.keyReserve ? Int64.max : highestKey + Writer.keyReserve
        try execute(schema.firstFreeStatement + 2, StoreMetadata.setFirstFreeKeySQL, next)
        return next
    }

    /// Runs a statement without rows that is kept under its number, with one parameter or none.
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

    private func commitOrNote() throws(DataSourceError) {
        do throws(DataSourceError) { try commitTransaction() } catch {
            if error.code == .outcomeUnknown { unknown = error }
            throw error
        }
    }
}

/// Ending a transaction, and handling a failure of that.
///
/// A commit whose sync fails may be on the disk nevertheless: SQLite takes it back in memory, but its pages, and the mark that
/// ends them, stay in the write-ahead log, and a process that opens the store after a crash finds them there. So they are
/// overwritten before the failure is reported.
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

    /// Whether a commit that failed with that code may be complete in the log. While pages are being written it cannot be,
    /// because the mark that ends them comes last.
    private static func mayBeOnDisk(_ code: Int32) -> Bool {
        let failedToWrite = SQLITE_IOERR | (3 << 8)
        return code != failedToWrite && code & 0xFF != SQLITE_BUSY && code & 0xFF != SQLITE_FULL
    }

    /// Writes a small transaction where the failed one begins, and waits until it is on the disk.
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
    /// Writes rows of a save that is still being made, in a transaction that stays open.
    ///
    /// - Returns: Whether the rest may follow.
    func write(_ new: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        guard !isOutcomeUnknown, let table = schema.tables[new.entity] else { return false }
        // Others could not write until the save is made, however long its hooks take, nor while this process is halted.
        if sharing?.bell.isAnyPresent == true {
            abandonEarlyWrite()
            return false
        }
        do throws(DataSourceError) {
            if early == nil, earlyWrite.begin() {
                // Known before the transaction begins: if that fails, the early write is over.
                early = EarlyRows(earlyWrite)
                // Nobody is to wait for an attempt: if another program is writing, there is none.
                connection.setPatience(.zero)
                defer { connection.setPatience(patience) }
                try sharing?.turn.take(patience: .zero)
                try begin()
            }
            guard early?.earlyWrite === earlyWrite else { return false }
            try insert(new.rows, table)
            early?.add(new)
            return true
        } catch {
            // Whatever it was, the commit of the save says it if it is still so.
            abandonEarlyWrite()
            return false
        }
    }

    /// Rolls back what was written early, if anything was.
    func abandonEarlyWrite() {
        guard early != nil else { return }
        endEarlyWrite()
        connection.rollBack()
        shrinkCache()
        sharing?.turn.release()
    }

    /// Forgets what was written early, as its transaction ends.
    func endEarlyWrite() {
        early?.earlyWrite.close()
        early = nil
    }

    /// Takes out the rows that were written early and are not to be there, or not so.
    ///
    /// - Returns: The changes that are not written yet.
    func rest(of set: ChangeSet) throws(DataSourceError) -> [EntityChanges] {
        guard let early else { return set.entities }
        let remainder = early.remainder(of: set)
        rowsWritten += early.count
        for wrong in remainder.wrong {
            guard let table = schema.tables[wrong.entity] else { continue }
            rowsWritten -= wrong.rows.count
            try delete(wrong.rows, table)
        }
        return remainder.changes
    }
}
