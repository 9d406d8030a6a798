internal import Foundation
package import RowStore

extension SQLiteStore {
    /// What the next opening would do, without changing a byte or making a file. Others may have the store open.
    ///
    /// - Parameter countsRows: Whether to count rows for a reset even if the store would be kept.
    /// - Returns: The reason, how many objects would be dropped, and which backups would be removed.
    /// - Throws: What opening would throw.
    package static func forecast(
        _ options: Options, countsRows: Bool = false
    ) throws(DataSourceError) -> StoreStartup {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.run(countsRows: countsRows) }
            ?? StoreStartup(reason: .firstLaunch)
    }

    /// What a migration would do; nil if the store was made for this model, or does not exist.
    package static func migrationForecast(_ options: Options) throws(DataSourceError) -> MigrationForecast? {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.migration() } ?? nil
    }

    /// The outlook of a store that would be kept; nil if it does not exist, or would be reset.
    package static func outlook(_ options: Options) throws(DataSourceError) -> StoreOutlook? {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.outlook() } ?? nil
    }

    /// Nil if there is no store.
    private static func look<R>(
        _ options: Options, _ body: (StoreForecast) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        let schema = try StoreSchema(options.layout)
        let files = try StoreFiles(options.url, options.calls)
        guard try files.mainExists() else { return nil }
        return try body(StoreForecast(files: files, schema: schema, options: options))
    }
}

/// Inspects a store, whether or not it is open elsewhere.
struct StoreForecast {
    let files: StoreFiles
    let schema: StoreSchema
    let options: SQLiteStore.Options

    func run(countsRows: Bool) throws(DataSourceError) -> StoreStartup {
        try look { (probe) throws(DataSourceError) in
            switch try StartupDecision(probe.found(), options.identity, .discard) {
            case .create:
                return StoreStartup(reason: .firstLaunch)
            case .proceed(let found), .resetEntities(_, _, let found), .migrate(_, let found):
                // Only the app knows the keys of data sources, so they are ignored here.
                try probe.check(
                    found.format == schema.format ? schema : StoreSchema(schema.layout.model, format: found.format))
                return countsRows ? try startup(.current, probe, isForced: countsRows) : StoreStartup(reason: .current)
            case .reset(let reason, _):
                return try startup(reason, probe, isForced: countsRows)
            }
        } ?? StoreStartup(reason: .firstLaunch)
    }

    private func startup(
        _ reason: StoreStartup.Reason, _ probe: StoreProbe, isForced: Bool
    ) throws(DataSourceError) -> StoreStartup {
        var startup = StoreStartup(reason: reason)
        (startup.rowsDropped, startup.countFailure) = try probe.droppedRows()
        if isForced || options.resetPolicy.removesStandardBackups(reason) {
            startup.removedBackups = try BackupSeries(files: files, maker: .standard).urls()
        }
        return startup
    }

    func migration() throws(DataSourceError) -> MigrationForecast? {
        try look { (probe) throws(DataSourceError) in
            switch try StartupDecision(probe.found(), options.identity, .migrate) {
            case .migrate(_, let found):
                do throws(DataSourceError) {
                    let migration = try StoreMigration(
                        schema: schema, probe: probe, found: found, identity: options.identity, dropsByKey: false)
                    try probe.connection.addMigrationFunctions()
                    try migration.checkConditions()
                    return .possible(migration.report(rowsCarried: try migration.rowsCarried()))
                } catch  where error.code == .notMigratable {
                    return .impossible(error.message)
                }
            case .reset(let reason, _) where reason.isModelChanged:
                return .impossible("The database key changed.")
            case .create, .proceed, .reset, .resetEntities:
                return nil
            }
        } ?? nil
    }

    /// Nil if there is no store.
    func look<R>(_ body: (StoreProbe) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        guard try files.mainExists() else { return nil }
        guard access(files.main, R_OK | W_OK) == 0 else {
            throw DataSourceError(systemError: errno, path: files.main, while: "opening")
        }
        return try files.look { (connection) throws(DataSourceError) in try body(StoreProbe(connection)) }
    }
}

extension StoreFiles {
    /// A connection that does not change the files; close it without copying the log. Without a log, SQLite assumes that the
    /// file never changes, and makes none. With a log, its index is built in memory of this process, so no shared memory is
    /// needed.
    func connectWithoutChange() throws(DataSourceError) -> Connection {
        guard try hasLog() else {
            let connection = try Connection(path: main, isReader: true, files: .ignored, vfs: calls.sqliteVFS)
            try connection.configure()
            return connection
        }
        let connection = try Connection(path: main, isReader: false, vfs: calls.sqliteVFS)
        try connection.configure()
        try connection.run("PRAGMA locking_mode = EXCLUSIVE")
        return connection
    }

    /// Whether anything has that name.
    func exists(_ path: String) -> Bool {
        var state = stat()
        return lstat(path, &state) == 0
    }
}
