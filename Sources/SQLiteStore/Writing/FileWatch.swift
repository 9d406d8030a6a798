internal import Foundation
internal import RowStore

/// Notices when the files of an open store were moved, replaced or deleted. Writing to them would continue without an error,
/// and everything written would be lost when they are closed.
///
/// It belongs to the writer, and only looks at names; it opens no file.
final class FileWatch {
    private let files: StoreFiles
    private let lock: LockFile
    /// Nil until it was seen for the first time.
    private var main: FileIdentity?
    private var log: FileIdentity?

    init(_ files: StoreFiles, _ lock: LockFile) {
        self.files = files
        self.lock = lock
        main = try? files.identity(files.main)
    }

    /// Makes sure that nobody else has been let in. Called while SQLite's write lock is held: whoever opens the store from here on
    /// waits for it, and so finds what is about to be committed.
    ///
    /// - Throws: `storeInUse` if the lock file is another one, which another process has locked; `storeMoved`.
    func checkLock() throws(DataSourceError) {
        if lock.isInPlace { return }
        // If the store was moved, so was its lock, which is not to be given up then.
        try check(&main, files.main)
        try lock.check()
    }

    /// Makes sure that the files are those that were written to. Called before a commit.
    ///
    /// - Throws: `storeMoved` if the store's file or its write-ahead log is not the one that was there before.
    func checkFiles() throws(DataSourceError) {
        try check(&main, files.main)
        try check(&log, files.log)
    }

    private func check(_ known: inout FileIdentity?, _ path: String) throws(DataSourceError) {
        let found = try files.identity(path)
        guard let expected = known else {
            known = found
            return
        }
        guard found == expected else { throw DataSourceError(storeMoved: path) }
    }
}
