internal import Foundation
internal import RowStore

/// A lock that only one container of all processes can have at a time. The system releases the lock when the process ends.
///
/// The lock has a file of its own. The container that has the lock writes its process ID into the file. The file has no other
/// contents, and is never removed.
///
/// Guarded by: its owner, which uses the lock on one thread at a time.
final class FileLock: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the lock's file. Makes the file if it is missing.
    init(_ path: String, _ files: StoreFiles) throws(DataSourceError) {
        self.path = path
        descriptor = try files.openShared(path)
    }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Waits for the lock.
    ///
    /// - Parameter lockTimeout: The longest time to wait.
    /// - Throws: `storeBusy`, with the ID of the process that has the lock.
    func take(lockTimeout: Duration = .milliseconds(Int(Connection.lockTimeout))) throws(DataSourceError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return recordHolder() }
        let end = ContinuousClock.now + lockTimeout
        var pause: UInt32 = 20
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw DataSourceError(systemError: errno, path: path, while: "locking")
            }
            guard ContinuousClock.now < end else { throw busy() }
            usleep(pause)
            pause = min(pause * 2, 500)
        }
        recordHolder()
    }

    func release() {
        flock(descriptor, LOCK_UN)
    }

    /// Runs the body while this container has the lock.
    func withLock<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try take()
        defer { release() }
        return try body()
    }

    private func recordHolder() {
        var (noted, own): (Int32, Int32) = (0, getpid())
        guard pread(descriptor, &noted, 4, 0) != 4 || noted != own else { return }
        _ = pwrite(descriptor, &own, 4, 0)
    }

    private func busy() -> DataSourceError {
        var holder: Int32 = 0
        let name = pread(descriptor, &holder, 4, 0) == 4 ? "Process \(holder)" : "Another process"
        return DataSourceError(
            .storeBusy, "\(name) keeps \(path) locked. Wait for that process, or end that process, and try again.")
    }
}

extension StoreFiles {
    /// The lock file for opening or resetting a shared store.
    var gate: String { main + ".gate" }
    /// The lock file for writing to a shared store.
    var writeLock: String { main + ".write" }
    /// The file that is written after each commit to a shared store, to notify the other members.
    var bell: String { main + ".bell" }

    /// Opens a file beside a shared store. Makes the file if it is missing.
    func openShared(_ path: String) throws(DataSourceError) -> Int32 {
        // Use the permissions of the main file. An existing file may belong to an earlier store with other permissions.
        let wanted = try state(main).map { $0.st_mode & 0o777 } ?? mode
        let (descriptor, error) = calls.openOrMake(path, mode: wanted)
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: "opening") }
        var found = stat()
        // Only the owner of a file can change its permissions. An error does no harm, because the files contain only locks and
        // hints.
        if fstat(descriptor, &found) == 0, found.st_mode & 0o777 != wanted { _ = fchmod(descriptor, wanted) }
        return descriptor
    }
}
