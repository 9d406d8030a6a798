public import CoreDataSource
public import Foundation
internal import RowStore

/// A base class that opens the stores of an app. It replaces the `DALService` of the library Skopelos, or a subclass of
/// `NSPersistentContainer`. In the module `CoreDataSourceActiveRecord`.
///
/// ```swift
/// final class Persistence: PersistenceService {
///     static let shared = Persistence(name: "Contacts")
///
///     override func handleError(_ failure: StoreFailure) { print(failure) }
/// }
///
/// try Persistence.shared.loadAndWait()
/// try Persistence.shared
///     .writeSync(in: contacts) { context in
///         try ContactEntity.create(in: context).uid = "1"
///     }
///     .readSync { main in print(try ContactEntity.count(in: main)) }
/// ```
///
/// The initializer opens no store. ``load()`` and ``loadAndWait()`` open the stores of the ``descriptions``.
///
/// To customize the service, make a subclass. ``PersistentContainer`` cannot have subclasses, because it is `Sendable`.
///
/// **Isolation**: the main actor.
@MainActor
open class PersistenceService {
    /// The stores that ``load()`` opens. The first is the store of ``container``. A change while the service is loaded
    /// has an effect only after ``close()``, at the next load.
    ///
    /// By default, there is one SQLite file in ``defaultDirectory``, with the name of the service.
    public var descriptions: [StoreDescription]

    private let name: String
    private let givenModel: ManagedObjectModel?
    private let fileID: String
    private let defaultFile: URL
    private var stores: [String: PersistentContainer] = [:]
    private var storeNames: [String] = []
    /// The running call of ``load()``. Other calls wait for this task.
    private var loading: Task<Void, any Error>?
    /// The running call of ``close()``. Other calls wait for this task.
    private var closing: Task<Void, any Error>?

    /// The directory of the stores of this class.
    ///
    /// The default is ``PersistentContainer/Configuration/defaultDirectory``.
    open class var defaultDirectory: URL { PersistentContainer.Configuration.defaultDirectory }

    /// Makes a service with the description of one store. Does not open the store.
    ///
    /// ```swift
    /// let service = PersistenceService(name: "Contacts")
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the store, and of its file without the extension. Usually the name of the model.
    ///   - model: The model. By default, the model with the same name that `ModelPlugin` compiled into the calling module.
    ///   - location: The location of the rows. By default (nil), an SQLite file in ``defaultDirectory``. Use `.inMemory` in
    ///     tests.
    ///   - fileID: Identifies the module that contains the model. Do not pass this argument.
    public init(
        name: String, model: ManagedObjectModel? = nil, store location: StoreLocation? = nil, fileID: String = #fileID
    ) {
        self.name = name
        givenModel = model
        self.fileID = fileID
        defaultFile = type(of: self).defaultDirectory.appending(component: "\(name).sqlite")
        descriptions = [StoreDescription(name: name, location: location ?? .sqlite(defaultFile))]
    }

    /// Handles failures that no call can throw. Called for the failures of all stores of the service, until the stores are
    /// closed.
    ///
    /// ```swift
    /// override func handleError(_ failure: StoreFailure) { print(failure) }
    /// ```
    ///
    /// The default does nothing.
    open func handleError(_ failure: StoreFailure) {}

    // MARK: Loading

    /// Whether the stores are open.
    public var isLoaded: Bool { !storeNames.isEmpty }

    /// Opens the stores of the ``descriptions``. Makes missing stores, and the ``defaultDirectory`` if the default
    /// store needs it. Does nothing if the service is loaded.
    ///
    /// ```swift
    /// try await service.load()
    /// ```
    ///
    /// - Precondition: There is at least one description, and no two descriptions have the same name.
    /// - Throws: The errors of ``PersistentContainer/init(name:model:databaseKey:configuration:fileID:)`` and
    ///   ``PersistentContainer/open(_:model:)``, for the first description whose store cannot be opened. Before the call throws,
    ///   it closes the other stores.
    public func load() async throws {
        try? await closing?.value
        if isLoaded { return }
        if let loading { return try await loading.value }
        precondition(!descriptions.isEmpty, PersistenceService.nothingDescribed)
        let task = Task { try await open() }
        loading = task
        defer { loading = nil }
        try await task.value
    }

