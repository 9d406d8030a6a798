internal import Foundation
internal import MigrationSQL
internal import RowStore

/// Predicts the result of opening a store. Containers may have the store open.
struct StoreForecast {
    private let files: StoreFiles
    private let schema: StoreSchema
    private let options: SQLiteOptions

    init(_ options: SQLiteOptions) throws(DataSourceError) {
        schema = try StoreSchema(options.layout)
        files = try StoreFiles(options.url, options.calls)
        self.options = options
    }

    func run(countsRows: Bool) throws(DataSourceError) -> StoreStartup {
        try withSnapshot { (probe) throws(DataSourceError) in
            switch try StartupDecision(probe.found(), options.identity, .discard) {
            case .create:
                return StoreStartup(reason: .firstLaunch)
            case .proceed(let found), .resetEntities(_, _, let found), .migrate(_, let found):
                // The forecast ignores the keys of data sources, because only the app knows them.
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
        try withSnapshot { (probe) throws(DataSourceError) in
            try MigrationForecast(probe.found(), options.identity) { found throws(DataSourceError) in
                let migration = try StoreMigration(
                    schema: schema, probe: probe, found: found, identity: options.identity,
                    purpose: .migration(dropsByKey: false))
                try probe.connection.addMigrationFunctions()
                return try migration.statements.report(probe.connection)
            }
        } ?? nil
    }

    /// Returns facts about a store that opening would keep; nil if there is no store, or if opening would reset or migrate the
    /// store.
    func outlook() throws(DataSourceError) -> StoreOutlook? {
        try withSnapshot { (probe) throws(DataSourceError) in
            guard case .proceed(let found) = try StartupDecision(probe.found(), options.identity, .discard) else {
                return nil
            }
            guard found.format == schema.format else { return StoreOutlook(olderFormat: found.format) }
            return StoreOutlook(danglingLinks: try schema.storedModel.danglingLinks(probe.connection))
        } ?? nil
    }

    /// Runs the body with a probe of the store; returns nil if there is no store.
    private func withSnapshot<R>(_ body: (StoreProbe) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        guard try files.mainExists() else { return nil }
        guard access(files.main, R_OK | W_OK) == 0 else {
            throw DataSourceError(systemError: errno, path: files.main, while: "opening")
        }
        return try files.withSnapshot { (connection) throws(DataSourceError) in try body(StoreProbe(connection)) }
    }
}

extension StoreFiles {
    /// Returns a connection that does not change the files. Close the connection without copying the log.
    ///
    /// If there is no log, SQLite assumes that the file never changes, and makes no log. If there is a log, SQLite builds the
    /// log's index in the memory of this process, and so needs no shared memory.
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

    /// Whether a file, folder or link exists at the path.
    func exists(_ path: String) -> Bool {
        var state = stat()
        return lstat(path, &state) == 0
    }
}
