public import Foundation
public import RowStore

extension PersistentContainer {
    /// The settings of a container.
    ///
    /// ```swift
    /// var configuration = PersistentContainer.Configuration(
    ///     synchronous: .normal, resetPolicy: .migrate)
    /// configuration.trace = { statement in print(statement) }
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .sqlite(url), configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// When a commit counts as done. With the default, `.full`, a commit is done when it is on the disk.
        public var synchronous: SynchronousLevel
        /// How to treat a store that was made for a different model or database key. With the default, `.standard`, the old
        /// store is kept as a backup if the model changed, and is dropped if a key changed.
        public var resetPolicy: ResetPolicy
        /// The database keys of individual data sources; none by default. If the key of a data source changes, only the rows of
        /// this data source are dropped.
        public var databaseKeys: DataSourceKeys
        /// The most bytes of objects that each private context keeps in memory between saves; 64 MiB by default. The context
        /// finds these objects without a fetch. A running batch may exceed the limit. After the batch is saved, the context
        /// forgets objects until the rest is within the limit, and reads forgotten objects again when they are needed.
        public var registeredObjectByteLimit: Int
        /// The most bytes of saves that may wait for the store; 64 MiB by default. Beyond the limit, further calls wait. The saves
        /// that the store is writing do not count.
        ///
        /// A call waits before its batch begins. After 10 seconds, the call throws `storeUnavailable`. A call with a callback
        /// does not wait: its callback gets `storeUnavailable` at once.
        public var pendingByteLimit: Int
        /// The most values that may wait for their batch or their callback; 1,000,000 by default. Beyond the limit, further
        /// calls wait. If a call has no callback, its values do not count while its batch runs.
        public var queuedValueLimit: Int
        /// The most bytes of saves that may wait for the main actor; 32 MiB by default. Beyond the limit, the main
        /// context skips the individual saves, and reloads its objects and lists.
        public var mainBacklogByteLimit: Int
        /// The permissions of the files that the container creates: the store, its log and shared memory, its lock file and its
        /// backups. With the default, `0o600`, only the owner of the files has access. An existing empty file gets these
        /// permissions too. An existing store keeps its own permissions.
        public var fileMode: Int
        /// Whether the store is opened for reading only. False by default.
        ///
        /// The store must exist, and must have the same model and keys. If there is no store, opening throws `storeNotFound`.
        /// Saves throw `storeReadOnly`.
        ///
        /// No file is created or changed, so the store may be on a read-only medium. Several containers may read the same file.
        /// While a container reads the file in this way, no container can write the file.
        ///
        /// Other processes may write a store on a server at the same time, and lists show the saves of those processes. The
        /// database user needs only the right to read the tables, and the server may be a standby. After another process has
        /// reset the store, reads throw `storeReset`.
        public var isReadOnly: Bool
        /// A closure that is called repeatedly while a migration (``ResetPolicy/migrate``) copies rows, and once at the end of
        /// the migration. The call blocks the thread that opens the store.
        public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
        /// A closure that is called with every statement that the open store runs; nil by default. A store in memory
        /// runs no statements. Without a closure, tracing costs nothing. With a closure, each look-up runs in a
        /// separate transaction.
        ///
        /// ```swift
        /// configuration.trace = { if $0.duration > .milliseconds(50) { print($0) } }
        /// ```
        ///
        /// **Isolation**: none. The call blocks the thread that ran the statement, which may be the main thread. Calls for
        /// statements of different threads may overlap. The store is locked during the call. So the closure must not use the
        /// container, a data source or an object, and must not end the process.
        public var trace: (@Sendable (StatementTrace) -> Void)?
        /// Whether ``StatementTrace/sql`` shows the values of objects; false by default, because values do not belong in logs.
        public var tracesValues: Bool
        /// The directory of stores that are opened by name. Nil, the default, means ``defaultDirectory``.
        public var directory: URL?
        /// How long the main actor waits for a server that does not answer; 10 seconds by default. After this time, the read
        /// throws `storeUnavailable`. The limit has no effect on stores in files or in memory.
        public var mainPatience: Duration
        /// Whether the store keeps a history of its saves: see <doc:HistoryAndUndo>. With the default, `.unchanged`, a store
        /// that keeps a history continues to keep it, and a new store keeps none. A container that would have to switch the
        /// history on or off throws `storeInUse` if other containers have the store open. Older releases of this library cannot
        /// open a store that keeps a history.
        public var history: KeptHistory
        /// The author of saves that name no author with ``PersistentContainer/withAuthor(_:isolation:_:)``. The author is
        /// recorded in the kept history, and is the ``CommittedSave/author`` of the save. Nil, the default, for none.
        public var author: String?
        /// A name for the container. Diagnostics, errors, the kept history, the saves of a shared store and `model-reset
        /// inspect` show this name instead of the name of the program: see ``StoreMember/name``. Nil, the default, for the name
        /// of the program.
        ///
        /// ```swift
        /// configuration.name = "widget"
        /// ```
        public var name: String?
        /// A closure that returns the current time. The ages of scopes and the pauses after failed loads are counted with this
        /// time: see <doc:DataSourceWithAServer>. Sections of days and the times of ``PinState`` use it, too. Nil, the default,
        /// for the clock of the system. Timers and time limits are always those of the system.
        ///
        /// ```swift
        /// configuration.now = { Date(timeIntervalSince1970: 1_000) }
        /// ```
        ///
        /// **Isolation**: none. Any thread calls the closure.
        public var now: (@Sendable () -> Date)?
        /// The pauses after failed loads of a scope: see <doc:DataSourceWithAServer>. By default, 1 to 2 seconds after the first
        /// failure, and up to 5 minutes after further failures. The store keeps the end of each pause, so a pause applies to
        /// all processes that share the store.
        public var loadPauses: LoadPauses
        /// How long a call waits for rows that another program has locked.
        package var lockPatience = Duration.seconds(10)
        /// The most rows of one entity that an update or a deletion adds to a change set.
        package var changedRowLimit = 1 << 14
        /// Whether opening may migrate or upgrade a store in a file.
        var mayMigrate = true

