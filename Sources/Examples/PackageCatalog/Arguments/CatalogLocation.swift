internal import CommandLineWords
internal import CoreDataSource
internal import Foundation

/// The location of the catalog.
enum CatalogLocation: Equatable {
    case memory
    case file(URL, isShared: Bool)
    /// The connection string of a database on a server.
    case server(String)

    /// - Parameter text: The value of `--store`: a path, or the address of a server.
    init(_ text: String?, isShared: Bool) throws {
        guard let text else {
            self = .file(try UserDirectory.storeFile(), isShared: isShared)
            return
        }
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            self = .file(URL(filePath: text), isShared: isShared)
            return
        }
        #if PostgreSQL
        self = .server(text)
        #else
        throw UsageError("This program was built without server support. Build the program with --traits PostgreSQL")
        #endif
    }

    /// The location of the store, as the library needs it. On a server, all users share the same store.
    var location: StoreLocation {
        switch self {
        case .memory: return .inMemory
        case .file(let file, let isShared): return .sqlite(file, sharing: isShared ? .processes : .exclusive)
        case .server(let connection):
            #if PostgreSQL
            return .postgreSQL(connection, name: "packages")
            #else
            return .inMemory
            #endif
        }
    }
}

/// The directory for the data of a user's programs.
enum UserDirectory {
    /// The path of the default store. Creates its folder if the folder is missing.
    static func storeFile() throws -> URL {
        let folder = data.appending(component: "package-catalog", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CatalogError("The folder \(folder.path) cannot be made. \(error.localizedDescription)")
        }
        return folder.appending(component: "packages.sqlite")
    }

    private static var data: URL {
        // By the XDG rules, relative paths are ignored.
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        let home = FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}
