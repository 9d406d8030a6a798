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
    /// There is no registry of models: the one to use is given. Where it is not compiled into the app, the product
    /// `ModelReader` finds one by its name, `try ModelReader.read(named: "Contacts").model`.
    ///
    /// The directory, and those above it, are made if they are missing, with the permissions `0o700`, unless the store is
    /// only read.
    ///
    /// **Isolation**: as ``init(model:store:databaseKey:configuration:)``.
    ///
    /// - Parameters:
    ///   - name: A file name without an extension; most often that of the model.
    ///   - directory: Where the store is; nil for ``Configuration/defaultDirectory``.
    /// - Throws: `notAFile` for a name that is none of a file; as ``init(model:store:databaseKey:configuration:)``. Then no
    ///   file has changed.
    @concurrent
    public convenience init(
        name: String, model: ManagedObjectModel, directory: URL? = nil, databaseKey: String = "",
        configuration: Configuration = Configuration()
    ) async throws {
        guard !name.isEmpty, !name.hasPrefix("."), !name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\0" })
        else {
            throw DataSourceError(
                .notAFile,
                "\"\(name)\" cannot name a container, for its store would have no usual file name. Choose one that is not empty, does not begin with a dot, and has no slash."
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
    /// Where a container that goes by a name has its store.
    ///
    /// On Apple's systems it is a folder in the user's Application Support. Elsewhere it is one in `$XDG_DATA_HOME`, or in
    /// `~/.local/share` if that is not set or not absolute. The folder is called as the app: by its bundle identifier, or by
    /// the program's file name if it has none. It may be missing.
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
