package import RowStore

extension SQLiteStore {
    package func watchForOutsideWrites(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        // A store that is open for reading only needs no watch, because each read checks the file.
        if options.isReadOnly { return StoreWatch {} }
        guard access == nil, let watch = files.watch(handler) else { return nil }
        // From now on, each write calls the handler. So only earlier writes must be looked for.
        let areAllReported = writer.withLockIfAvailable { $0.current?.hasReportedAllWrites() } ?? nil
        guard areAllReported == true else {
            watch.end()
            return nil
        }
        return watch
    }
}
