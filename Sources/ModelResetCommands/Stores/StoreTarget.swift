internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelMigration
internal import RowStore
internal import SQLiteStore

#if PostgreSQL
internal import PostgreSQLStore
#endif

/// The location of a store on the command line.
enum StoreTarget {
    case file(URL)
    #if PostgreSQL
    case server(connection: String, name: String)
    #endif

    /// - Parameters:
    ///   - text: A path, or the address of a database on a server.
    ///   - name: The store's name in the database; nil for a file.
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
        throw UsageError("this program was built without server support; build the program with --traits PostgreSQL")
        #endif
    }

    /// The path of the file, or the name of the store on a server.
    var title: String {
        switch self {
        case .file(let url): return url.path
        #if PostgreSQL
        case .server(_, let name): return "PostgreSQL store \(name)"
        #endif
        }
    }

    var isFile: Bool { if case .file = self { true } else { false } }

    /// Returns the store, with the options of an app that has the model and the database key.
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

    /// - Parameter models: Models to try if the store contains no copy of its model.
    func inspector(_ models: [ManagedObjectModel]) throws -> any StoreInspector {
        switch self {
        case .file(let url): return try SQLiteInspector(url, models: models)
        #if PostgreSQL
        case .server(let connection, let name):
            return PostgreSQLInspector(connection, name: name, models: models)
        #endif
        }
    }

    /// Returns the processes that have the store open; nil if the list of members already shows them.
    func occupants() throws -> StoreOccupants? {
        switch self {
        case .file(let url): return try SQLiteStore.occupants(url)
        #if PostgreSQL
        case .server: return nil
        #endif
        }
    }
}

#if PostgreSQL
/// A store in a database on a server.
struct ServerStore: TargetStore {
    let options: PostgreSQLStore.Options
    /// False: by default, an app never deletes rows of other users.
    let isResetByDefault = false

    func keepsBackup(_ reason: StoreStartup.Reason) -> Bool { options.resetPolicy.backupCount(reason) != nil }

    func forecast(countsRows: Bool) throws -> StoreStartup {
        try PostgreSQLStore.forecast(options, countsRows: countsRows).startup
    }

    func migrationForecast() throws -> MigrationForecast? { try PostgreSQLStore.migrationForecast(options) }
    func outlook() throws -> StoreOutlook? { try PostgreSQLStore.outlook(options) }
    func occupants() throws -> StoreOccupants { try PostgreSQLStore.forecast(options).occupants }

    /// With `onlyIfNeeded`, uses the policy `.standard`, the default for a file: if only the model has changed, the old store
    /// is kept as a backup. Without `onlyIfNeeded`, deletes the old store. Ignores `backupFolder`.
    func reset(onlyIfNeeded: Bool, backupFolder: URL?) throws -> StoreStartup {
        var options = options
        options.resetPolicy = onlyIfNeeded ? .standard : .discard
        return try PostgreSQLStore.reset(options, onlyIfNeeded: onlyIfNeeded)
    }
}
#endif

/// A store that a command inspects or resets. The command uses the options with which an app would open the store.
protocol TargetStore {
    /// Whether the default policy resets the store when the model or the key changes.
    var isResetByDefault: Bool { get }
    /// Whether a reset for the given reason keeps the old store as a backup.
    func keepsBackup(_ reason: StoreStartup.Reason) -> Bool

    func forecast(countsRows: Bool) throws -> StoreStartup
    func migrationForecast() throws -> MigrationForecast?
    func outlook() throws -> StoreOutlook?
    /// The processes that have the store open.
    func occupants() throws -> StoreOccupants

    /// Replaces the store with an empty store. With `onlyIfNeeded`, keeps a store that was made for the same model and keys.
    /// Does nothing if there is no store.
    func reset(onlyIfNeeded: Bool, backupFolder: URL?) throws -> StoreStartup
}

/// A store in an SQLite file.
struct FileStore: TargetStore {
    let options: SQLiteStore.Options
    let isResetByDefault = true

    func keepsBackup(_ reason: StoreStartup.Reason) -> Bool { options.resetPolicy.backupCount(reason) != nil }

    func forecast(countsRows: Bool) throws -> StoreStartup {
        try SQLiteStore.forecast(options, countsRows: countsRows)
    }

    func migrationForecast() throws -> MigrationForecast? { try SQLiteStore.migrationForecast(options) }
    func outlook() throws -> StoreOutlook? { try SQLiteStore.outlook(options) }
    func occupants() throws -> StoreOccupants { try SQLiteStore.occupants(options.url) }

    /// With `onlyIfNeeded` and without a backup folder, resets the store by opening it with the default policy. A
    /// missing store is not opened, because a command must not create a store.
    func reset(onlyIfNeeded: Bool, backupFolder: URL?) throws -> StoreStartup {
        guard onlyIfNeeded, backupFolder == nil else {
            return try SQLiteStore.reset(options, onlyIfNeeded: onlyIfNeeded, backupFolder: backupFolder)
        }
        let forecast = try SQLiteStore.forecast(options)
        guard forecast.isReset else { return forecast }
        let store = try SQLiteStore.open(options)
        store.close()
        return store.startup
    }
}

extension StoreOccupants {
    /// The lines in the output of `status` and `inspect`.
    var lines: [String] {
        guard isOpen else { return [] }
        return [
            members.isEmpty
                ? "another process has the store open for itself alone"
                : "the store is open in \(names)"
        ]
    }

    private var names: String { members.map(\.description).joined(separator: ", ") }

    /// - Throws: `storeInUse` if the store is open, because an open store cannot be reset. The message names the processes
    ///   that have the store open.
    func requireNotOpen() throws {
        if isOpen { throw DataSourceError("The store", openIn: members, cannotBe: "reset") }
    }

    var json: JSON { .list(members.map(\.json)) }
}

extension StoreMember {
    var json: JSON {
        .object([("number", .number(Int(number))), ("process", .number(Int(processID))), ("name", .string(name))])
    }
}
