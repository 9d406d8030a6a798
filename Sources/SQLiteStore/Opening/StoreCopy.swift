internal import CSQLite
package import Foundation
package import RowStore

/// Copies a connection's store to a new file. The file gets its final name when the copy is complete.
struct StoreCopy {
    let target: StoreFiles

    /// The paths of the copies that this process is writing.
    private static let targets = Guarded<Set<String>>([])

    private var partial: String { target.main + BackupSeries.partialSuffix }

    func run(_ connection: Connection) throws(DataSourceError) {
        guard StoreCopy.targets.withLock({ $0.insert(target.main).inserted }) else {
            throw DataSourceError(fileExists: target.main)
        }
        defer { _ = StoreCopy.targets.withLock { $0.remove(target.main) } }
        // If a log or journal exists at one of these paths, SQLite would use it with the copy.
        for path in [target.main, target.log, target.sharedMemory, target.journal] {
            if try target.state(path) != nil { throw DataSourceError(fileExists: path) }
        }
        // An interrupted copy may have left a file.
        try target.removeUnfinished(partial)
        do throws(DataSourceError) {
            try connection.vacuum(into: partial, in: target)
            try target.sync(partial)
            try target.moveToFreeName(partial, to: target.main)
        } catch {
            try? target.removeUnfinished(partial)
            throw error
        }
        do throws(DataSourceError) {
            try target.syncFolder()
        } catch {
            try? target.remove(target.main)
            throw error
        }
    }
}

extension StoreFiles {
    /// Removes an incomplete copy, and the journal that SQLite may have left beside the copy.
    func removeUnfinished(_ path: String) throws(DataSourceError) {
        try remove(path)
        try remove(path + "-journal")
    }
}

extension Connection {
    /// Copies the whole log into the main file and empties the log.
    func copyWholeLog() throws(DataSourceError) {
        guard case .integer(0) = try values("PRAGMA wal_checkpoint(TRUNCATE)").first?.first else {
            throw DataSourceError(
                .storeBusy,
                "Another connection, in this or another process, keeps \(path) locked. Close that connection, or "
                    + "try again later."
            )
        }
    }

    /// Writes the current contents of the store to a new file.
    ///
    /// - Throws: `cancelled` if the task is canceled during the copy.
    func vacuum(into path: String, in files: StoreFiles) throws(DataSourceError) {
        try files.make(path)
        let wasQueryOnly = try values("PRAGMA query_only") == [[.integer(1)]]
        if wasQueryOnly { try set(pragma: "query_only", to: 0) }
        setChecksCancellation(true)
        isCancellable = true
        defer {
            isCancellable = false
            if wasQueryOnly { try? set(pragma: "query_only", to: 1) }
        }
        let statement = try prepare("VACUUM INTO \(path.quotedText)")
        var code = statement.step()
        while code == SQLITE_ROW { code = statement.step() }
        switch code & 0xFF {
        case SQLITE_DONE: return
        case SQLITE_INTERRUPT: throw .cancelled
        // These errors come from the store. All other errors come from the new file.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            throw error(code, while: "reading")
        default: throw DataSourceError(sqlite: code, connection: handle, path: path, while: "writing")
        }
    }
}

/// The folder that contains a store.
package enum StoreFolder {
    /// Makes a missing folder and its missing parents, with permissions for the owner only (`0o700`). An existing folder stays
    /// unchanged.
    ///
    /// - Throws: `permissionDenied`, `diskFull`, `notAFile`, `storeUnreadable`.
    package static func make(_ url: URL) throws(DataSourceError) {
        let path = url.path
        if mkdir(path, 0o700) == 0 { return }
        var error = errno
        if error == ENOENT, url.pathComponents.count > 1 {
            try make(url.deletingLastPathComponent())
            error = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        // If a file has the folder's name, the opening of the store throws an error.
        if error != 0 && error != EEXIST {
            throw DataSourceError(systemError: error, path: path, while: "making")
        }
    }
}
