package import Foundation
package import RowStore

extension SQLiteStore {
    /// Replaces a store by an empty one for the model and database key of the options, whatever it was made for. Where there
    /// is no store, none is made.
    ///
    /// - Parameters:
    ///   - onlyIfNeeded: Whether a store that was made for this model and key is left alone.
    ///   - backupFolder: Where the old store is moved to; nil to drop it, with the backups that ``ResetPolicy/standard``
    ///     made. It is made if it is missing.
    /// - Returns: What was found, the number of objects that the new store lacks, and where the old one is now.
    /// - Throws: What ``open(_:)`` throws: what cannot be opened is not reset.
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
