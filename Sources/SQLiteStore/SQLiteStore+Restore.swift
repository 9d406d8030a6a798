package import Foundation
package import RowStore

extension SQLiteStore {
    /// The result of restoring a backup.
    package struct Restoration: Sendable, Equatable {
        /// How many objects it has.
        package let rowCount: Int
        /// Whether it replaced a store.
        package let isReplacement: Bool
    }

    /// Puts a copy of a backup in the place of a store, or makes a new store from it.
    ///
    /// - Parameters:
    ///   - isReplacing: Whether an existing store may be replaced.
    ///   - isDryRun: Whether everything is checked and no file is made or changed.
    /// - Throws: `storeInUse`, `fileExists`, `notAFile`, `notADatabase`, `foreignDatabase`, `newerFormat`, `storeCorrupt`,
    ///   `storeBusy`, `diskFull`, `permissionDenied`, `storeUnreadable`, `cancelled`; the old store is unchanged then.
    package static func restore(
        _ backup: URL, to store: URL, isReplacing: Bool = false, isDryRun: Bool = false, calls: FileCalls = .system
    ) throws(DataSourceError) -> Restoration {
        let source = try StoreFiles(backup, calls)
        var target = try StoreFiles(store, calls)
        // Before the lock file is made beside a folder or a device.
        if try target.mainExists(), let state = try target.state(target.main) {
            target = try StoreFiles(store, calls, mode: Int(state.st_mode))
        }
        let lock = !isDryRun || target.exists(target.lock) ? try ClosingStores.shared.lock(target) : nil
        return try withExtendedLifetime(lock) { () throws(DataSourceError) in
            let restore = StoreRestore(backup: source, store: target, isReplacing: isReplacing)
            let (rowCount, isReplaced) = isDryRun ? try restore.check() : try restore.run()
            return Restoration(rowCount: rowCount, isReplacement: isReplaced)
        }
    }

    /// Removes a store without opening it. If there is none, it removes leftovers of a reset or a restore.
    ///
    /// - Parameter removesBackups: Whether to remove the backups that resets made beside it, too.
    /// - Throws: `storeInUse`, `notAFile`, `permissionDenied`, `storeUnreadable`. You can call it again.
    package static func destroy(
        _ url: URL, removesBackups: Bool = false, calls: FileCalls = .system
    ) throws(DataSourceError) {
        let files = try StoreFiles(url, calls)
        let isThere = try files.mainExists()
        let remains = [files.lock, files.log, files.sharedMemory, files.journal, files.restoring]
        let backups = try removesBackups ? BackupSeries.all(files) : []
        // If there is nothing, no lock file is made.
        guard isThere || !backups.isEmpty || remains.contains(where: files.exists) else { return }
        let lock = try ClosingStores.shared.lock(files)
        try withExtendedLifetime(lock) { () throws(DataSourceError) in
            // First, so that after an interruption the store still exists and can be destroyed again.
            for series in backups { _ = try series.removeAll() }
            try files.removeUnfinished(files.restoring)
            try StoreReset(files: files).run()
        }
    }
}

extension BackupSeries {
    /// The series that have backups.
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
    /// Copies the store to a new file, as it is when the copy begins; commits continue meanwhile.
    ///
    /// - Throws: `fileExists`, `storeClosed`, the error of writing the file, and `cancelled` if the task is cancelled. No new
    ///   file exists then.
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
