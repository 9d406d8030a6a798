public import Foundation
public import ManagedModel
internal import ModelMigration
package import RowStore

/// A store, the tiers above it, and the data sources of an app.
///
/// ```swift
/// let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1000")
/// print(container.startup.reason)
/// let contacts = try await container.dataSource(ContactDataSource.self)
/// ```
///
/// Opening compares the model's hash and the database key with those that the store was made for. If one differs, the store is
/// reset or migrated by the ``Configuration/resetPolicy``, and ``startup`` reports it. An error during opening never resets a
/// store: it is thrown, and the files are unchanged.
///
/// The store is closed, and free for other processes, soon after the container and its data sources are released, or by
/// ``close()``. Pending saves are written first.
public final class PersistentContainer: Sendable {
    /// How a container treats its store.
    ///
    /// ```swift
    /// var configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
    /// configuration.trace = { statement in print(statement) }
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .sqlite(url), configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// When a commit counts as done. `.full` by default: when the disk has it.
        public var synchronous: SynchronousLevel
        /// What happens to a store that was made for another model or database key. `.standard` by default: if the model
        /// changed, the old store is set aside; if a key changed, it is dropped.
        public var resetPolicy: ResetPolicy
        /// Keys of single data sources. If one changes, only the rows of its data source are dropped. None by default.
        public var databaseKeys: DataSourceKeys
        /// How many bytes of objects each private context may keep registered between saves, so that they are found without a
        /// fetch; 64 MiB by default. A batch may use more while it runs. After its save, objects beyond the limit are
        /// forgotten, and read again when they are needed.
        public var registeredObjectByteLimit: Int
        /// How many bytes of saves may wait for the store before further calls are held; 64 MiB by default.
        ///
        /// A call is held before its batch begins, for at most 10 seconds; then it throws `storeUnavailable`. Forms with a
        /// callback get that error at once.
        public var pendingByteLimit: Int
        /// How many values may wait for their batch or their callback before further calls are held, too; 1,000,000 by default.
        public var queuedValueLimit: Int
        /// How many bytes of saves may wait for the main actor; 32 MiB by default. If more are waiting, main skips the single
        /// saves and reloads what it shows.
        public var mainBacklogByteLimit: Int
        /// The permissions of the files that the container makes: the store, its log and shared memory, its lock file and its
        /// backups. `0o600` by default, so that only their owner has access. An existing empty file gets these permissions too;
        /// an existing store keeps its own.
        public var fileMode: Int
        /// Whether the store is opened for reading only. False by default.
        ///
        /// The store must exist and be made for this model and these keys. Saves throw `storeReadOnly`.
        ///
        /// No file is made or changed, so the store may be on a read-only medium. Several containers may read one file. While they
        /// do, no container can write it.
        ///
        /// A store on a server may be written meanwhile: lists follow what others save. The user needs no more than the right to read
        /// its tables, and the server may be a standby. After a reset by others, reads throw `storeReset`.
        public var isReadOnly: Bool
        /// Called repeatedly while a migration (``ResetPolicy/migrate``) carries rows over, and once at its end. It is called
        /// on the thread that opens the store, which waits for it.
        public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
        /// Called with every statement that the container's store runs once it is open. Nil by default, which costs nothing. A
        /// store in memory runs no statements. With a listener, look-ups share no transaction.
        ///
        /// ```swift
        /// configuration.trace = { if $0.duration > .milliseconds(50) { print($0) } }
        /// ```
        ///
        /// **Isolation**: none; it is called on the thread that ran the statement, which may be the main thread, and blocks it.
        /// Calls for statements of different threads may overlap. It must not use the container, a data source or an object, or
        /// end the process: the store holds locks during the call.
        public var trace: (@Sendable (StatementTrace) -> Void)?
        /// Whether ``StatementTrace/sql`` shows the values of objects. False by default, because values do not belong in logs.
        public var tracesValues: Bool
        /// Where the stores are that are opened by name; nil, the default, for ``defaultDirectory``.
        public var directory: URL?
        /// How long the main actor waits for a server that does not answer; 10 seconds by default. Then the read throws
        /// `storeUnavailable`. It does not concern stores that are on this machine.
        public var mainPatience: Duration
        /// How long a call waits for rows that another program keeps locked.
        package var lockPatience = Duration.seconds(10)
        /// Whether opening may migrate or upgrade a store in a file.
        var mayMigrate = true

