public import CoreDataSource
public import Foundation
internal import RowStore

/// A base class with the container of an app, for code that was written for the `DALService` of Skopelos or for a subclass of
/// `NSPersistentContainer`.
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
/// ``PersistentContainer`` is final and `Sendable`, which an open class cannot be, so a subclass customizes the service.
///
/// **Isolation**: the main actor.
@MainActor
open class PersistenceService {
    /// The stores that ``load()`` opens. The first is the store of ``container``. Changes after loading have no effect.
    ///
    /// By default one SQLite file in ``defaultDirectory``, with the name of the service.
    public var descriptions: [StoreDescription]

    private let name: String
    private let givenModel: ManagedObjectModel?
    private let fileID: String
    private let defaultFile: URL
    private var stores: [String: PersistentContainer] = [:]
    private var order: [String] = []
    /// The running call of ``load()``, for which other calls wait.
    private var loading: Task<Void, any Error>?
    /// The running call of ``close()``, for which other calls wait.
    private var closing: Task<Void, any Error>?

    /// The directory of the stores of this class.
    ///
    /// The default is ``PersistentContainer/Configuration/defaultDirectory``.
    open class var defaultDirectory: URL { PersistentContainer.Configuration.defaultDirectory }

    /// Describes the store without opening it.
    ///
    /// ```swift
    /// let service = PersistenceService(name: "Contacts")
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the store, which is also its file name without an extension. Most often the name of the model.
    ///   - model: The model; by default the model with that name that `ModelPlugin` compiled into the calling module.
    ///   - location: The location of the rows; nil, the default, for an SQLite file in ``defaultDirectory``. Use `.inMemory` in
    ///     tests.
    ///   - fileID: Identifies the module that has the model. Leave it out.
    public init(
        name: String, model: ManagedObjectModel? = nil, store location: StoreLocation? = nil, fileID: String = #fileID
    ) {
        self.name = name
        givenModel = model
        self.fileID = fileID
        defaultFile = type(of: self).defaultDirectory.appending(component: "\(name).sqlite")
        descriptions = [StoreDescription(name: name, location: location ?? .sqlite(defaultFile))]
    }

    /// Handles the failures that no call can throw, of all stores of the service, until the stores are closed.
    ///
    /// ```swift
    /// override func handleError(_ failure: StoreFailure) { print(failure) }
    /// ```
    ///
    /// The default does nothing.
    open func handleError(_ failure: StoreFailure) {}

    // MARK: Loading

    /// Whether the stores are open.
    public var isLoaded: Bool { !order.isEmpty }

    /// Opens or makes the stores of the ``descriptions``, and makes a missing ``defaultDirectory``. Does nothing if the service
    /// is loaded.
    ///
    /// ```swift
    /// try await service.load()
    /// ```
    ///
    /// - Precondition: There is a description, and each has a name of its own.
    /// - Throws: The error of the first description that cannot be opened. The call then closes the other stores. The errors
    ///   are those of ``PersistentContainer/init(name:model:databaseKey:configuration:fileID:)`` and
    ///   ``PersistentContainer/open(_:model:)``.
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
        // A call of loadAndWait may have loaded the service meanwhile.
        guard error == nil, !isLoaded else {
            for container in opened.containers.values { try? await container.close() }
            if let error, !isLoaded { throw error }
            return
        }
        keep(opened.containers, in: descriptions.map(\.name))
    }

    /// Opens or makes the stores of the ``descriptions``, and blocks the main thread until they are open.
    ///
    /// ```swift
    /// try service.loadAndWait()
    /// ```
    ///
    /// - Precondition: There is a description, and each has a name of its own.
    /// - Throws: `openingWouldBlock` for a store on a server, for a custom store, and for a store that must be migrated or
    ///   upgraded; otherwise errors of ``load()``.
    public func loadAndWait() throws {
        guard !isLoaded else { return }
        precondition(!descriptions.isEmpty, PersistenceService.nothingDescribed)
        keep(
            try PersistentContainer.openAndWait(descriptions, model: try prepare()), in: descriptions.map(\.name))
    }

    private static var nothingDescribed: String {
        "\(self) was loaded without a description, so there is no store to open. Add a StoreDescription to descriptions."
    }

    /// Closes the stores, as ``PersistentContainer/close()``. The service can be loaded again. If ``load()`` is
    /// running, the call waits for its end first.
    ///
    /// ```swift
    /// try await service.close()
    /// ```
    ///
    /// - Throws: The first error of a store; all stores are closed even if the call throws.
    public func close() async throws {
        if let closing { return try await closing.value }
        let task = Task { try await closeStores() }
        closing = task
        defer { closing = nil }
        try await task.value
    }

    private func closeStores() async throws {
        try? await loading?.value
        let containers = order.compactMap { stores[$0] }
        (stores, order) = ([:], [])
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
        (stores, order) = (containers, names)
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
        guard let first = order.first, let container = stores[first] else {
            preconditionFailure(
                "\(type(of: self)).container was used before the service was loaded. Call load() or loadAndWait() when the app starts, and handle the thrown error."
            )
        }
        return container
    }

    /// The container of the description with a name; nil if there is no such description, or if the service is not loaded.
    ///
    /// ```swift
    /// let cache = service.container(named: "cache")
    /// ```
    public func container(named name: String) -> PersistentContainer? { stores[name] }

    /// The data source of a class, from the container whose store has its entities.
    ///
    /// ```swift
    /// let contacts = try service.dataSource(ContactDataSource.self)
    /// ```
    ///
    /// - Throws: Errors of ``PersistentContainer/dataSource(_:)``.
    public func dataSource<Source: EntityDataSource>(_ type: Source.Type) throws -> Source {
        let owner = firstContainer { container in
            type.entities.allSatisfy { entity in container.main.model.entity(named: entity.entityName) != nil }
        }
        return try (owner ?? container).dataSource(type)
    }

    /// The container of a data source; that of the first description if it is another one's, which refuses the data source.
    func container(of source: EntityDataSource) -> PersistentContainer {
        firstContainer { $0.owns(source) } ?? container
    }

    private func firstContainer(where isWanted: (PersistentContainer) -> Bool) -> PersistentContainer? {
        order.lazy.compactMap { self.stores[$0] }.first(where: isWanted)
    }
}
