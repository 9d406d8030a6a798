public import Foundation
internal import RowStore
internal import SQLiteStore

/// Copying a store while it is open, and restoring one while it is closed.
extension PersistentContainer {
    /// Copies the store to a new file while the container continues to save.
    ///
    /// ```swift
    /// try await container.backup(to: folder.appending(component: "contacts-\(Date.now.ISO8601Format()).sqlite"))
    /// ```
    ///
    /// The copy is one file without a write-ahead log: the whole store at one moment. It contains every save that was
    /// acknowledged before the call, including those with `waitFor: .main`, which are written first as by ``flush()``. Its
    /// permissions are `0o600`. It gets its final name once all of it is on the disk. A process that is killed before that
    /// leaves at most `<file>.partial`, which the next backup to the same file removes.
    ///
    /// **Isolation**: none. The copy is made on a queue of the container, beside other reads and saves. It counts as a long
    /// read: the write-ahead log grows while it runs, which ``failures`` may report.
    ///
    /// - Parameter url: The new file. Its folder must exist.
    /// - Throws: `fileExists` if the file, or a log or a journal of that name, exists; `storeUnreadable` if the store is in
    ///   memory, on a server, or a custom one; the error that keeps pending saves from being written; `storeClosed`,
    ///   `notAFile`, `permissionDenied`, `diskFull`, `storeCorrupt`, `storeUnreadable`; `CancellationError` if the task is
    ///   cancelled. No new file exists then.
    public func backup(to url: URL) async throws {
        guard let store = stack.root.store as? SQLiteStore else {
            throw DataSourceError(
                .storeUnreadable,
                "The store is not an SQLite file: it is in memory, on a server, or a custom store. Back up a database with the tools of its server, and a custom store with code of the app."
            )
        }
        try await flush()
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        try await reader.run {
            try PersistentContainer.throwingCancellation { () throws(DataSourceError) in try store.copy(to: url) }
        }.get()
    }

    /// Restores a store from a backup. No container may have the backup or the store open.
    ///
    /// ```swift
    /// try await container.close()
    /// try await PersistentContainer.restore(backup, to: url, replacingStore: true)
    /// ```
    ///
    /// The backup can come from ``backup(to:)``, from a ``ResetPolicy``, or from any other copy of a closed store. It is
    /// checked first and never changed. Then it is copied beside the store, and the copy gets the store's name once it is on
    /// the disk. So a process that is killed meanwhile leaves either the old store or the restored one, whole. The next
    /// container opens the store like any other: if it was made for another model or key, the
    /// ``Configuration/resetPolicy-swift.property`` decides.
    ///
    /// **Isolation**: none. It blocks a background thread while it copies. If a container of this process is closing the store
    /// at the moment, it waits for that, for at most 10 seconds.
    ///
    /// - Parameters:
    ///   - backup: A store that no container has open for writing.
    ///   - store: The main file of the restored store. Its folder must exist. New files get the permissions `0o600`, or those
    ///     of the store that is replaced.
    ///   - isReplacing: Whether an existing store is replaced, even if it is damaged or was made for another model; false by
    ///     default. Its log is copied into it first, so the old store is whole until it is replaced.
    /// - Throws: `fileExists` if there is a store and it may not be replaced; `storeInUse` if a container or process has one of
    ///   the two open; `foreignDatabase`, `notADatabase`, `newerFormat` or `storeCorrupt` if this release cannot read the whole
    ///   backup; `storeBusy`, `notAFile`, `permissionDenied`, `diskFull`, `storeUnreadable`; `CancellationError` if the task is
    ///   cancelled while it copies.
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
    /// Its main file is removed first and then its log, so that a process that is killed meanwhile leaves the whole store or
    /// none. The lock file stays, because another process may be waiting for it. Does nothing if there is no store.
    ///
    /// **Isolation**: none. If a container of this process is closing the store at the moment, it waits for that, for at most
    /// 10 seconds.
    ///
    /// - Parameters:
    ///   - store: The store's main file.
    ///   - removesBackups: Whether the backups that resets made beside the store are removed first; false by default. Files
    ///     that ``backup(to:)`` made stay.
    /// - Throws: `storeInUse` if a container or process has the store open; `notAFile`, `permissionDenied`, `storeUnreadable`.
    ///   You can call it again.
    @concurrent
    public static func destroy(storeAt store: URL, includingBackups removesBackups: Bool = false) async throws {
        try await BlockingExecutor.run { try SQLiteStore.destroy(store, removesBackups: removesBackups) }
    }

    /// Calls the body. For a cancelled task, throws a `CancellationError` instead of the store's error.
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
