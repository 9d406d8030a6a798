internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelMigration
internal import RowStore
internal import SQLiteStore

#if PostgreSQL
internal import PostgreSQLStore
#endif

/// The place of a store that is named on the command line.
enum StorePlace {
    case file(URL)
    #if PostgreSQL
    case server(connection: String, name: String)
    #endif

    /// - Parameters:
    ///   - text: A path, or the address of a server.
    ///   - name: The store's name in a database.
    init(_ text: String, name: String?) throws {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            if name != nil { throw UsageError("--name is for a store on a server") }
            self = .file(URL(filePath: text))
            return
        }
        #if PostgreSQL
        guard let name else { throw UsageError("--name is missing") }
        self = .server(connection: text, name: name)
        #else
        throw UsageError("this program was built without server support; build it with --traits PostgreSQL")
        #endif
    }

    /// Does not show a password.
    var title: String {
        switch self {
        case .file(let url): return url.path
        #if PostgreSQL
        case .server(_, let name): return "PostgreSQL store \(name)"
        #endif
        }
    }

    var isFile: Bool { if case .file = self { true } else { false } }

    /// A store that the app opens with that model and database key.
    func store(_ model: ManagedObjectModel, databaseKey: String?) -> any TargetStore {
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: databaseKey, entityNames: EntityNames(of: model))
        switch self {
        case .file(let url):
            return FileStore(
                options: SQLiteStore.Options(url: url, layout: ModelLayout(model), identity: identity))
        #if PostgreSQL
        case .server(let connection, let name):
            return ServerStore(
                options: PostgreSQLStore.Options(
                    connection: connection, name: name, layout: ModelLayout(model), identity: identity))
        #endif
        }
    }

    /// - Parameter models: Models to try if the store has no copy of its own.
    func inspector(_ models: [ManagedObjectModel]) throws -> any StoreInspector {
        switch self {
        case .file(let url): return try SQLiteInspector(url, models: models)
        #if PostgreSQL
        case .server(let connection, let name):
            return PostgreSQLInspector(connection, name: name, models: models)
        #endif
        }
    }

    /// The processes that have the store open; nil if the list of members shows them.
    func occupants() throws -> StoreOccupants? {
        switch self {
        case .file(let url): return try SQLiteStore.occupants(url)
        #if PostgreSQL
        case .server: return nil
        #endif
        }
    }
}
