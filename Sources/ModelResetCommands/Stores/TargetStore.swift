internal import Foundation
internal import RowStore
internal import SQLiteStore

/// A store that a command inspects or resets, as an app with its model and database key would open it.
protocol TargetStore {
    /// Whether the default policy resets it when the model or the key changes.
    var isResetByDefault: Bool { get }
    /// Whether such a reset sets the old store aside.
    func keepsBackup(_ reason: StoreStartup.Reason) -> Bool

    func forecast(countsRows: Bool) throws -> StoreStartup
    func migrationForecast() throws -> MigrationForecast?
    func outlook() throws -> StoreOutlook?
    /// The processes that have it open.
    func occupants() throws -> StoreOccupants

    /// Replaces it by an empty store, and does nothing if there is none.
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

    /// Opening a store does what the default policy says; it also makes a missing store, which a command must not do.
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
    /// What `status` and `inspect` print.
    var lines: [String] {
        guard isOpen else { return [] }
        return [members.isEmpty ? "it is open in another process, which does not share it" : "it is open in \(names)"]
    }

    private var names: String { members.map(\.description).joined(separator: ", ") }

    /// - Throws: `storeInUse`, with their names, if there are any, because the store cannot be reset then.
    func requireNobody() throws {
        guard isOpen else { return }
        throw DataSourceError(
            .storeInUse,
            "The store cannot be reset while others have it open\(members.isEmpty ? "" : ": \(names)"). Close it there, and "
                + "try again.")
    }

    var json: JSON { .list(members.map(\.json)) }
}

extension StoreMember {
    var json: JSON {
        .object([("number", .number(Int(number))), ("process", .number(Int(processID))), ("name", .string(name))])
    }
}
