public import ManagedModel
package import RowStore

/// One store, the tiers above it, and the data sources of an app.
///
/// ```swift
/// let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1000")
/// print(container.startup.reason)
/// let contacts = try await container.dataSource(ContactDataSource.self)
/// ```
///
/// Opening compares the model's hash and the database key with those that the store was made for. If one differs, the
/// store is reset or migrated as the ``Configuration/resetPolicy`` says, and ``startup`` says so. An error while opening is
/// never a reset: it is thrown, and the files stay as they were.
///
/// The store is closed, and free for another process, soon after the container and its data sources are gone, or by
/// ``close()``. Saves that are pending then are written first.
public final class PersistentContainer: Sendable {
    /// How a container treats its store.
    public struct Configuration: Sendable {
        /// When a commit counts as done. `.full` by default: when the disk has it.
        public var synchronous: SynchronousLevel
        /// What to do with a store that was made for another model or database key. `.standard` by default: if the model
        /// changed, the old store is set aside; if a key changed, it is dropped.
        public var resetPolicy: ResetPolicy
        /// Keys of single data sources: a changed key drops the rows of its data source only. None by default.
        public var databaseKeys: DataSourceKeys
        /// How many bytes of objects each private context may keep registered between saves, so that they are found
        /// without a fetch; 64 MiB by default. A batch may use more while it runs. Objects beyond the limit are forgotten
        /// when it is saved, and read again when needed.
        public var registeredObjectByteLimit: Int
        /// How many bytes of saves may wait for the store before further calls are held; 64 MiB by default.
        ///
        /// A call is held before its batch begins, for at most 10 seconds; then it throws `storeUnavailable`. Forms with a
        /// callback are refused at once.
        public var pendingByteLimit: Int
        /// How many values may wait for their batch, or for their callback, before further calls are held as well; 1,000,000
        /// by default.
        public var queuedValueLimit: Int
        /// How many bytes of saves may wait for the main actor; 32 MiB by default. If more wait, main skips the single saves
        /// and reads again what it shows.
        public var mainBacklogByteLimit: Int
        /// The permissions of the files that the container makes: the store, its log and shared memory, its lock file and
        /// its backups. `0o600` by default, so that they are their owner's alone. An empty file that is there gets them too;
        /// a store that is there keeps its own.
        public var fileMode: Int
        /// Whether the store is only read. False by default.
        ///
        /// No file is made or changed, so the store may be on a read-only medium. It has to exist, and to be made for this
        /// model and these keys. Saves throw `storeReadOnly`. Several containers may read one store. While they do, no
        /// container can write it.
        public var isReadOnly: Bool
        /// Called again and again while a migration (``ResetPolicy/migrate``) carries rows over, and once at its end. It is
        /// called on the thread that opens the store, which waits for it.
        public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
        /// Called with every statement that the store of the container runs once it is open. Nil by default, which costs
        /// nothing. A store in memory runs none.
        ///
        /// ```swift
        /// configuration.trace = { if $0.duration > .milliseconds(50) { logger.notice("\($0)") } }
        /// ```
        ///
        /// **Isolation**: none; it is called on the thread that ran the statement, which may be the main thread, and waits
        /// for it. Statements of different threads come at the same time. It must not use the container, a data source or
        /// an object, nor end the process: locks of the store are held.
        public var trace: (@Sendable (StatementTrace) -> Void)?
        /// Whether ``StatementTrace/sql`` shows the values of objects. False by default: values do not belong in logs.
        public var tracesValues: Bool

        /// Makes a configuration. Settings that are not named have their defaults; a limit that is too low counts as the
        /// lowest possible one.
        public init(
            synchronous: SynchronousLevel = .full, resetPolicy: ResetPolicy = .standard,
            databaseKeys: DataSourceKeys = [:], registeredObjectByteLimit: Int = 64 << 20,
            pendingByteLimit: Int = 64 << 20, queuedValueLimit: Int = 1_000_000, mainBacklogByteLimit: Int = 32 << 20,
            fileMode: Int = 0o600, isReadOnly: Bool = false,
            migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil,
            trace: (@Sendable (StatementTrace) -> Void)? = nil, tracesValues: Bool = false
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
        }

        fileprivate var limits: RootLimits {
            RootLimits(
                pendingBytes: pendingByteLimit, queuedValues: queuedValueLimit, unmergedBytes: mainBacklogByteLimit)
        }
    }

