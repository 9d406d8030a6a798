public import CoreDataSource
public import ManagedModel

/// Reading alone: the query side of CQRS. Code that gets this type cannot change a store.
///
/// ```swift
/// func report(on contacts: some PersistenceReading) throws {
///     try contacts.readSync { main in print(try ContactEntity.count(in: main)) }
/// }
/// ```
///
/// ``PersistentContainer`` and ``PersistenceService`` read and write; a ``ReadOnlyContainer`` reads.
public protocol PersistenceReading {
    /// The context that the user interface reads.
    @MainActor var main: MainContext { get }

    /// Reads one state of all rows off the main actor, and returns the result of the body: ``PersistentContainer/read(_:)``.
    ///
    /// - Parameter body: It reads, and returns values. Objects cannot leave it.
    /// - Throws: What the body throws, what the store throws, and `CancellationError`.
    func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result
}

extension PersistenceReading {
    /// Reads what main shows, at once.
    ///
    /// ```swift
    /// container.readSync { main in print(try ContactEntity.count(in: main)) }
    /// ```
    ///
    /// **Isolation**: the main actor.
    ///
    /// - Parameter work: It gets the context of the user interface.
    /// - Throws: What the work throws.
    @MainActor
    @discardableResult
    public func readSync(_ work: (MainContext) throws -> Void) rethrows -> Self {
        try work(main)
        return self
    }
}

/// Writing as well: the command side of CQRS.
///
/// Each write names the data source whose entities it changes.
public protocol PersistenceWriting: PersistenceReading {
    /// Blocks until the work has run in the private context of the data source and its rows are in the store.
    ///
    /// - Parameters:
    ///   - source: A data source of the container.
    ///   - work: It runs once, on the queue of the data source's private context. Its edits are one save.
    /// - Throws: What the work throws; otherwise what ``EntityDataSource/performAndWait(_:)`` throws. If the call throws, it
    ///   changes nothing.
    @MainActor
    @discardableResult
    func writeSync(in source: EntityDataSource, _ work: @Sendable (PrivateContext) throws -> Void) throws -> Self

    /// Runs the work in the private context of the data source, after all earlier calls, and returns at once.
    ///
    /// - Parameters:
    ///   - source: A data source of the container.
    ///   - work: It runs once, on the queue of the data source's private context. Its edits are one save.
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

/// A container that was opened for reading only: its type has no call that writes.
///
/// ```swift
/// let archive = try await ReadOnlyContainer(model: .contacts, store: .sqlite(url))
/// let names = try await archive.read { context in try context.values(ObjectRequest<ContactEntity>(), \.name) }
/// ```
///
/// ``PersistentContainer/Configuration/isReadOnly`` says what may be open beside it.
public final class ReadOnlyContainer: PersistenceReading, Sendable {
    private let container: PersistentContainer

    /// Opens a store that exists.
    ///
    /// - Parameters:
    ///   - model: The model that the store was made for.
    ///   - location: Where the rows are.
    ///   - databaseKey: The label that the store must have; nil, the default, for any.
    ///   - configuration: How the container treats the store. `isReadOnly` is set.
    /// - Throws: What ``PersistentContainer/init(model:store:databaseKey:configuration:)`` throws.
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
    /// - Throws: What ``PersistentContainer/close()`` throws; the store is closed all the same.
    public func close() async throws { try await container.close() }
}
