package import Foundation
package import RowStore

/// How a store in a file is opened.
package struct SQLiteOptions: Sendable {
    package var url: URL
    package var layout: ModelLayout
    package var identity: StoreIdentity
    package var synchronous: SynchronousLevel
    package var resetPolicy: ResetPolicy
    package var calls: FileCalls
    /// Called on the opening thread while rows are carried over to another model.
    package var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// The permissions of new files, and of an existing empty one. An existing store keeps its own.
    package var fileMode = 0o600
    /// Whether the store may be migrated or upgraded. If not, opening throws `openingWouldBlock` before it changes anything.
    package var mayMigrate = true
    /// Whether the store is only read: no file is made or changed.
    package var isReadOnly = false
    /// When the write-ahead log has this many frames (pages), an idle store copies them into the main file.
    package var logLimit = 1000
    /// The listener for the statements that run once the store is open.
    package var tracing: StatementTracing?
    /// Whether others may have the store open too.
    package var isShared = false
    /// How long leases are kept and waited for.
    package var leaseTimes = LeaseTimes()
    /// The longest that a save waits for a transaction of another program.
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