        /// Makes a configuration. Each argument that is left out has its default; a limit that is too low is raised to the
        /// lowest possible value.
        public init(
            synchronous: SynchronousLevel = .full, resetPolicy: ResetPolicy = .standard,
            databaseKeys: DataSourceKeys = [:], registeredObjectByteLimit: Int = 64 << 20,
            pendingByteLimit: Int = 64 << 20, queuedValueLimit: Int = 1_000_000, mainBacklogByteLimit: Int = 32 << 20,
            fileMode: Int = 0o600, isReadOnly: Bool = false,
            migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil,
            trace: (@Sendable (StatementTrace) -> Void)? = nil, tracesValues: Bool = false, directory: URL? = nil,
            mainPatience: Duration = .seconds(10)
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
        }

        fileprivate var limits: RootLimits {
            RootLimits(
                pendingBytes: pendingByteLimit, queuedValues: queuedValueLimit, unmergedBytes: mainBacklogByteLimit,
                lockPatience: lockPatience, mainPatience: mainPatience)
        }
    }

    /// What opening the store did: whether the store was made, kept, migrated or reset, and what was dropped.
    public let startup: StoreStartup
    /// The context that the user interface reads.
    @MainActor public var main: MainContext { mainTier.context }
    package let mainTier: MainTier
    package let stack: PersistentStack
    package let readers: ReadQueue
    private let sources: DataSourceDirectory
    private let appState: AppStateObserver

    /// Opens the store, or makes it.
    ///
    /// **Isolation**: none. The work is done off the main actor and never waits for it, so the main thread may wait for the
    /// container. If another container of this process is closing the store at the moment, opening waits for that, for at most
    /// 10 seconds.
    ///
    /// - Parameters:
    ///   - model: The model; most often the value that `ModelPlugin` generates, such as `.contacts`.
    ///   - location: Where the rows are kept.
    ///   - databaseKey: The app's own label for the contents, in clear text. If it is not the one that the store has, the store is
    ///     reset. Nil, the default, is whatever the store has.
    ///   - configuration: How the container treats the store; each setting has its own default.
    /// - Throws: `unreadableModel`, `modelChanged`, `storeInUse`, `storeBusy`, `diskFull`, `permissionDenied`, `notAFile`,
    ///   `notADatabase`, `foreignDatabase`, `storeCorrupt`, `newerFormat`, `storeUnreadable`; no file has changed then. What a
    ///   custom store throws when it is opened.
    @concurrent
    public convenience init(
        model: ManagedObjectModel, store location: StoreLocation, databaseKey: String? = nil,
        configuration: Configuration = Configuration()
    ) async throws {
        let opening = try ContainerOpening(
            model, store: location, databaseKey: databaseKey, configuration: configuration)
        self.init(opening, try await BlockingExecutor.run { try opening.run() })
    }

    /// Builds the tiers on what an opening has returned.
    convenience init(_ opening: ContainerOpening, _ opened: ContainerOpening.Opened) {
        self.init(opening.layout, opened.store, startup: opened.startup, configuration: opening.configuration)
    }

    /// Builds the tiers on a store that is open.
    package init(
        _ layout: ModelLayout, _ store: any PersistentStore, startup: StoreStartup,
        configuration: Configuration = Configuration(), scheduling: WorkScheduling = .system
    ) {
        let waker = MainWaker()
        let root = RootTier(layout, store: store, limits: configuration.limits, scheduling: scheduling) {
            waker.wake()
        }
        stack = PersistentStack(
            layout, root: root, mainWaker: waker,
            registeredObjectByteLimit: configuration.registeredObjectByteLimit)
        mainTier = MainTier(stack)
        waker.connect(mainTier.work)
        readers = ReadQueue(stack)
        self.startup = startup
        sources = DataSourceDirectory()
        appState = AppStateObserver { [weak root] in try? root?.flushAndWait() }
        stack.connect(self)
    }

    // MARK: Data sources

    /// The data source of that class. The first call makes it; later calls return the same instance.
    ///
    /// **Isolation**: the main actor. While the main thread is blocked, this call waits.
    ///
    /// - Throws: `entityAlreadyOwned` if another data source of this container owns one of its entities; `unknownEntity`.
    @MainActor
    public func dataSource<Source: EntityDataSource>(_ type: Source.Type) throws -> Source {
        try sources.dataSource(type, stack, mainTier)
    }

    // MARK: Saves

    /// How many saves main shows that are not in the store yet.
    public var pendingSaveCount: Int { stack.root.pendingSaveCount }

    /// Failures that no call can throw, from now on: of saves with `waitFor: .main`, and of the store itself.
    ///
    /// A loop over it ends when the container is closed. If no loop takes the failures, the newest 128 are kept.
    public var failures: AsyncStream<StoreFailure> { stack.root.failures.stream() }

    /// Returns once every earlier save is in the store. After a failed commit it tries again.
    ///
    /// - Throws: What the store throws; saves with `waitFor: .main` stay pending then, and are tried again. If one of the saves
    ///   was refused, the reason for that.
    public func flush() async throws {
        try await stack.root.flush()
    }

    /// The blocking form of ``flush()``, for the end of a process. You can call it on the main thread.
    ///
    /// - Precondition: It is not called in a hook, in `perform { }` or in `container.read { }`: a reset could wait for those while
    ///   they wait for it.
    /// - Throws: What ``flush()`` throws.
    public func flushAndWait() throws {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "flushAndWait was called inside a private context or container.read, where it could wait for itself. Call flush() or flushAndWait() after the hook, perform { } or read { } has returned."
        )
        try stack.root.flushAndWait()
    }

    /// Takes back all saves that are not in the store yet, in all contexts. Use it when saves with `waitFor: .main` can never
    /// be written.
    ///
    /// When it returns, objects, fetches and lists of main show what the store has.
    ///
    /// - Returns: How many saves were taken back.
    @discardableResult
    public func discardPending() async -> Int {
        let discarded = await stack.root.discardPending()
        await stack.mainWaker.mergeNow()
        return discarded
    }

    /// Empties the store while the app runs, for example at a logout. With ``ResetPolicy/backup(keep:)`` the old store is set
    /// aside, as by a reset at a start. With every other policy it is dropped, together with the backups that
    /// ``ResetPolicy/standard`` made.
    ///
    /// Data sources and contexts continue with the new store. When the call returns, objects that the app still holds count as
    /// deleted, and lists show the new store. Saves that were not in the store yet, and calls under way, throw `storeReset`;
    /// none of their changes are in the new store.
    ///
    /// - Returns: How many objects were dropped, and where the backup is.
    /// - Throws: What the store throws; every row is unchanged then.
    @discardableResult
    public func reset() async throws -> StoreStartup {
        let startup = try await stack.root.reset()
        await stack.mainWaker.mergeNow()
        return startup
    }

    /// Waits for earlier calls, writes what is pending, and closes the store. Later calls throw `storeClosed`; objects that are
    /// still held stay readable.
    ///
    /// Lists show the last save, unless they have to read the store for it, and end as soon as the main actor is free:
    /// ``ListUpdates`` finish, and other lists report ``ListReason/Kind/closed``. The call does not wait for that.
    ///
    /// - Throws: What the store throws; the store is closed all the same.
    public func close() async throws {
        await stack.root.admission.close()
        await readers.close()
        stack.root.stopAccepting()
        stack.root.store.willClose()
        let flushed = await stack.root.flushed()
        await stack.root.closeStore()
        stack.root.failures.finish()
        Task { await mainTier.finishLists() }
        try flushed.get()
    }
}

