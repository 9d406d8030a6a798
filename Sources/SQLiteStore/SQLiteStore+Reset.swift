package import Foundation
package import RowStore

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
            var startup = try StoreForecast(files: files, schema: schema, options: options).run(
                countsRows: !onlyIfNeeded)
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
