package import Foundation
package import RowStore
internal import Synchronization

extension SQLiteStore {
    /// Replaces a store by an empty one for the model and database key of the options, whatever it was made for. Does nothing
    /// if there is no store.
    ///
    /// - Parameters:
    ///   - onlyIfNeeded: Whether a store that was made for this model and key is left alone.
    ///   - backupFolder: Where the old store is moved; nil to drop it, with the backups that ``ResetPolicy/standard`` made. A
    ///     missing folder is made.
    /// - Returns: What was found, how many objects were dropped, and where the old store is now.
    /// - Throws: What ``open(_:)`` throws: a store that cannot be opened is not reset.
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
            if let backupFolder {
                startup.backup = try FolderBackup(files: files, folder: backupFolder).move()
            } else {
                startup.removedBackups = try BackupSeries(files: files, maker: .standard).removeAll()
                try StoreReset(files: files).run()
            }
            try StoreOpening(files: files, schema: schema, options: options).run().connection.close()
            return startup
        }
    }
}

/// The part of a store that writes.
enum WriterState {
    case open(Writer)
    /// A reset has failed, and so has opening the store afterwards. The next call tries to open it again.
    ///
    /// - Parameter isEmptied: Whether the old files are gone, so that a new store may be made.
    case lost(isEmptied: Bool)
    /// The store is only read.
    case reading
    case closed

    var current: Writer? {
        if case .open(let writer) = self { writer } else { nil }
    }
}

extension SQLiteStore {
    /// Removes the store's files and makes new ones, as at a start with another database key; keys are not given twice. Reads
    /// under way end before that, and others wait until it is done.
    ///
    /// Once the old files are gone it does not throw: if the new ones cannot be made, the next read or commit tries again, and
    /// throws the error.
    ///
    /// - Throws: `storeInUse`, with their names, if others have the store open; `storeMoved` if another file has taken the place
    ///   of the store's.
    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        guard let access else { return try replaceAll(didEmpty) }
        // No other process opens the store while the gate is closed.
        return try access.gate.holding { () throws(DataSourceError) in try replaceAll(didEmpty) }
    }

    private func replaceAll(_ didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        // The readers first, because an open one may have to follow the feed before it ends.
        try readers.pause { () throws(DataSourceError) in
            guard let access else { return try replaceFiles(didEmpty) }
            return try access.replacing { () throws(DataSourceError) in try replaceFiles(didEmpty) }
        }
    }

    private func replaceFiles(_ didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try writer.withLock { (writer) throws(DataSourceError) in
            let old = try openWriter(&writer, holdsGate: true)
            try checkLock()
            // What would be removed is the file with that name.
            try old.checkFiles()
            try access?.requireAlone(old.connection, to: "reset")
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
        // Members of a shared store reserve keys only in the store.
        if case .integer(let stored)?? = try? connection.values(StoreMetadata.selectFirstFreeKeySQL).first?.first {
            counters.firstFreeKey = max(counters.firstFreeKey, KeyBound.checked(stored, highestKey: 0))
        }
        var opening = StoreOpening(files: files, schema: schema, options: options)
        opening.firstFreeKey = counters.firstFreeKey
        // Until there is another one. An error below closes the connection.
        writer = .lost(isEmptied: false)
        isLost.store(true, ordering: .sequentiallyConsistent)
        var startup = StoreStartup(reason: .requested)
        var isEmptied = false
        var failure: DataSourceError?
        do throws(DataSourceError) {
            startup.removedBackups = try opening.removeStandardBackups(startup.reason)
            startup = try opening.remove(connection, startup) { isEmptied = true }
        } catch {
            connection.close(copyingLog: false)
            failure = error
        }
        writer = .lost(isEmptied: isEmptied)
        if isEmptied { identifier.withLock { $0 = UUID().uuidString } }
        _ = try? openWriter(&writer, holdsGate: true)
        return (startup, isEmptied ? nil : failure)
    }

    /// The writer; if a reset left none, the store is opened for it.
    ///
    /// - Parameters:
    ///   - holdsGate: Whether the caller keeps others from opening a shared store.
    ///   - keepsEarlyWrite: Whether what was written early for a save may stay. It has to go before anything else is done.
    /// - Throws: `storeClosed`, or what keeps the store from being opened.
    func openWriter(
        _ writer: inout WriterState, holdsGate: Bool = false, keepsEarlyWrite: Bool = false
    ) throws(DataSourceError) -> Writer {
        switch writer {
        case .open(let writer):
            if !keepsEarlyWrite { writer.abandonEarlyWrite() }
            return writer
        case .reading: throw DataSourceError.storeReadOnly
        case .closed: throw DataSourceError.storeClosed
        case .lost(let isEmptied):
            // It has a lock of its own, because a reset of this container may wait for the writer while it holds the gate.
            let gate = access == nil || holdsGate ? nil : try FileLock(files.gate, files)
            try gate?.take()
            defer { gate?.release() }
            let new = try reopened(isEmptied: isEmptied)
            writer = .open(new)
            isLost.store(false, ordering: .sequentiallyConsistent)
            return new
        }
    }

    /// Opens the store once more. Others may have opened a shared one since; they keep it unchanged.
    private func reopened(isEmptied: Bool) throws(DataSourceError) -> Writer {
        if !isEmptied {
            guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        }
        var opening = StoreOpening(files: files, schema: schema, options: options)
        opening.firstFreeKey = counters.firstFreeKey
        try checkLock()
        let others = access.flatMap { $0.bell.isAnyAlive ? $0.bell : nil }
        let opened =
            if let others { try opening.runBeside(others) } else { try opening.run() }
        do throws(DataSourceError) {
            let new = try makeWriter(opened.connection, isAlone: others == nil)
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

    /// For a reader, which must not read files while they are being made.
    func reopenIfLost() throws(DataSourceError) {
        guard isLost.load(ordering: .sequentiallyConsistent) else { return }
        try writer.withLock { (writer) throws(DataSourceError) in _ = try openWriter(&writer) }
    }
}