        /// Creates a configuration. A limit that is too low is raised to the lowest possible value.
        ///
        /// ```swift
        /// let configuration = PersistentContainer.Configuration(
        ///     synchronous: .normal, resetPolicy: .migrate)
        /// ```
        public init(
            synchronous: SynchronousLevel = .full, resetPolicy: ResetPolicy = .standard,
            databaseKeys: DataSourceKeys = [:], registeredObjectByteLimit: Int = 64 << 20,
            pendingByteLimit: Int = 64 << 20, queuedValueLimit: Int = 1_000_000, mainBacklogByteLimit: Int = 32 << 20,
            fileMode: Int = 0o600, isReadOnly: Bool = false,
            migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil,
            trace: (@Sendable (StatementTrace) -> Void)? = nil, tracesValues: Bool = false, directory: URL? = nil,
            mainPatience: Duration = .seconds(10), history: KeptHistory = .unchanged, author: String? = nil,
            name: String? = nil, now: (@Sendable () -> Date)? = nil, loadPauses: LoadPauses = LoadPauses()
        ) {
            self.synchronous = synchronous
            self.resetPolicy = resetPolicy
            self.databaseKeys = databaseKeys
            self.registeredObjectByteLimit = max(0, registeredObjectByteLimit)
            self.pendingByteLimit = max(1, pendingByteLimit)
            self.queuedValueLimit = max(1, queuedValueLimit)
            self.mainBacklogByteLimit = max(0, mainBacklogByteLimit)
            self.fileMode = fileMode
            self.isReadOnly = isReadOnly
            self.migrationProgress = migrationProgress
            self.trace = trace
            self.tracesValues = tracesValues
            self.directory = directory
            self.mainPatience = max(.zero, mainPatience)
            self.history = history
            self.author = author
            self.name = name
            self.now = now
            self.loadPauses = loadPauses
        }

        var limits: RootLimits {
            RootLimits(
                pendingBytes: pendingByteLimit, queuedValues: queuedValueLimit, unmergedBytes: mainBacklogByteLimit,
                lockPatience: lockPatience, mainPatience: mainPatience)
        }
    }
}
