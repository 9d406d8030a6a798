package import Foundation
package import RowStore

extension SQLiteStore {
    /// The result of restoring a backup.
    package struct Restoration: Sendable, Equatable {
        /// The number of objects in the restored store.
        package let rowCount: Int
        /// Whether the restored store replaced another store.
        package let isReplacement: Bool
    }

    /// Replaces a store with a copy of a backup, or makes a new store from the backup.
    ///
    /// - Parameters:
    ///   - isReplacing: Whether an existing store may be replaced.
    ///   - isDryRun: Whether to check the restore without running it. The check neither makes nor changes a file.
    /// - Throws: `storeInUse`, `fileExists`, `notAFile`, `notADatabase`, `foreignDatabase`, `newerFormat`, `storeCorrupt`,
    ///   `storeBusy`, `diskFull`, `permissionDenied`, `storeUnreadable`, `cancelled`. If the call throws, the old store is
    ///   unchanged.
    package static func restore(
        _ backup: URL, to store: URL, isReplacing: Bool = false, isDryRun: Bool = false, calls: FileCalls = .system
    ) throws(DataSourceError) -> Restoration {
        let source = try StoreFiles(backup, calls)
        var target = try StoreFiles(store, calls)
        // Check the path before the lock file is made, so that no lock file is made beside a folder or a device.
        if try target.mainExists(), let state = try target.state(target.main) {
            target = try StoreFiles(store, calls, mode: Int(state.st_mode))
        }
        let lock = !isDryRun || target.exists(target.lock) ? try ClosingStores.shared.lock(target) : nil
        return try withExtendedLifetime(lock) { () throws(DataSourceError) in
            let restore = StoreRestore(backup: source, store: target, mayReplaceStore: isReplacing)
            let (rowCount, isReplaced) = isDryRun ? try restore.check() : try restore.run()
            return Restoration(rowCount: rowCount, isReplacement: isReplaced)
        }
    }

    /// Removes a store without opening it. If there is no store, removes the files that an interrupted reset or restore has
    /// left.
    ///
    /// - Parameter removesBackups: Whether to remove the backups that resets have made beside the store.
    /// - Throws: `storeInUse`, `notAFile`, `permissionDenied`, `storeUnreadable`. After an error, the call can be repeated.
    package static func destroy(
        _ url: URL, removesBackups: Bool = false, calls: FileCalls = .system
    ) throws(DataSourceError) {
        let files = try StoreFiles(url, calls)
        let storeExists = try files.mainExists()
        let remains = [files.lock, files.log, files.sharedMemory, files.journal, files.restoring]
        let backups = try removesBackups ? BackupSeries.all(files) : []
        // If there is nothing to remove, make no lock file.
        guard storeExists || !backups.isEmpty || remains.contains(where: files.exists) else { return }
        let lock = try ClosingStores.shared.lock(files)
        try withExtendedLifetime(lock) { () throws(DataSourceError) in
            // Remove the backups before the store. If the call is interrupted, the store then still exists, and the
            // call can be repeated.
            for series in backups { _ = try series.removeAll() }
            try files.removeUnfinished(files.restoring)
            try StoreReset(files: files).run()
        }
    }
}

extension BackupSeries {
    /// Returns the series that have backups or incomplete copies.
    fileprivate static func all(_ files: StoreFiles) throws(DataSourceError) -> [BackupSeries] {
        var found: [BackupSeries] = []
        for maker in Maker.allCases {
            let series = BackupSeries(files: files, maker: maker)
            if try !series.isEmpty { found.append(series) }
        }
        return found
    }
}

extension SQLiteStore {
    /// Copies the current contents of the store to a new file. Later commits do not change the copy, and do not wait for it.
    ///
    /// - Throws: `fileExists`, `storeClosed`, `cancelled` if the task is canceled, or an error from writing the file. If the
    ///   call throws, there is no new file.
    package func copy(to url: URL) throws(DataSourceError) {
        let target = try StoreFiles(url, files.calls)
        let reader = try readers.take { () throws(DataSourceError) in
            try reopenIfLost()
            try checkUnchanged()
        }
        defer { readers.give(back: reader) }
        try StoreCopy(target: target).run(reader.connection)
    }
}
