public import ManagedModel
internal import ModelMigration
internal import RowStore

/// Checks the arguments before anything is read, and then opens the store.
struct ContainerOpening: Sendable {
    typealias Opened = (store: any PersistentStore, startup: StoreStartup)

    let layout: ModelLayout
    private(set) var configuration: PersistentContainer.Configuration
    private let location: StoreLocation
    private let identity: StoreIdentity

    /// - Throws: `unreadableModel`.
    init(
        _ model: ManagedObjectModel, store location: StoreLocation, databaseKey: String?,
        configuration: PersistentContainer.Configuration
    ) throws(DataSourceError) {
        do { try model.validate() } catch {
            throw DataSourceError(
                .unreadableModel, "The model \(model.name) cannot be used. \(error.message)",
                entityName: error.entityName)
        }
        try model.checkClasses()
        layout = ModelLayout(model) { entity in
            (model.classes[entity.name] as? ManagedObject.Type)?.initialRow(entity)
        }
        self.location = location
        self.configuration = configuration
        identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: databaseKey, entityKeys: configuration.databaseKeys.entityKeys(layout),
            entityNames: EntityNames(of: model))
    }

    /// Opens the store on the calling thread.
    func run() throws -> Opened {
        try location.open(layout, identity, configuration)
    }

    /// Opens the store on a thread that may be the main thread.
    ///
    /// - Throws: `openingWouldBlock`, and errors of ``run()``.
    fileprivate func runAndWait() throws -> Opened {
        precondition(
            !QueueExecutor.isAnyCurrent,
            "openAndWait was called inside a private context or container.read, and could wait for itself. Open the container outside of both."
        )
        if let host = location.blockingStoreName {
            throw DataSourceError(
                .openingWouldBlock,
                "\(host) cannot be opened while this thread waits, because the answer may come late or never. Use try await PersistentContainer(model:store:databaseKey:configuration:)."
            )
        }
        var opening = self
        opening.configuration.mayMigrate = !MainQueue.isCurrent
        return try opening.run()
    }
}

/// Opening a store while the calling thread waits, for `didFinishLaunching` and for tools without an event loop.
extension PersistentContainer {
    /// Opens or creates the store, and blocks the thread until the store is open.
    ///
    /// ```swift
    /// let container = try PersistentContainer.openAndWait(
    ///     model: .contacts, store: .sqlite(url))
    /// ```
    ///
    /// On the main thread, the call starts no long work: it throws for a custom store, and for a store that must be migrated or
    /// upgraded. If another container of this process is closing the store, or if another process is opening a shared store,
    /// the call waits for at most 10 seconds. In `async` code, use ``init(model:store:databaseKey:configuration:)``.
    ///
    /// **Isolation**: none.
    ///
    /// - Precondition: The caller is not in a hook, in `perform { }` or in `container.read { }`.
    /// - Parameters:
    ///   - model: The model, usually the value that `ModelPlugin` generates, such as `.contacts`.
    ///   - location: The location of the rows.
    ///   - databaseKey: The app's own label for the contents, stored in clear text. If the store has a different label, the
    ///     store is reset. Nil, the default, keeps the label of the store.
    ///   - configuration: The settings of the container.
    /// - Throws: `openingWouldBlock` for a store on a server; on the main thread, also for a custom store, and for a store that
    ///   must be migrated or upgraded. Otherwise the errors of ``init(model:store:databaseKey:configuration:)``. See there for
    ///   the state of the store after an error.
    public static func openAndWait(
        model: ManagedObjectModel, store location: StoreLocation, databaseKey: String? = nil,
        configuration: Configuration = Configuration()
    ) throws -> PersistentContainer {
        let opening = try ContainerOpening(
            model, store: location, databaseKey: databaseKey, configuration: configuration)
        return PersistentContainer(opening, try opening.runAndWait())
    }

    /// Opens or creates the store with the given name, and blocks the thread until the store is open.
    ///
    /// ```swift
    /// let container = try PersistentContainer.openAndWait(name: "Contacts")
    /// ```
    ///
    /// **Isolation**: none.
    ///
    /// - Precondition: The caller is not in a hook, in `perform { }` or in `container.read { }`.
    /// - Parameters:
    ///   - name: A file name without an extension, usually the name of the model.
    ///   - model: The model; by default, the model with the same name.
    ///   - databaseKey: The app's own label for the contents, stored in clear text. If the store has a different label, the
    ///     store is reset. Nil, the default, keeps the label of the store.
    ///   - configuration: The settings of the container, including the directory of the store.
    ///   - fileID: Identifies the module that contains the model. Leave this argument out.
    /// - Throws: The errors of ``openAndWait(model:store:databaseKey:configuration:)``, and the errors of
    ///   ``init(name:model:databaseKey:configuration:fileID:)``.
    public static func openAndWait(
        name: String, model: ManagedObjectModel? = nil, databaseKey: String? = nil,
        configuration: Configuration = Configuration(), fileID: String = #fileID
    ) throws -> PersistentContainer {
        let named = try NamedStore(name, model, configuration, fileID: fileID)
        return try openAndWait(
            model: named.model, store: named.location, databaseKey: databaseKey, configuration: configuration)
    }
}
