public import Foundation
internal import RowStore
internal import SQLiteStore

/// Copies of a store: made while it is open, and put back while it is not.
extension PersistentContainer {
    /// Copies the store to a new file while the container goes on saving.
    ///
    /// ```swift
    /// try await container.backup(to: folder.appending(component: "contacts-\(Date.now.ISO8601Format()).sqlite"))
    /// ```
    ///
    /// The copy is one file without a write-ahead log, a whole store of one moment: every save that was acknowledged before
    /// the call is in it, those with `waitFor: .main` included, which are written first as by ``flush()``. Its permissions
    /// are `0o600`. It gets its name once the disk has all of it; a process that is killed before leaves at most
    /// `<file>.partial`, which the next backup to the same file removes.
    ///
    /// **Isolation**: none. The copy is made on a queue of the container, beside other reads and saves. It is a long read:
    /// the write-ahead log grows meanwhile, which ``failures`` may report.
    ///
    /// - Parameter url: The new file. Its folder must exist.
    /// - Throws: `fileExists` if there is a file already, or a log or a journal of that name; `storeUnreadable` if the store
    ///   is in memory, on a server, or of the app's own; what keeps pending saves from being written; `storeClosed`, `notAFile`,
    ///   `permissionDenied`, `diskFull`, `storeCorrupt`, `storeUnreadable`; `CancellationError` if the task is cancelled.
    ///   Then there is no new file.
    public func backup(to url: URL) async throws {
        guard let store = stack.root.store as? SQLiteStore else {
            throw DataSourceError(
                .storeUnreadable,
                "The store is not an SQLite file: it is in memory, on a server, or of the app's own. Back up a database with the tools of its server, and a store of the app's own as the app knows how."
            )
        }
        try await flush()
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        try await reader.run {
            try PersistentContainer.throwingCancellation { () throws(DataSourceError) in try store.copy(to: url) }
        }.get()
    }

    /// Restores a store from a backup. No container may have either of them open.
    ///
    /// ```swift
    /// try await container.close()
    /// try await PersistentContainer.restore(backup, to: url, replacingStore: true)
    /// ```
    ///
    /// The backup may be one of ``backup(to:)``, of a ``ResetPolicy``, or any other copy of a closed store; it stays as it
    /// is. It is checked first. Then it is copied beside the store, and the copy gets the store's name once the disk has it:
    /// a process that is killed meanwhile leaves the old store or the restored one, whole. The next container opens it like
    /// any other store: if it was made for another model or key, the ``Configuration/resetPolicy-swift.property`` decides.
    ///
    /// **Isolation**: none. It blocks a background thread while it copies. If the store is just being closed by a container
    /// of this process, it waits for that, at most 10 seconds.
    ///
    /// - Parameters:
    ///   - backup: A store that no container has open for writing.
    ///   - store: The main file of the restored store. Its folder must exist. New files have the permissions `0o600`, or
    ///     those of the store that is replaced.
    ///   - isReplacing: Whether an existing store is dropped, even if it is damaged or was made for another model; false by
    ///     default. Its log is copied into it first, so it is whole until it is replaced.
    /// - Throws: `fileExists` if there is a store and it may not be replaced; `storeInUse` if a container or process has one
    ///   of the two open; `foreignDatabase`, `notADatabase`, `newerFormat` or `storeCorrupt` if the backup is no store that
    ///   this release can read whole; `storeBusy`, `notAFile`, `permissionDenied`, `diskFull`, `storeUnreadable`;
    ///   `CancellationError` if the task is cancelled while it copies.
    @concurrent
    public static func restore(_ backup: URL, to store: URL, replacingStore isReplacing: Bool = false) async throws {
        try throwingCancellation { () throws(DataSourceError) in
            _ = try SQLiteStore.restore(backup, to: store, isReplacing: isReplacing)
        }
    }

    /// Removes a store that no container has open, without reading it.
    ///
    /// Its main file goes first and then its log, so that a process that is killed meanwhile leaves the whole store or none.
    /// The lock file stays, because another process may be waiting for it. Where there is no store, nothing happens.
    ///
    /// **Isolation**: none. If the store is just being closed by a container of this process, it waits for that, at most
    /// 10 seconds.
    ///
    /// - Parameters:
    ///   - store: The store's main file.
    ///   - removesBackups: Whether the backups that resets made beside it are removed first; false by default. Files that
    ///     ``backup(to:)`` made stay.
    /// - Throws: `storeInUse` if a container or process has it open; `notAFile`, `permissionDenied`, `storeUnreadable`. It may
    ///   be called again.
    @concurrent
    public static func destroy(store: URL, includingBackups removesBackups: Bool = false) async throws {
        try SQLiteStore.destroy(store, removesBackups: removesBackups)
    }

    /// Calls the body, and throws a `CancellationError` in the place of the store's error for a cancelled task.
    private static func throwingCancellation(_ body: () throws(DataSourceError) -> Void) throws {
        do throws(DataSourceError) { try body() } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
    }
}

extension ReadTier {
    /// Runs work that is neither a read of the contexts nor a save on the queue.
    fileprivate func run(_ body: @Sendable () throws -> Void) -> Result<Void, any Error> { Result { try body() } }
}
