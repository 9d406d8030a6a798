internal import Foundation
internal import RowStore

/// A lock that one container at a time can have, across processes. The system releases the lock when the process ends.
///
/// The lock has a separate file, into which the holder writes its process ID. The file has no other contents, and is never
/// removed.
///
/// Guarded by: its owner, which uses it on one thread at a time.
final class FileLock: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the lock's file, or makes it.
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
    /// - Parameter patience: The longest wait.
    /// - Throws: `storeBusy`, with the process ID of the holder.
    func take(patience: Duration = .milliseconds(Int(Connection.patience))) throws(DataSourceError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return recordHolder() }
        let end = ContinuousClock.now + patience
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

    /// Runs the body with the lock.
    func holding<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
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
            .storeBusy, "\(name) kept \(path) locked. Wait for that process, or end that process, and try again.")
    }
}

extension StoreFiles {
    /// Locked while a container opens or resets a shared store.
    var gate: String { main + ".gate" }
    /// Locked while a container writes a shared store.
    var writeLock: String { main + ".write" }
    /// Written after each commit to a shared store, to notify the other members.
    var bell: String { main + ".bell" }

    /// Opens a file beside a shared store, or makes it.
    func openShared(_ path: String) throws(DataSourceError) -> Int32 {
        // An existing file may belong to an earlier store with other permissions.
        let wanted = try state(main).map { $0.st_mode & 0o777 } ?? mode
        let (descriptor, error) = calls.openOrMake(path, mode: wanted)
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: "opening") }
        var found = stat()
        // Only the owner can change permissions. An error does no harm, because the files have only locks and hints.
        if fstat(descriptor, &found) == 0, found.st_mode & 0o777 != wanted { _ = fchmod(descriptor, wanted) }
        return descriptor
    }
}
