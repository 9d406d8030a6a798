internal import RowStore

/// Removes an old store.
struct StoreReset {
    let files: StoreFiles

    /// Removes all files of a store that nobody has open.
    ///
    /// The main file goes first: without it, SQLite takes what is left of a log for nothing. In any other order the next
    /// start could find half a store. It may be repeated after it was cut short.
    ///
    /// - Parameter onRemoval: Called once the main file is gone, whatever fails after that.
    func run(onRemoval: () -> Void = {}) throws(DataSourceError) {
        try files.remove(files.main)
        onRemoval()
        // The disk may not forget the log before it forgets the main file.
        try files.syncFolder()
        try removeRemains()
    }

    /// Removes what a reset that was cut short may have left beside a main file that is gone.
    func removeRemains() throws(DataSourceError) {
        try files.remove(files.log)
        try files.remove(files.sharedMemory)
        try files.remove(files.journal)
        try files.syncFolder()
    }
}
