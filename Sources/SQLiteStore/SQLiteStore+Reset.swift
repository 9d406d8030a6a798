package import Foundation
package import RowStore
internal import Synchronization

extension SQLiteStore {
    /// Replaces a store with an empty store that has the model and the database key of the options. The old store may have
    /// been made for another model or key. Does nothing if there is no store.
    ///
    /// - Parameters:
    ///   - onlyIfNeeded: Whether to keep a store that was made for this model and database key.
    ///   - backupFolder: The folder to which the old store is moved. A missing folder is made. Nil to drop the old store, and
    ///     the backups that ``ResetPolicy/standard`` made.
    /// - Returns: The reason for the reset, the number of dropped objects, and the new URL of the old store.
    /// - Throws: The errors of ``open(_:)``. A store that cannot be opened is not reset.
    package static func reset(
        _ options: Options, onlyIfNeeded: Bool = false, backupFolder: URL? = nil
    ) throws(DataSourceError) -> StoreStartup {
        let schema = try StoreSchema(options.layout)
        let files = try StoreFiles(options.url, options.calls, mode: options.fileMode)
        guard try files.mainExists() else { return StoreStartup(reason: .firstLaunch) }
        let lock = try LockFile(files)
        return try withExtendedLifetime(lock) { () throws(DataSourceError) in
            var startup = try StoreForecast(options).run(countsRows: !onlyIfNeeded)
            guard startup.reason != .firstLaunch, startup.isReset || !onlyIfNeeded else { return startup }
            var opening = StoreOpening(files: files, schema: schema, options: options)
            opening.replacesStore = true
            // A store that cannot be read has no history to end.
            opening.ended =
                (try? files.withSnapshot { (connection) throws(DataSourceError) in
                    try opening.endedHistory(connection, startup.reason)
                }) ?? nil
            if let backupFolder {
                startup.backup = try FolderBackup(files: files, folder: backupFolder).move()
            } else {
                startup.removedBackups = try BackupSeries(files: files, maker: .standard).removeAll()
                try StoreReset(files: files).run()
            }
            try opening.run().connection.close()
            return startup
        }
    }
}

/// The state of a store's writer.
enum WriterState {
    case open(Writer)
    /// There is no writer, because a reset could not open the new store. The next call tries to open the store again.
    ///
    /// - Parameter isEmptied: Whether the old files are removed, so that a new store can be made.
    case lost(isEmptied: Bool)
    /// The store is open for reading only.
    case reading
    case closed

    var current: Writer? {
        if case .open(let writer) = self { writer } else { nil }
    }
}

