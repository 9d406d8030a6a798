internal import Foundation
internal import RowStore

/// Keeps every other container and process from the store, for as long as it lives.
///
/// The lock is on a file beside the store, which is never deleted: two processes could otherwise hold locks on two files
/// of one name.
final class LockFile: Sendable {
    private let descriptor: Int32

    /// - Throws: `storeInUse` if another container or process has the lock.
    init(_ files: StoreFiles) throws(DataSourceError) {
        let (descriptor, error) = files.calls.lock(files.lock)
        guard error != EWOULDBLOCK else {
            throw DataSourceError(
                .storeInUse,
                "Another container or process has \(files.main) open. Close that one first, or share its container.")
        }
        guard error == 0 else { throw DataSourceError(systemError: error, path: files.lock, while: "locking") }
        self.descriptor = descriptor
    }

    deinit {
        // A process that is just being forked has the descriptor too, until it runs its program: closing is not enough.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
