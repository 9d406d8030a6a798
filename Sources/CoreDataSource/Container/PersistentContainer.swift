internal import Foundation
public import ManagedModel
internal import ModelMigration
package import RowStore

/// A store, the tiers above the store, and the data sources of an app.
///
/// ```swift
/// let container = try await PersistentContainer(
///     model: .contacts, store: .sqlite(url), databaseKey: "1000")
/// print(container.startup.reason)
/// let contacts = try await container.dataSource(ContactDataSource.self)
/// ```
///
/// Opening compares the model's hash and the database key with the hash and the key of the store. If the hash or the key
/// differs, the store is reset or migrated according to the ``Configuration/resetPolicy``. ``startup`` has the outcome. If
/// opening throws, the store is unchanged, unless it had to be reset or migrated. In this case, the old store may already be
/// dropped, kept as a backup, or migrated.
///
/// The store is closed by ``close()``, or soon after the container and its data sources are released. Before the store is
/// closed, pending saves are written.
public final class PersistentContainer: Sendable {
    /// The outcome of opening: whether the store was created, kept, migrated or reset, and which data was dropped.
    public let startup: StoreStartup
    /// The name of the container: ``Configuration/name``; nil if it has none.
    public let name: String?
    /// The declarations in the model that this library does not support. Each string describes one declaration and its actual
    /// effect. The array is empty for most models.
    ///
    /// ```swift
    /// for sentence in container.unsupportedDeclarations { print(sentence) }
    /// ```
    ///
    /// The macros, `ModelPlugin` and `model-reset check` warn about the same declarations. A setting that exists only in the
    /// file of a model, such as `usedWithCloudKit`, is not included.
    ///
    /// **Isolation**: none. Each access searches the whole model.
    public var unsupportedDeclarations: [String] { stack.layout.model.unsupportedParts.map(\.message) }
    /// The context that the user interface reads.
    @MainActor public var main: MainContext { mainTier.context }
    package let mainTier: MainTier
    package let stack: PersistentStack
    package let readers: ReadQueue
    package let pageSnapshots: PageSnapshots
    private let sources: DataSourceDirectory
    private let appState: AppStateObserver

    /// Opens or creates the store.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .sqlite(url), databaseKey: "1000")
    /// ```
    ///
    /// **Isolation**: none. Opening runs off the main actor, and never waits for the main actor. So it is safe to block
    /// the main thread until the container is open. If another container of this process is closing the store, opening
    /// waits for that container for at most 10 seconds.
    ///
    /// - Parameters:
    ///   - model: The model, usually the value that `ModelPlugin` generates, such as `.contacts`.
    ///   - location: The location of the rows.
    ///   - databaseKey: The app's own label for the contents, stored in clear text. If the store has a different label, the
    ///     store is reset. Nil, the default, keeps the label of the store.
    ///   - configuration: The settings of the container.
    /// - Throws: `unreadableModel`, `modelChanged`, `storeInUse`, `storeBusy`, `diskFull`, `permissionDenied`, `notAFile`,
    ///   `notADatabase`, `foreignDatabase`, `storeCorrupt`, `newerFormat`, `storeUnreadable`; `storeNotFound` for a container
    ///   that only reads; for a store on a server also `storeUnavailable`, `storeReadOnly` and `invalidRequest`; errors of a
    ///   custom store. If opening throws, the store is
    ///   unchanged, unless it had to be reset or migrated. In this case, the old store may already be dropped, kept as a
    ///   backup, or migrated.
    @concurrent
    public convenience init(
        model: ManagedObjectModel, store location: StoreLocation, databaseKey: String? = nil,
        configuration: Configuration = Configuration()
    ) async throws {
        let opening = try ContainerOpening(
            model, store: location, databaseKey: databaseKey, configuration: configuration)
        self.init(opening, try await BlockingExecutor.run { try opening.run() })
    }

