/// One of several stores of an app: its name, its entities, where it is, and how it is treated.
///
/// ```swift
/// let description = StoreDescription(name: "contacts", location: .sqlite(url), databaseKey: userID)
/// let stores = await PersistentContainer.open([description], model: .contacts)
/// let container = try stores.container(named: "contacts")
/// ```
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
