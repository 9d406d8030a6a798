internal import Foundation
internal import ManagedModel
internal import ModelMigration
internal import RowStore

/// Replaces a store with a backup. No process may have the store open.
struct StoreRestore {
    let backup: StoreFiles
    let store: StoreFiles
    let mayReplaceStore: Bool

    /// Checks whether the restore is possible. Makes no changes.
    ///
    /// - Returns: The number of objects in the backup, and whether there is a store to replace.
    func check() throws(DataSourceError) -> (rowCount: Int, isReplaced: Bool) {
        let isReplaced = try checkLocation()
        return (try withBackup { (found) throws(DataSourceError) in found.rowCount }, isReplaced)
    }

    /// Copies the backup to a file beside the store, waits until the copy is on the disk, and renames the copy to the store's
    /// name. At every moment, the store's name leads to a complete store: first to the old store, then to the restored store.
    ///
    /// - Returns: The number of objects in the backup, and whether a store was replaced.
    func run() throws(DataSourceError) -> (rowCount: Int, isReplaced: Bool) {
        let isReplaced = try checkLocation()
        // An interrupted restore may have left a file.
        try store.removeUnfinished(store.restoring)
        do throws(DataSourceError) {
            let (rowCount, metadata) = try withBackup { (found) throws(DataSourceError) in
                try found.connection.vacuum(into: store.restoring, in: store)
                return (found.rowCount, found.metadata)
            }
            try endOldLog(isReplaced)
            try renewHistory(metadata, isReplaced)
            try store.sync(store.restoring)
            try store.move(store.restoring, to: store.main)
            try store.syncFolder()
            return (rowCount, isReplaced)
        } catch {
            try? store.removeUnfinished(store.restoring)
            throw error
        }
    }

    private static let restored = "The store was restored from a copy."

    /// The reasons why the histories of the replaced store ended, by the IDs of the histories; empty if the histories cannot
    /// be read.
    private var replacedHistories: [String: String] {
        guard let connection = try? store.connectWithoutChange() else { return [:] }
        defer { connection.close(copyingLog: false) }
        guard let found = try? StoreProbe(connection).found(),
            StoreMetadata.metadata(in: found)?.keepsHistory == true
        else { return [:] }
        return (try? HistoryTables.EndedHistory(connection, reason: StoreRestore.restored))?.reasons ?? [:]
    }

    /// Records that the store was restored, for readers of its history and for readers of the replaced store's history.
    private func renewHistory(_ metadata: StoreMetadata, _ isReplaced: Bool) throws(DataSourceError) {
        guard metadata.keepsHistory, let model = metadata.model() else { return }
        let replaced = isReplaced ? replacedHistories : [:]
        let connection = try Connection(path: store.restoring, isReader: false, vfs: store.calls.sqliteVFS)
        defer { connection.close(copyingLog: false) }
        try connection.configure()
        // A journal in memory is enough: if the process ends now, nobody uses the file.
        try connection.run("PRAGMA journal_mode = MEMORY")
        do throws(DataSourceError) {
            try connection.transaction { () throws(DataSourceError) in
                try HistoryTables.renew(
                    connection, ModelLayout(model), reason: StoreRestore.restored, replaced: replaced)
            }
        } catch {
            // A damaged history does not prevent the restore. Opening the store reports the damage.
            guard error.code == .storeCorrupt else { throw error }
        }
    }

    // MARK: The old store

    /// - Returns: Whether there is a store to replace.
    private func checkLocation() throws(DataSourceError) -> Bool {
        guard try backup.mainExists() else {
            throw DataSourceError(.notAFile, "There is no backup at \(backup.main). Check the path.")
        }
        let storeExists = try store.mainExists()
        let identity = try store.identity(store.main)
        if try backup.identity(backup.main) == identity {
            throw DataSourceError(
                .fileExists, "\(store.main) is the backup itself. Name another file for the store.")
        }
        guard !storeExists || mayReplaceStore else {
            throw DataSourceError(
                .fileExists,
                "A store already exists at \(store.main). Choose another path, or allow the replacement.")
        }
        return storeExists
    }

    /// Removes the log of the old store, because SQLite would use it as the log of the restored store.
    ///
    /// First copies the whole log into the main file, so that the old store stays complete. Then removes the log, and waits
    /// until the removal is on the disk. If the old store is too damaged for the copy, the log is removed without the copy.
    private func endOldLog(_ storeExists: Bool) throws(DataSourceError) {
        if storeExists {
            do throws(DataSourceError) {
                try copyOldLog()
            } catch {
                // A damaged store can still be replaced.
                guard [.storeCorrupt, .notADatabase].contains(error.code) else { throw error }
            }
        }
        try StoreReset(files: store).removeRemains()
    }

    private func copyOldLog() throws(DataSourceError) {
        let hasLog = try store.hasLog()
        let journal = try store.state(store.journal)
        guard hasLog || journal != nil else { return }
        let connection = try Connection(path: store.main, isReader: false, vfs: store.calls.sqliteVFS)
        // If a step fails, the log must stay unchanged.
        defer { connection.close(copyingLog: false) }
        try connection.configure()
        // If the program that wrote the store uses a rollback journal, the first read rolls back an incomplete change.
        _ = try connection.values("SELECT count(*) FROM sqlite_schema")
        try connection.set(pragma: "synchronous", to: 2)
        try connection.copyWholeLog()
    }

    // MARK: The backup

    private struct Found {
        let connection: Connection
        let metadata: StoreMetadata
        let rowCount: Int
    }

    /// Runs the body with a connection to the backup. No process can change the backup while the body runs.
    ///
    /// - Throws: `storeInUse`, `foreignDatabase`, `newerFormat`, `notADatabase`, `storeCorrupt`, or the error of the body.
    private func withBackup<R>(_ body: (Found) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        let lock = try SharedLock(backup)
        return try withExtendedLifetime(lock) { () throws(DataSourceError) in
            let connection = try backup.connectWithoutChange()
            defer { connection.close(copyingLog: false) }
            let probe = try StoreProbe(connection)
            let metadata = try check(probe)
            return try body(Found(connection: connection, metadata: metadata, rowCount: probe.rowCount()))
        }
    }

    private func check(_ probe: StoreProbe) throws(DataSourceError) -> StoreMetadata {
        let metadata: StoreMetadata
        switch try probe.found() {
        case .metadata(let rows): metadata = try StoreMetadata(rows: rows)
        case .nothing, .foreignTables:
            throw DataSourceError(
                .foreignDatabase,
                "\(backup.main) is not a store of this library and cannot be restored. Choose another file.")
        }
        if let model = metadata.modelText.flatMap({ ManagedObjectModel(storedText: $0) }) {
            try probe.check(StoreSchema(model, format: metadata.format))
        }
        let findings = try probe.connection.values("PRAGMA integrity_check(1)")
        guard findings == [[.text("ok")]] else {
            var cause: String?
            if case .text(let finding) = findings.first?.first { cause = finding }
            throw DataSourceError(
                .storeCorrupt, "The backup \(backup.main) is damaged. Restore another backup.", cause: cause)
        }
        return metadata
    }
}
