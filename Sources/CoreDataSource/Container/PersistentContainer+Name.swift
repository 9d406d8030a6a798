public import Foundation
public import ManagedModel
internal import RowStore
internal import SQLiteStore

/// Containers that go by a name, as those of `NSPersistentContainer` do.
extension PersistentContainer {
    /// Opens the store of that name, or makes it: `<directory>/<name>.sqlite`.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(name: "Contacts", model: .contacts)
    /// ```
    ///
    /// There is no registry of models, so you pass the model. If it is not compiled into the app, the product `ModelReader`
    /// finds it by its name: `try ModelReader.read(named: "Contacts").model`.
    ///
    /// The directory, and those above it, are made if they are missing, with the permissions `0o700`, unless the store is
    /// only read.
    ///
    /// **Isolation**: as ``init(model:store:databaseKey:configuration:)``.
    ///
    /// - Parameters:
    ///   - name: A file name without an extension; most often that of the model.
    ///   - model: The model; most often the value that `ModelPlugin` generates, such as `.contacts`.
    ///   - directory: Where the store is; nil for ``Configuration/defaultDirectory``.
    ///   - databaseKey: The app's own label for the contents, in clear; empty by default. Change it to have the store reset.
    ///   - configuration: How the container treats the store; each setting has its own default.
    /// - Throws: `notAFile` for a name that cannot be a file name; as ``init(model:store:databaseKey:configuration:)``. Then
    ///   no file has changed.
    @concurrent
    public convenience init(
        name: String, model: ManagedObjectModel, directory: URL? = nil, databaseKey: String = "",
        configuration: Configuration = Configuration()
    ) async throws {
        guard !name.isEmpty, !name.hasPrefix("."), !name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\0" })
        else {
            throw DataSourceError(
                .notAFile,
                "\"\(name)\" cannot be the name of a container, because it is not a usual file name. Choose a name that is not empty, does not begin with a dot, and has no slash."
            )
        }
        let directory = directory ?? Configuration.defaultDirectory
        if !configuration.isReadOnly { try StoreFolder.make(directory) }
        try await self.init(
            model: model, store: .sqlite(directory.appending(component: "\(name).sqlite")), databaseKey: databaseKey,
            configuration: configuration)
    }
}

extension PersistentContainer.Configuration {
    /// The directory of stores that are opened by name.
    ///
    /// On Apple's systems it is a folder in the user's Application Support. Elsewhere it is one in `$XDG_DATA_HOME`, or in
    /// `~/.local/share` if that is not set or not absolute. The folder has the bundle identifier of the app as its name, or
    /// the program's file name if there is none. It need not exist.
    public static var defaultDirectory: URL {
        let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        #if canImport(Darwin)
        return URL.applicationSupportDirectory.appending(component: app, directoryHint: .isDirectory)
        #else
        return dataDirectory(ProcessInfo.processInfo.environment, home: URL.homeDirectory)
            .appending(component: app, directoryHint: .isDirectory)
        #endif
    }

    /// Where programs keep the data of a user, by the rules of XDG.
    package static func dataDirectory(_ environment: [String: String], home: URL) -> URL {
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}
