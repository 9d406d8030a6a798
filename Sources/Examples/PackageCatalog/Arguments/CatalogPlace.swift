internal import CommandLineWords
internal import CoreDataSource
internal import Foundation

/// Where the catalog is.
enum CatalogPlace: Equatable {
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
        throw UsageError("This program was built without server support. Build it with --traits PostgreSQL")
        #endif
    }

    /// A store of the library. On a server, all users share the store with that name.
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
