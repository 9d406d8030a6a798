internal import RowStore

/// Removes an old store.
struct StoreReset {
    let files: StoreFiles

    /// Removes all files of a store that no process has open.
    ///
    /// The main file is removed first, because without it SQLite ignores the rest of a log. In any other order the next start
    /// could find a partial store. It can be repeated after an interruption.
    ///
    /// - Parameter onRemoval: Called once the main file is gone, even if something fails after that.
    func run(onRemoval: () -> Void = {}) throws(DataSourceError) {
        let removed = RemovedFile(files.main)
        do throws(DataSourceError) { try files.remove(files.main) } catch {
            removed.keep()
            throw error
        }
        defer { removed.giveBackSpace() }
        onRemoval()
        // The removal of the log must not reach the disk before that of the main file.
        try files.syncFolder()
        try removeRemains()
    }

    /// Removes the leftovers of an interrupted reset beside a main file that is gone.
    func removeRemains() throws(DataSourceError) {
        try files.remove(files.log)
        try files.remove(files.sharedMemory)
        try files.remove(files.journal)
        try files.syncFolder()
    }
}