/// Reading off the main actor, beside all writers.
extension PersistentContainer {
    /// Reads one state of all rows, and returns the result of the body.
    ///
    /// ```swift
    /// let (names, count) = try await container.read { context in
    ///     (try context.values(ObjectRequest<ContactEntity>(), \.name), try context.count(GroupEntity.self))
    /// }
    /// ```
    ///
    /// Everything that the body reads is from the same moment. It sees all earlier saves, including those that are not in the
    /// store yet, and no later ones. It does not wait for writers, and writers do not wait for it. During a long body the
    /// write-ahead log grows, which ``failures`` reports.
    ///
    /// **Isolation**: none; the body runs on a queue of the container. At most 6 bodies run at once; further calls wait for
    /// their turn, in their order and without blocking a thread.
    ///
    /// - Parameter body: It reads, and returns values. Objects cannot leave it.
    /// - Throws: What the body throws, what the store throws, and `CancellationError` if the task is cancelled while it waits
    ///   or while a query runs.
    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        return try await reader.read(body).get()
    }
}

/// The model and the container of a context, so that code which gets a context needs nothing else.
extension ManagedObjectContext {
    /// The model of the container.
    ///
    /// **Isolation**: that of the context. The model is a value and can be sent anywhere.
    public var model: ManagedObjectModel { stack.layout.model }

    /// The container of the context; nil once it is gone.
    ///
    /// A context does not keep its container alive.
    ///
    /// **Isolation**: that of the context. The container can be sent anywhere.
    public var container: PersistentContainer? { stack.container }
}

extension PersistentStack {
    /// The container; nil once it is gone.
    var container: PersistentContainer? { holder.withLock { $0.object } as? PersistentContainer }

    func connect(_ container: PersistentContainer) { holder.withLock { $0 = WeakReference(container) } }
}
