/// One of several stores of an app: its name, its entities, where it is, and how it is treated.
public struct StoreDescription: Sendable {
    /// The app's name for the store. It is not part of the file.
    public var name: String
    /// Where its rows are.
    public var location: StoreLocation
    /// The configuration of the model whose entities it has; nil for all entities.
    public var modelConfiguration: String?
    /// The app's own label for its contents, in clear text. If the store has another one, it is reset, and no other. Nil for whatever
    /// it has.
    public var databaseKey: String?
    /// How the container treats it.
    public var configuration: PersistentContainer.Configuration

    /// Describes a store; without a configuration of the model it has all entities.
    ///
    /// - Parameters:
    ///   - name: The app's name for the store.
    ///   - location: Where its rows are.
    ///   - modelConfiguration: The configuration of the model whose entities it has; nil, the default, for all entities.
    ///   - databaseKey: The app's own label for its contents, in clear text; nil, the default, for whatever the store has.
    ///   - configuration: How the container treats the store; each setting has its own default.
    public init(
        name: String, location: StoreLocation, modelConfiguration: String? = nil, databaseKey: String? = nil,
        configuration: PersistentContainer.Configuration = PersistentContainer.Configuration()
    ) {
        self.name = name
        self.location = location
        self.modelConfiguration = modelConfiguration
        self.databaseKey = databaseKey
        self.configuration = configuration
    }
}

/// The result of opening several stores at once.
public struct OpenedStores: Sendable {
    /// The containers of the stores that were opened, by the names of their descriptions.
    public let containers: [String: PersistentContainer]
    /// The errors of the other stores, by the names of their descriptions.
    public let errors: [String: any Error]

    /// The container of that store.
    ///
    /// - Parameter name: The name of one of the descriptions. Any other name is a programmer error and traps.
    /// - Throws: Why the store could not be opened.
    public func container(named name: String) throws -> PersistentContainer {
        if let container = containers[name] { return container }
        guard let error = errors[name] else {
            preconditionFailure("No store description is named \(name). Use the name of one that was opened.")
        }
        throw error
    }

    /// Closes every store that is open.
    ///
    /// - Throws: The first error, in the order of the names. All stores are closed all the same.
    public func close() async throws {
        var failure: (any Error)?
        for (_, container) in containers.sorted(by: { $0.key < $1.key }) {
            do { try await container.close() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
