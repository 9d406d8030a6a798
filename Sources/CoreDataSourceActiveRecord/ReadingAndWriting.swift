public import CoreDataSource
public import ManagedModel

/// The query side of the pattern CQRS (command query responsibility segregation). Code that gets only this type cannot change a
/// store. In the module `CoreDataSourceActiveRecord`.
///
/// ```swift
/// @MainActor func report(on contacts: some PersistenceReading) throws {
///     try contacts.readSync { main in print(try ContactEntity.count(in: main)) }
/// }
/// ```
///
/// ``PersistentContainer`` and ``PersistenceService`` can also write. ``ReadOnlyContainer`` can only read.
public protocol PersistenceReading {
    /// The context that the user interface reads. In the module `CoreDataSourceActiveRecord`.
    @MainActor var main: MainContext { get }

    /// Runs the body off the main actor on one consistent state of the store, and returns the result of the body. See
    /// ``PersistentContainer/read(_:)``. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// let count = try await container.read { context in
    ///     try ContactEntity.count(in: context)
    /// }
    /// ```
    ///
    /// - Parameter body: Reads objects, and returns values. Objects cannot leave the body.
    /// - Throws: Any error that `body` throws, the errors of the store, and `CancellationError`.
    func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result
}

extension PersistenceReading {
    /// Runs the closure with the main context at once. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try container.readSync { main in print(try ContactEntity.count(in: main)) }
    /// ```
    ///
    /// **Isolation**: the main actor.
    ///
    /// - Parameter work: Reads from the main context.
    /// - Throws: Any error that `work` throws.
    @MainActor
    @discardableResult
    public func readSync(_ work: (MainContext) throws -> Void) rethrows -> Self {
        try work(main)
        return self
    }
}

/// The command side of the pattern CQRS. A type that conforms to this protocol can also read.
/// In the module `CoreDataSourceActiveRecord`.
///
/// ```swift
/// @MainActor func add(
///     _ uid: String, to store: some PersistenceWriting,
///     _ contacts: ContactDataSource
/// ) throws {
///     try store.writeSync(in: contacts) { context in
///         try ContactEntity.create(in: context).uid = uid
///     }
/// }
/// ```
///
/// Each write names the data source whose entities it changes.
public protocol PersistenceWriting: PersistenceReading {
    /// Runs the work in the private context of the data source, and blocks until the written rows are in the store.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try container.writeSync(in: contacts) { context in
    ///     try ContactEntity.create(in: context).uid = "1"
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: A data source of the container.
    ///   - work: Runs once, on the queue of the data source's private context. All its edits are written in one save.
    /// - Throws: Any error that `work` throws, and the errors of ``EntityDataSource/performAndWait(_:)``. If the call throws,
    ///   it changes nothing.
    @MainActor
    @discardableResult
    func writeSync(in source: EntityDataSource, _ work: @Sendable (PrivateContext) throws -> Void) throws -> Self

    /// Returns at once, and runs the work in the private context of the data source after the work of all earlier calls.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// service.writeAsync(in: contacts) { context in
    ///     try ContactEntity.removeAll(in: context)
    /// } callback: { outcome in
    ///     if case .failure(let error) = outcome { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: A data source of the container.
    ///   - work: Runs once, on the queue of the data source's private context. All its edits are written in one save.
    ///   - callback: Called on the main actor with the outcome; nil to report a failure to ``PersistentContainer/failures``.
    @MainActor
    @discardableResult
    func writeAsync(
        in source: EntityDataSource, _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)?
    ) -> Self
}

extension PersistentContainer: PersistenceWriting {}

extension PersistenceService: @MainActor PersistenceWriting {
    public var main: MainContext { container.main }

    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        try await container.read(body)
    }

    @discardableResult
    public func writeSync(
        in source: EntityDataSource, _ work: @Sendable (PrivateContext) throws -> Void
    ) throws -> Self {
        try container(of: source).writeSync(in: source, work)
        return self
    }

    @discardableResult
    public func writeAsync(
        in source: EntityDataSource, _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)? = nil
    ) -> Self {
        container(of: source).writeAsync(in: source, work, callback: callback)
        return self
    }
}

/// A container that only reads. In the module `CoreDataSourceActiveRecord`.
///
/// ```swift
/// let archive = try await ReadOnlyContainer(model: .contacts, store: .sqlite(url))
/// let names = try await archive.read { context in
///     try context.values(ObjectRequest<ContactEntity>(), \.name)
/// }
/// ```
///
/// ``PersistentContainer/Configuration/isReadOnly`` explains which other containers can have the store open.
public final class ReadOnlyContainer: PersistenceReading, Sendable {
    private let container: PersistentContainer

    /// Opens an existing store.
    ///
    /// ```swift
    /// let archive = try await ReadOnlyContainer(model: .contacts, store: .sqlite(url))
    /// ```
    ///
    /// - Parameters:
    ///   - model: The model that the store was made for.
    ///   - location: The location of the rows.
    ///   - databaseKey: The label that the store must have. By default (nil), any label is accepted.
    ///   - configuration: The settings of the container. The initializer sets `isReadOnly`.
    /// - Throws: The errors of ``PersistentContainer/init(model:store:databaseKey:configuration:)``.
    public init(
        model: ManagedObjectModel, store location: StoreLocation, databaseKey: String? = nil,
        configuration: PersistentContainer.Configuration = PersistentContainer.Configuration()
    ) async throws {
        var configuration = configuration
        configuration.isReadOnly = true
        container = try await PersistentContainer(
            model: model, store: location, databaseKey: databaseKey, configuration: configuration)
    }

    /// The context that the user interface reads.
    @MainActor public var main: MainContext { container.main }

    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        try await container.read(body)
    }

    /// Closes the store.
    ///
    /// ```swift
    /// try await archive.close()
    /// ```
    ///
    /// - Throws: The errors of ``PersistentContainer/close()``. The store is closed even if the call throws.
    public func close() async throws { try await container.close() }
}