extension SQLiteStore {
    /// Removes the store's files and makes new files, like a start with another database key. Keys of the old store are not
    /// used again. The reset waits for the current reads to end, and new reads wait for the reset.
    ///
    /// After the old files are removed, the reset does not throw. If the new files cannot be made, the next read or commit
    /// tries again, and throws the error.
    ///
    /// - Throws: `storeInUse`, with the names of the other members, if other members have the store open; `storeMoved` if
    ///   another file is at the store's path.
    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        guard let access else { return try replaceAll(didEmpty) }
        // While the gate is locked, no other process can open the store.
        return try access.gate.withLock { () throws(DataSourceError) in try replaceAll(didEmpty) }
    }

    private func replaceAll(_ didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        // Pause the readers first, then the feed: a read that has begun may need the feed before the read can end.
        try readers.pause { () throws(DataSourceError) in
            guard let access else { return try replaceFiles(didEmpty) }
            return try access.replacing { () throws(DataSourceError) in try replaceFiles(didEmpty) }
        }
    }

    private func replaceFiles(_ didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try writer.withLock { (writer) throws(DataSourceError) in
            let old = try openWriter(&writer, hasGate: true)
            try checkLock()
            // Check that the file at the path is this store, because the reset removes the file at the path.
            try old.checkFiles()
            try access?.requireAlone(old.connection, to: "reset")
            readers.closeSnapshots()
            old.end()
            let (startup, failure) = replace(old.connection, &writer)
            if let failure { throw failure }
            didEmpty()
            return startup
        }
    }

    private func replace(
        _ connection: Connection, _ writer: inout WriterState
    ) -> (startup: StoreStartup, failure: DataSourceError?) {
        // In a shared store, the reserved keys are known only from the store itself.
        if case .integer(let stored)?? = try? connection.values(StoreMetadata.selectFirstFreeKeySQL).first?.first {
            counters.firstFreeKey = max(counters.firstFreeKey, KeyBound.checked(stored, highestKey: 0))
        }
        var opening = StoreOpening(files: files, schema: schema, options: options)
        opening.firstFreeKey = counters.firstFreeKey
        // There is no writer until a new one is made. If an error occurs, the connection is closed below.
        writer = .lost(isEmptied: false)
        isLost.store(true, ordering: .sequentiallyConsistent)
        var startup = StoreStartup(reason: .requested)
        var isEmptied = false
        var failure: DataSourceError?
        do throws(DataSourceError) {
            let ended = keepsHistory ? try opening.endedHistory(connection, startup.reason) : nil
            startup.removedBackups = try opening.removeStandardBackups(startup.reason)
            startup = try opening.remove(connection, startup) {
                isEmptied = true
                endedHistory.withLock { $0 = ended }
            }
        } catch {
            connection.close(copyingLog: false)
            failure = error
        }
        writer = .lost(isEmptied: isEmptied)
        if isEmptied { identifier.withLock { $0 = UUID().uuidString } }
        _ = try? openWriter(&writer, hasGate: true)
        return (startup, isEmptied ? nil : failure)
    }

    /// Returns the writer. If a reset has left no writer, opens the store again.
    ///
    /// - Parameters:
    ///   - hasGate: Whether the caller has locked the gate. The gate keeps other processes from opening a shared store.
    ///   - keepsEarlyWrite: Whether to keep rows that were written early for a save. If false, these rows are rolled back.
    /// - Throws: `storeClosed`, `storeReadOnly`, or an error from opening the store.
    func openWriter(
        _ writer: inout WriterState, hasGate: Bool = false, keepsEarlyWrite: Bool = false
    ) throws(DataSourceError) -> Writer {
        switch writer {
        case .open(let writer):
            if !keepsEarlyWrite { writer.abandonEarlyWrite() }
            return writer
        case .reading: throw DataSourceError.storeReadOnly
        case .closed: throw DataSourceError.storeClosed
        case .lost(let isEmptied):
            // Use a separate lock on the gate: a reset of this container may hold the gate while the reset waits for the
            // writer.
            let gate = access == nil || hasGate ? nil : try FileLock(files.gate, files)
            try gate?.take()
            defer { gate?.release() }
            let new = try reopened(isEmptied: isEmptied)
            writer = .open(new)
            isLost.store(false, ordering: .sequentiallyConsistent)
            return new
        }
    }

    /// Opens the store again. Makes no changes to a shared store that other members have opened meanwhile.
    private func reopened(isEmptied: Bool) throws(DataSourceError) -> Writer {
        if !isEmptied {
            guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        }
        var opening = StoreOpening(files: files, schema: schema, options: options)
        opening.firstFreeKey = counters.firstFreeKey
        opening.ended = endedHistory.withLock { $0 }
        opening.replacesStore = isEmptied
        try checkLock()
        let others = access.flatMap { $0.notifier.isAnyAlive ? $0.notifier : nil }
        let opened =
            if let others { try opening.runWithoutChanges(others) } else { try opening.run() }
        do throws(DataSourceError) {
            let new = try makeWriter(opened, isAlone: others == nil)
            endedHistory.withLock { $0 = nil }
            identifier.withLock { $0 = opened.metadata.storeID }
            counters.firstFreeKey = max(counters.firstFreeKey, opened.metadata.firstFreeKey)
            counters.setFrames(0, uncopied: 0)
            return new
        } catch {
            opened.connection.close(copyingLog: false)
            throw error
        }
    }

    private func checkLock() throws(DataSourceError) {
        try lock.withLock { (lock) throws(DataSourceError) in try lock?.check() }
    }

    /// Opens the store again if a reset has left no writer. Called before each read, so that the read finds complete files.
    func reopenIfLost() throws(DataSourceError) {
        guard isLost.load(ordering: .sequentiallyConsistent) else { return }
        try writer.withLock { (writer) throws(DataSourceError) in _ = try openWriter(&writer) }
    }
}
