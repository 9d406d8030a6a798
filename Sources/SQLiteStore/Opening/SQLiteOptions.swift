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
    /// Reports the progress of a migration, on the opening thread.
    package var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// The permissions of new files, and of an existing empty main file. An existing store keeps its permissions.
    package var fileMode = 0o600
    /// Whether the store may be migrated or upgraded. If not, opening throws `openingWouldBlock` before it changes anything.
    package var mayMigrate = true
    /// Whether the store is only read: no file is made or changed.
    package var isReadOnly = false
    /// The number of frames (pages) in the write-ahead log above which an idle store copies them into the main file.
    package var logLimit = 1000
    /// The listener for statements that run after the store is opened.
    package var tracing: StatementTracing?
    /// Whether several containers and processes may have the store open.
    package var isShared = false
    /// The times for keeping leases and for waiting for them.
    package var leaseTimes = LeaseTimes()
    /// The longest wait of a save for a transaction of another program.
    package var patience = Duration.seconds(10)

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
