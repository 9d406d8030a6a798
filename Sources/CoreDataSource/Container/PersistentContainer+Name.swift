public import Foundation
public import ManagedModel
internal import RowStore
internal import SQLiteStore

/// Containers that are opened by name, as with `NSPersistentContainer`.
extension PersistentContainer {
    /// Opens or creates the store with the given name: the file `<directory>/<name>.sqlite`.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(name: "Contacts")
    /// ```
    ///
    /// Without a directory in the configuration, the file is in ``Configuration/defaultDirectory``: on Linux
    /// `~/.local/share/<program>/Contacts.sqlite`, on Apple platforms in the app's folder of Application Support. ``storeURL``
    /// is the file:
    ///
    /// ```swift
    /// print(container.storeURL?.path ?? "in memory")
    /// ```
    ///
    /// By default, the container uses the model with the same name that `ModelPlugin` compiled into the calling module. To use
    /// a model of another module, pass the model as an argument. To read a model that is not compiled into the app, use the
    /// product `ModelReader`: `try ModelReader.read(named: "Contacts").model`.
    ///
    /// Missing directories on the path are created with the permissions `0o700`. For a read-only store, no directory is
    /// created.
    ///
    /// **Isolation**: the same as for ``init(model:store:databaseKey:configuration:)``.
    ///
    /// - Parameters:
    ///   - name: A file name without an extension, usually the name of the model.
    ///   - model: The model; by default, the model with the same name.
    ///   - databaseKey: The app's own label for the contents, stored in clear text. If the store has a different label, the
    ///     store is reset. Nil, the default, keeps the label of the store.
    ///   - configuration: The settings of the container, including the directory of the store.
    ///   - fileID: Identifies the module that contains the model. Leave this argument out.
    /// - Throws: `notAFile` if the name cannot be a file name; `unreadableModel` if the module has no model with the name;
    ///   otherwise the errors of ``init(model:store:databaseKey:configuration:)``. See there for the state of the store after
    ///   an error.
    @concurrent
    public convenience init(
        name: String, model: ManagedObjectModel? = nil, databaseKey: String? = nil,
        configuration: Configuration = Configuration(), fileID: String = #fileID
    ) async throws {
        let named = try NamedStore(name, model, configuration, fileID: fileID)
        try await self.init(
            model: named.model, store: named.location, databaseKey: databaseKey, configuration: configuration)
    }
}

extension PersistentContainer {
    /// The file of the store, for example for `model-reset inspect`; nil for a store in memory, a store on a server, and a
    /// custom store.
    ///
    /// ```swift
    /// print(container.storeURL?.path ?? "in memory")
    /// ```
    public var storeURL: URL? { (stack.root.store as? SQLiteStore)?.url }

    /// Creates the directory, and the missing directories on its path, with the permissions `0o700`.
    package static func makeDirectory(_ url: URL) throws(DataSourceError) { try StoreFolder.make(url) }
}

/// The model and the location of a store that is opened by name.
struct NamedStore {
    let model: ManagedObjectModel
    let location: StoreLocation

    /// Creates the missing directories on the path of the file. For a read-only store, creates no directory.
    ///
    /// - Throws: `notAFile`, `unreadableModel`, and errors from creating a directory.
    init(
        _ name: String, _ model: ManagedObjectModel?, _ configuration: PersistentContainer.Configuration, fileID: String
    ) throws(DataSourceError) {
        guard !name.isEmpty, !name.hasPrefix("."), !name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\0" })
        else {
            throw DataSourceError(
                .notAFile,
                "A container cannot have the name \"\(name)\", which is not a valid file name. Choose a name that is not empty, does not begin with a dot, and contains no slash."
            )
        }
        self.model = if let model { model } else { try .compiled(named: name, intoModuleOf: fileID) }
        let directory = configuration.directory ?? PersistentContainer.Configuration.defaultDirectory
        if !configuration.isReadOnly { try PersistentContainer.makeDirectory(directory) }
        location = .sqlite(directory.appending(component: "\(name).sqlite"))
    }
}

extension ManagedObjectModel {
    /// Returns the model with the given name that `ModelPlugin` generated for a module.
    ///
    /// - Parameter fileID: The module and a file of the module: `Module/File.swift`.
    package static func compiled(
        named name: String, intoModuleOf fileID: String
    ) throws(DataSourceError) -> ManagedObjectModel {
        let module = fileID.prefix { $0 != "/" }
        let type: AnyClass? = NSClassFromString("\(module).\(generatedClassName(forModelNamed: name))")
        guard let type = type as? any GeneratedModel.Type, type.model.name == name else {
            throw DataSourceError(
                .unreadableModel,
                "The module \(module) has no model \(name). Use ModelPlugin for the target of the module, or pass the model: PersistentContainer(name:model:)."
            )
        }
        return type.model
    }
}

extension PersistentContainer.Configuration {
    /// The default directory of stores that are opened by name.
    ///
    /// On Apple platforms, the directory is a folder in the user's Application Support. On other platforms, the directory is a
    /// folder in `$XDG_DATA_HOME`. If `$XDG_DATA_HOME` is unset or is not an absolute path, the directory is a folder in
    /// `~/.local/share`. The name of the folder is the bundle identifier of the app; without a bundle identifier, it is the
    /// name of the program's file. The folder need not exist.
    public static var defaultDirectory: URL {
        let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        #if canImport(Darwin)
        return URL.applicationSupportDirectory.appending(component: app, directoryHint: .isDirectory)
        #else
        return dataDirectory(ProcessInfo.processInfo.environment, home: URL.homeDirectory)
            .appending(component: app, directoryHint: .isDirectory)
        #endif
    }

    /// Returns the directory for the data of a user, according to the XDG specification.
    package static func dataDirectory(_ environment: [String: String], home: URL) -> URL {
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}

/// One of several stores of an app: its name, entities, location and settings.
///
/// ```swift
/// let description = StoreDescription(
///     name: "contacts", location: .sqlite(url), databaseKey: userID)
/// let stores = await PersistentContainer.open([description], model: .contacts)
/// let container = try stores.container(named: "contacts")
/// ```
public struct StoreDescription: Sendable {
    /// The app's name for the store. The name is not stored in the file.
    public var name: String
    /// The location of the rows.
    public var location: StoreLocation
    /// The model configuration whose entities the store contains; nil for all entities.
    public var modelConfiguration: String?
    /// The app's own label for the contents, stored in clear text. If the store has a different label, only this store is
    /// reset. Nil keeps the label of the store.
    public var databaseKey: String?
    /// The settings of the container.
    public var configuration: PersistentContainer.Configuration

    /// Creates a description of a store.
    ///
    /// ```swift
    /// let description = StoreDescription(
    ///     name: "contacts", location: .sqlite(url), databaseKey: userID)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The app's name for the store.
    ///   - location: The location of the rows.
    ///   - modelConfiguration: The model configuration whose entities the store contains; nil, the default, for all entities.
    ///   - databaseKey: The app's own label for the contents, stored in clear text; nil, the default, keeps the label of the
    ///     store.
    ///   - configuration: The settings of the container.
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
