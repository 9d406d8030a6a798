public import Foundation
internal import RowStore
internal import SQLiteStore

/// Copying an open store, and restoring or removing a closed store.
extension PersistentContainer {
    /// Copies the store to a new file while the container continues to save.
    ///
    /// ```swift
    /// try await container.backup(
    ///     to: folder.appending(
    ///         component: "contacts-\(Date.now.ISO8601Format()).sqlite"))
    /// ```
    ///
    /// The copy is one file without a write-ahead log, and is a consistent snapshot of the store. It contains every save that
    /// was acknowledged before the call. First, pending saves with `waitFor: .main` are written to the store, as ``flush()``
    /// does. The permissions of the file are `0o600`. The file gets its final name once its whole content is on the disk. If
    /// the process is killed earlier, at most `<file>.partial` remains. The next backup to the same file removes
    /// `<file>.partial`. The cost is proportional to the size of the store.
    ///
    /// **Isolation**: none. The copy is made on a queue of the container, in parallel with other reads and saves. A backup
    /// counts as a long read: the write-ahead log grows during the backup, and ``failures`` may report its growth.
    ///
    /// - Parameter url: The new file. The folder of the file must exist.
    /// - Throws: `fileExists` if the file, its log or its journal already exists; `storeUnreadable` if the store is in memory,
    ///   on a server, or a custom store; errors of ``flush()``; `storeClosed`, `notAFile`, `permissionDenied`, `diskFull`,
    ///   `storeCorrupt`, `storeUnreadable`; `CancellationError` if the task is canceled. If the call throws, it leaves no new
    ///   file.
    public func backup(to url: URL) async throws {
        guard let store = stack.root.store as? SQLiteStore else {
            throw DataSourceError(
                .storeUnreadable,
                "The store is not an SQLite file: it is in memory, on a server, or a custom store. Back up a database with the tools of its server, and a custom store with code of the app."
            )
        }
        try await flush()
        try await onReadQueue {
            try PersistentContainer.throwingCancellation { () throws(DataSourceError) in try store.copy(to: url) }
        }
    }

    /// Restores a store from a backup. No container may have the store open, or have the backup open for writing.
    ///
    /// ```swift
    /// try await container.close()
    /// try await PersistentContainer.restore(backup, to: url, replacingStore: true)
    /// ```
    ///
    /// The backup can come from ``backup(to:)``, from a ``ResetPolicy``, or from any other copy of a closed store. The call
    /// first checks the backup, and never changes the backup. Then the call copies the backup to a file beside the store. Once
    /// the whole copy is on the disk, the copy replaces the store. If the process is killed during the call, either the
    /// complete old store or the complete restored store remains. The next container opens the restored store like any other
    /// store: if the model or a key differs, the ``Configuration/resetPolicy-swift.property`` is applied. If the store keeps a
    /// history, the readers of the history are told to read all objects: <doc:HistoryAndUndo>.
    ///
    /// **Isolation**: none. The copy is made on a background thread. The cost is proportional to the size of the backup. If a
    /// container of this process is closing the store, the call waits for that container for at most 10 seconds.
    ///
    /// - Parameters:
    ///   - backup: A store that no container has open for writing.
    ///   - store: The main file of the restored store. The folder of the file must exist. New files get the permissions
    ///     `0o600`, or the permissions of the store that is replaced.
    ///   - isReplacing: Whether an existing store is replaced, even if it is damaged or was made for a different model; false
    ///     by default. Before the replacement, the log of the old store is copied into its main file, so the old store stays
    ///     complete until it is replaced.
    /// - Throws: `fileExists` if the store exists and `isReplacing` is false; `storeInUse` if the store is open, or the backup
    ///   is open for writing; `foreignDatabase`, `notADatabase`, `newerFormat` or `storeCorrupt` if this release cannot read
    ///   the whole backup; `storeBusy`, `notAFile`, `permissionDenied`, `diskFull`, `storeUnreadable`; `CancellationError` if
    ///   the task is canceled during the copy.
    @concurrent
    public static func restore(_ backup: URL, to store: URL, replacingStore isReplacing: Bool = false) async throws {
        try await BlockingExecutor.run {
            try throwingCancellation { () throws(DataSourceError) in
                _ = try SQLiteStore.restore(backup, to: store, isReplacing: isReplacing)
            }
        }
    }

    /// Removes a store that no container has open, without reading it.
    ///
    /// ```swift
    /// try await container.close()
    /// try await PersistentContainer.destroy(storeAt: url)
    /// ```
    ///
    /// The main file is removed first, and the log second. If the process is killed during the call, either the whole
    /// store or no store remains. The lock file stays, because another process may be waiting for the lock. If there is
    /// no store, the call removes only the files that an interrupted reset or restore left behind, and with
    /// `includingBackups: true` the backups.
    ///
    /// **Isolation**: none. If a container of this process is closing the store, the call waits for that container for at most
    /// 10 seconds.
    ///
    /// - Parameters:
    ///   - store: The main file of the store.
    ///   - removesBackups: Whether the call first removes the backups beside the store, which earlier resets have made; false
    ///     by default. Files from ``backup(to:)`` stay.
    /// - Throws: `storeInUse` if the store is open; `notAFile`, `permissionDenied`, `storeUnreadable`. After an error,
    ///   you can repeat the call.
    @concurrent
    public static func destroy(storeAt store: URL, includingBackups removesBackups: Bool = false) async throws {
        try await BlockingExecutor.run { try SQLiteStore.destroy(store, removesBackups: removesBackups) }
    }

    /// Calls the body. For a canceled task, throws a `CancellationError` instead of the store's error.
    private static func throwingCancellation(_ body: () throws(DataSourceError) -> Void) throws {
        do throws(DataSourceError) { try body() } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
    }
}