    convenience init(_ opening: ContainerOpening, _ opened: ContainerOpening.Opened) {
        self.init(opening.layout, opened.store, startup: opened.startup, configuration: opening.configuration)
    }

    /// Creates the tiers for an open store.
    package init(
        _ layout: ModelLayout, _ store: any PersistentStore, startup: StoreStartup,
        configuration: Configuration = Configuration(), scheduling: WorkScheduling = .system
    ) {
        let notifier = MainNotifier()
        var scheduling = scheduling
        if let now = configuration.now { scheduling.now = now }
        let root = RootTier(layout, store: store, limits: configuration.limits, scheduling: scheduling) {
            notifier.notify()
        }
        root.scopes.pauses = configuration.loadPauses
        stack = PersistentStack(
            layout, root: root, mainNotifier: notifier,
            registeredObjectByteLimit: configuration.registeredObjectByteLimit,
            changedRowLimit: configuration.changedRowLimit, author: configuration.author)
        name = configuration.name
        mainTier = MainTier(stack)
        notifier.connect(mainTier.mergeFunctions)
        readers = ReadQueue(stack)
        pageSnapshots = PageSnapshots(root)
        self.startup = startup
        sources = DataSourceDirectory()
        appState = AppStateObserver { [weak root] in try? root?.flushAndWait() }
        stack.connect(self)
    }

    // MARK: Data sources

    /// Returns the data source of the given class. The first call creates the data source. Later calls return the same
    /// instance.
    ///
    /// ```swift
    /// let contacts = try container.dataSource(ContactDataSource.self)
    /// ```
    ///
    /// **Isolation**: the main actor. A call from outside the main actor waits while the main thread is blocked.
    ///
    /// - Throws: `entityAlreadyOwned` if another data source of this container owns an entity that the class lists;
    ///   `unknownEntity`; `unreadableModel` if the class of an entity does not match the model.
    @MainActor
    public func dataSource<Source: EntityDataSource>(_ type: Source.Type) throws -> Source {
        try sources.dataSource(type, stack, mainTier)
    }

    // MARK: Saves

    /// The number of saves that the main context shows but that are not in the store yet.
    public var pendingSaveCount: Int { stack.root.pendingSaveCount }

    /// A new stream of the failures that no call can throw, such as a refused save with `waitFor: .main`, or a failure
    /// of the store itself. See ``StoreFailure/Kind``.
    ///
    /// ```swift
    /// let log = Task {
    ///     for await failure in container.failures { print(failure) }
    /// }
    /// ```
    ///
    /// The stream begins with the next failure, and ends when the container is closed. While no loop reads the stream, the
    /// stream keeps the newest 128 failures.
    public var failures: AsyncStream<StoreFailure> { stack.root.failures.stream() }

    /// Waits until every earlier save is in the store. A failed commit is tried again.
    ///
    /// ```swift
    /// try await contacts.add(Contact(uid: "4", name: "Zhao Yun"), waitFor: .main)
    /// try await container.flush()
    /// ```
    ///
    /// - Throws: If the store refused a save, the error of this save. Otherwise errors of the store: after such an error, saves
    ///   with `waitFor: .main` stay pending and are tried again.
    public func flush() async throws {
        try await stack.root.flush()
    }

