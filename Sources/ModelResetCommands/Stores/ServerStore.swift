#if PostgreSQL
internal import Foundation
internal import PostgreSQLStore
internal import RowStore

/// A store in a database on a server.
struct ServerStore: TargetStore {
    let options: PostgreSQLStore.Options
    /// The default never loses rows of other users.
    let isResetByDefault = false

    func keepsBackup(_ reason: StoreStartup.Reason) -> Bool { options.resetPolicy.backupCount(reason) != nil }

    func forecast(countsRows: Bool) throws -> StoreStartup {
        try PostgreSQLStore.forecast(options, countsRows: countsRows).startup
    }

    func migrationForecast() throws -> MigrationForecast? { try PostgreSQLStore.migrationForecast(options) }
    func outlook() throws -> StoreOutlook? { try PostgreSQLStore.outlook(options) }
    func occupants() throws -> StoreOccupants { try PostgreSQLStore.forecast(options).occupants }

    /// Only if necessary, the old store is set aside as the store in a file would be.
    func reset(onlyIfNeeded: Bool, backupFolder: URL?) throws -> StoreStartup {
        var options = options
        options.resetPolicy = onlyIfNeeded ? .standard : .discard
        return try PostgreSQLStore.reset(options, onlyIfNeeded: onlyIfNeeded)
    }
}
#endif
