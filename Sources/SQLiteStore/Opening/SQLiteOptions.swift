package import Foundation
package import RowStore

/// The options for opening a store in a file.
package struct SQLiteOptions: Sendable {
    package var url: URL
    package var layout: ModelLayout
    package var identity: StoreIdentity
    package var synchronous: SynchronousLevel
    package var resetPolicy: ResetPolicy
    package var calls: FileCalls
    /// Called with the progress of a migration, on the thread that opens the store.
    package var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// The permissions of new files. An empty main file gets these permissions, too. Any other existing store keeps its
    /// permissions.
    package var fileMode = 0o600
    /// Whether the store may be migrated or upgraded. If false, the opening of a store that must be migrated or upgraded throws
    /// `openingWouldBlock`, and does not change the store.
    package var mayMigrate = true
    /// Whether the store is opened for reading only. If true, no file is made or changed.
    package var isReadOnly = false
    /// The size of the write-ahead log, in frames (pages), above which an idle store copies the log into the main file.
    package var logLimit = 1000
    /// The handler for the statements that run after the opening.
    package var tracing: StatementTracing?
    /// Whether several containers and processes may have the store open.
    package var isShared = false
    /// The times for keeping leases, and for waiting for leases.
    package var leaseTimes = LeaseTimes()
    /// The name of the container as a member of the store.
    package var memberName = ProcessInfo.processInfo.processName
    /// Whether the store keeps a history, and how much of it.
    package var history = KeptHistory.unchanged
    /// The longest time that a save waits for a transaction of another program.
    package var lockTimeout = Duration.seconds(10)

    package init(
        url: URL, layout: ModelLayout, identity: StoreIdentity, synchronous: SynchronousLevel = .full,
        resetPolicy: ResetPolicy = .standard, calls: FileCalls = .system,
        migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) {
        self.url = url
        self.layout = layout
        self.identity = identity
        self.synchronous = synchronous
        self.resetPolicy = resetPolicy
        self.calls = calls
        self.migrationProgress = migrationProgress
    }
}
