internal import CSQLite
internal import RowStore

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