    private func open() async throws {
        let descriptions = descriptions
        let opened = await PersistentContainer.open(descriptions, model: try prepare())
        let error = descriptions.lazy.compactMap { opened.errors[$0.name] }.first
        // A call of loadAndWait might have loaded the service in the meantime.
        guard error == nil, !isLoaded else {
            for container in opened.containers.values { try? await container.close() }
            if let error, !isLoaded { throw error }
            return
        }
        keep(opened.containers, in: descriptions.map(\.name))
    }

    /// Opens the stores of the ``descriptions``, makes missing stores, and blocks the main thread until all stores are
    /// open. Does nothing if the service is loaded.
    ///
    /// ```swift
    /// try service.loadAndWait()
    /// ```
    ///
    /// - Precondition: There is at least one description, and no two descriptions have the same name.
    /// - Throws: `openingWouldBlock` for a store on a server, for a custom store, and for a store that must be migrated
    ///   or upgraded; the errors of ``load()``. After an error, the stores that were already opened are closed soon, in
    ///   the background.
    public func loadAndWait() throws {
        guard !isLoaded else { return }
        precondition(!descriptions.isEmpty, PersistenceService.nothingDescribed)
        keep(
            try PersistentContainer.openAndWait(descriptions, model: try prepare()), in: descriptions.map(\.name))
    }

    private static var nothingDescribed: String {
        "\(self) was loaded without a description, so there is no store to open. Add a StoreDescription to descriptions."
    }

    /// Closes all stores with ``PersistentContainer/close()``. The service can be loaded again afterwards. If ``load()`` is
    /// running, the call first waits until ``load()`` has ended.
    ///
    /// ```swift
    /// try await service.close()
    /// ```
    ///
    /// - Throws: The first error from closing a store. All stores are closed even if the call throws.
    public func close() async throws {
        if let closing { return try await closing.value }
        let task = Task { try await closeStores() }
        closing = task
        defer { closing = nil }
        try await task.value
    }

    private func closeStores() async throws {
        try? await loading?.value
        let containers = storeNames.compactMap { stores[$0] }
        (stores, storeNames) = ([:], [])
        var failure: (any Error)?
        for container in containers {
            do { try await container.close() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Makes the default directory if a store needs it, and returns the model.
    private func prepare() throws -> ManagedObjectModel {
        if descriptions.contains(where: { $0.location == .sqlite(defaultFile) && !$0.configuration.isReadOnly }) {
            try PersistentContainer.makeDirectory(type(of: self).defaultDirectory)
        }
        return try givenModel ?? ManagedObjectModel.compiled(named: name, intoModuleOf: fileID)
    }

    private func keep(_ containers: [String: PersistentContainer], in names: [String]) {
        (stores, storeNames) = (containers, names)
        for container in containers.values {
            let failures = container.failures
            Task { [weak self] in
                for await failure in failures { self?.handleError(failure) }
            }
        }
    }

    // MARK: Use

    /// The container of the first description.
    ///
    /// - Precondition: The service is loaded.
    public var container: PersistentContainer {
        guard let first = storeNames.first, let container = stores[first] else {
            preconditionFailure(
                "\(type(of: self)).container was used before the service was loaded. Call load() or loadAndWait() when the app starts, and handle the thrown error."
            )
        }
        return container
    }

    /// Returns the container of the description with this name; nil if there is no such description or the service is not
    /// loaded.
    ///
    /// ```swift
    /// let cache = service.container(named: "cache")
    /// ```
    public func container(named name: String) -> PersistentContainer? { stores[name] }

    /// Returns the data source of a class, from the container whose store has the entities of the data source.
    ///
    /// ```swift
    /// let contacts = try service.dataSource(ContactDataSource.self)
    /// ```
    ///
    /// - Throws: The errors of ``PersistentContainer/dataSource(_:)``.
    public func dataSource<Source: EntityDataSource>(_ type: Source.Type) throws -> Source {
        let owner = firstContainer { container in
            type.entities.allSatisfy { entity in container.main.model.entity(named: entity.entityName) != nil }
        }
        return try (owner ?? container).dataSource(type)
    }

    /// Returns the container that owns the data source. If there is none, returns the first container. Passing the data
    /// source to the first container then traps.
    func container(of source: EntityDataSource) -> PersistentContainer {
        firstContainer { $0.owns(source) } ?? container
    }

    private func firstContainer(where isWanted: (PersistentContainer) -> Bool) -> PersistentContainer? {
        storeNames.lazy.compactMap { self.stores[$0] }.first(where: isWanted)
    }
}