    /// The blocking form of ``flush()``, for the end of a process. You can call this function on the main thread.
    ///
    /// ```swift
    /// try container.flushAndWait()
    /// ```
    ///
    /// - Precondition: The caller is not in a hook, in `perform { }` or in `container.read { }`. There, the call could wait
    ///   forever: a reset waits for such work to end, and the call would wait for the reset.
    /// - Throws: The errors of ``flush()``.
    public func flushAndWait() throws {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "flushAndWait was called inside a private context or container.read, and could wait for itself. Call flush() or flushAndWait() after the hook, perform { } or read { } has returned."
        )
        try stack.root.flushAndWait()
    }

    /// Rolls back, in all contexts, all saves that are not in the store yet. Call this function, for example, if saves
    /// with `waitFor: .main` can never be written.
    ///
    /// ```swift
    /// await container.discardPending()
    /// ```
    ///
    /// When the call returns, objects, fetches and lists of the main context show the rows of the store, unless the context is
    /// pinned.
    ///
    /// - Returns: The number of saves that were rolled back.
    @discardableResult
    public func discardPending() async -> Int {
        let discarded = await stack.root.discardPending()
        await stack.mainNotifier.mergeNow()
        return discarded
    }

    /// Empties the store while the app runs, for example at a logout.
    ///
    /// ```swift
    /// try await container.reset()
    /// ```
    ///
    /// With ``ResetPolicy/backup(keep:)``, the old store is kept as a backup, as in a reset at a start. With every other
    /// policy, the store is dropped together with the backups that ``ResetPolicy/standard`` made.
    ///
    /// Data sources and contexts continue with the new store. When the call returns, objects of the old store count as
    /// deleted, and lists show the new store. Saves that were not in the store yet are lost. Calls that wait for such a
    /// save, and calls that run during the reset, throw `storeReset`. If the call of a lost save has already returned,
    /// ``failures`` reports the loss.
    ///
    /// - Returns: The number of dropped objects, and the location of the backup.
    /// - Throws: Errors of the store. If the call throws, it changes no row.
    @discardableResult
    public func reset() async throws -> StoreStartup {
        let startup = try await stack.root.reset()
        await stack.mainNotifier.mergeNow()
        return startup
    }

    /// Waits for earlier calls, writes pending saves, and closes the store. Later calls throw `storeClosed`; objects that the
    /// app retains stay readable.
    ///
    /// ```swift
    /// try await container.close()
    /// ```
    ///
    /// A list that must read the store to show the last save does not show this save. Lists end when the main actor is free:
    /// ``ListUpdates`` finish, and other lists report ``ListReason/Kind/closed``. The call does not wait for the lists.
    ///
    /// - Throws: Errors of the store. The store is closed even if the call throws.
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

/// Reading off the main actor, in parallel with all writers.
extension PersistentContainer {
    /// Runs the body on a consistent snapshot of all rows, and returns the result of the body.
    ///
    /// ```swift
    /// let (names, count) = try await container.read { context in
    ///     (
    ///         try context.values(ObjectRequest<ContactEntity>(), \.name),
    ///         try context.count(GroupEntity.self)
    ///     )
    /// }
    /// ```
    ///
    /// The snapshot includes all earlier saves, even saves that are not in the store yet. The body does not wait for writers,
    /// and writers do not wait for the body. During a long body, the write-ahead log grows, and ``failures`` reports its
    /// growth.
    ///
    /// **Isolation**: none. The body runs on a queue of the container. At most 6 bodies run at the same time. Further calls
    /// wait in the order of the calls, without blocking a thread.
    ///
    /// - Parameter body: The reads. The body returns values; objects cannot leave the body.
    /// - Throws: Any error that the body throws; errors of the store; `CancellationError` if the task is canceled while the
    ///   call waits or while a query runs.
    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        try await onReadQueue { try stack.read(body) }
    }

    /// Runs the body on a queue for reads. The body takes a snapshot of its own if it needs one.
    ///
    /// - Throws: The errors of the body; `CancellationError` if the task is canceled while the call waits; `storeClosed`.
    func onReadQueue<Result: Sendable>(_ body: @Sendable () throws -> Result) async throws -> Result {
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        return try await reader.run(body).get()
    }
}

/// The model and the container of a context.
extension ManagedObjectContext {
    /// The model of the container.
    ///
    /// **Isolation**: the isolation of the context. The model is a value and can be sent anywhere.
    public var model: ManagedObjectModel { stack.layout.model }

    /// The container of the context; nil after the container is released.
    ///
    /// A context does not keep its container alive.
    ///
    /// **Isolation**: the isolation of the context. The container can be sent anywhere.
    public var container: PersistentContainer? { stack.container }
}
