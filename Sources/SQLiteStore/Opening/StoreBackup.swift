internal import Foundation
internal import RowStore

/// Sets an old store aside as one file beside the new one: a whole store that can be opened.
struct StoreBackup {
    let files: StoreFiles
    let series: BackupSeries
    /// How many backups of the series stay.
    let keep: Int

    init(_ files: StoreFiles, _ maker: BackupSeries.Maker, keep: Int) {
        self.files = files
        series = BackupSeries(files: files, maker: maker)
        self.keep = keep
    }

    /// Moves the store away that the connection has open, and closes the connection.
    ///
    /// The log is copied into the main file first, so that one file is the whole store. A process that is killed before the
    /// move leaves the old store, and after it no store.
    ///
    /// - Parameter onRemoval: Called once the main file was moved, even if something fails after that.
    func move(_ connection: Connection, onRemoval: () -> Void = {}) throws(DataSourceError) -> URL {
        let path = try series.freePath()
        try connection.set(pragma: "synchronous", to: 2)
        try connection.copyWholeLog()
        connection.close(copyingLog: true)
        guard try !files.hasLog() else {
            throw DataSourceError(
                .storeBusy,
                "The log of \(files.main) could not be copied, so there is no whole file to set aside. Try again later."
            )
        }
        try files.move(files.main, to: path)
        onRemoval()
        try files.syncFolder()
        try StoreReset(files: files).removeRemains()
        series.prune(except: path, keep: keep)
        return URL(fileURLWithPath: path)
    }

    /// Copies the store that the connection has open and that stays. The copy gets its name when it is complete.
    func copy(_ connection: Connection) throws(DataSourceError) -> URL {
        let path = try series.freePath()
        let partial = path + BackupSeries.partialSuffix
        try files.make(partial)
        try connection.run("VACUUM INTO \(partial.quotedText)")
        try files.sync(partial)
        try files.move(partial, to: path)
        try files.syncFolder()
        series.prune(except: path, keep: keep)
        return URL(fileURLWithPath: path)
    }
}

extension Connection {
    /// Copies all of the log into the main file and empties it.
    func copyWholeLog() throws(DataSourceError) {
        guard case .integer(0) = try values("PRAGMA wal_checkpoint(TRUNCATE)").first?.first else {
            throw DataSourceError(
                .storeBusy, "Another program kept \(path) locked. Close that program, or try again later.")
        }
    }
}