    /// What opening the store did: whether it was made, kept, migrated or reset, and what was dropped.
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
    /// container. If the store is just being closed by another container of this process, opening waits for that, at most 10
    /// seconds.
    ///
    /// - Parameters:
    ///   - model: The model; most often the value that `ModelPlugin` generates, such as `.contacts`.
    ///   - location: Where the rows are kept.
    ///   - databaseKey: The app's own label for the contents, in clear; empty by default. Change it to have the store reset.
    ///   - configuration: How the container treats the store; each setting has its own default.
    /// - Throws: `unreadableModel`, `modelChanged`, `storeInUse`, `storeBusy`, `diskFull`, `permissionDenied`, `notAFile`,
    ///   `notADatabase`, `foreignDatabase`, `storeCorrupt`, `newerFormat`, `storeUnreadable`; then no file has changed. What
    ///   opening a store of the app's own throws.
    @concurrent
    public convenience init(
        model: ManagedObjectModel, store location: StoreLocation, databaseKey: String = "",
        configuration: Configuration = Configuration()
    ) async throws {
        do { try model.validate() } catch {
            throw DataSourceError(
                .unreadableModel, "The model \(model.name) cannot be used. \(error.message)",
                entityName: error.entityName)
        }
        let layout = ModelLayout(model)
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: databaseKey, entityKeys: configuration.databaseKeys.entityKeys(layout))
        let opened = try location.open(layout, identity, configuration)
        self.init(layout, opened.store, opened.startup, configuration)
    }

    /// Puts the tiers on a store that is open.
    package init(
        _ layout: ModelLayout, _ store: any PersistentStore, _ startup: StoreStartup,
        _ configuration: Configuration = Configuration(), scheduling: WorkScheduling = .system
    ) {
        let waker = MainWaker()
        let root = RootContext(layout, store: store, limits: configuration.limits, scheduling: scheduling) {
            waker.wake()
        }
        stack = PersistentStack(
            layout, root: root, mainWaker: waker,
            registeredObjectByteLimit: configuration.registeredObjectByteLimit)
        mainTier = MainTier(stack)
        waker.connect(mainTier)
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
    public func dataSource<Source: AnyDataSource>(_ type: Source.Type) throws -> Source {
        try sources.dataSource(type, stack, mainTier)
    }

    // MARK: Saves

    /// How many saves main shows that the store does not have yet.
    public var pendingSaveCount: Int { stack.root.pendingSaveCount }

    /// Failures that no call can throw, from now on: of saves that were made with `waitFor: .main`, and of the store itself.
    ///
    /// A loop over it ends when the container is closed. If nobody takes them, the newest 128 failures are kept.
    public var failures: AsyncStream<StoreFailure> { stack.root.failures.stream() }

    /// Returns once every save that was made before is in the store. After a failed commit it tries again.
    ///
    /// - Throws: What the store throws; saves that were made with `waitFor: .main` then stay pending and are tried again. If
    ///   one of the saves was refused, why.
    public func flush() async throws {
        try await stack.root.flush()
    }

    /// The blocking form of ``flush()``, for the end of a process. It may be called on the main thread.
    public func flushAndWait() throws {
        try stack.root.flushAndWait()
    }

    /// Takes back all saves that are not in the store yet, in all contexts. Use it when saves that were made with `waitFor:
    /// .main` can never be written.
    ///
    /// When it returns, objects, fetches and lists of main show what the store has.
    ///
    /// - Returns: How many saves they were.
    @discardableResult
    public func discardPending() async -> Int {
        let discarded = await stack.root.discardPending()
        await stack.mainWaker.mergeNow()
        return discarded
    }

    /// Empties the store while the app runs, for example at a logout. With ``ResetPolicy/backup(keep:)`` the old store is set
    /// aside, as by a reset at a start. With every other policy it is dropped, and the backups that ``ResetPolicy/standard``
    /// made with it.
    ///
    /// Data sources and contexts go on with the new store. When the call returns, the objects that the app holds count as
    /// deleted, and lists show the new store. Saves that were not in the store yet, and calls under way, throw `storeReset`;
    /// nothing of them is in the new store.
    ///
    /// - Returns: How many objects were dropped, and where the backup is.
    /// - Throws: What the store throws; then every row of the store is as it was.
    @discardableResult
    public func reset() async throws -> StoreStartup {
        let startup = try await stack.root.reset()
        await stack.mainWaker.mergeNow()
        return startup
    }

    /// Waits for the calls that were made before, writes what is pending, and closes the store. Calls that are made from now
    /// on throw `storeClosed`; objects that are held stay readable.
    ///
    /// Lists show the last save, unless they have to read the store for it, and end as soon as the main actor is free:
    /// ``ListUpdates`` finish, and other lists report ``ListReason/Kind/closed``. The call does not wait for that.
    ///
    /// - Throws: What the store throws; it is closed all the same.
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
