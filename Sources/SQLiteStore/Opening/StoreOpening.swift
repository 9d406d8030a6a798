internal import Foundation
internal import RowStore

/// Opens a store: looks, decides, and only then writes.
struct StoreOpening {
    /// What an opened store works with.
    struct Result {
        let connection: Connection
        let metadata: Metadata
        let startup: StoreStartup
    }

    let files: StoreFiles
    let schema: StoreSchema
    let options: SQLiteStore.Options
    /// Where the keys of a new store begin.
    var firstFreeKey: Int64 = 1

    func run() throws(DataSourceError) -> Result {
        guard try files.mainExists() else {
            try StoreReset(files: files).removeRemains()
            return try create(StoreStartup(reason: .firstLaunch))
        }
        let hasLog = try files.hasLog()
        let connection = try connect()
        do {
            return try open(connection)
        } catch {
            // Closing may take the empty log away that reading has made. A log with something in it stays as it is.
            connection.close(copyingLog: !hasLog)
            throw error
        }
    }

    private func open(_ connection: Connection) throws(DataSourceError) -> Result {
        try checkRights(connection)
        let probe = try StoreProbe(connection)
        switch try StartupDecision(probe.found(), options.identity, options.resetPolicy) {
        case .create:
            return try create(StoreStartup(reason: .firstLaunch), connection)
        case .proceed(let metadata):
            try probe.check(schema)
            try connection.settleWriter(options.synchronous)
            try updateIndexes(connection, probe)
            return Result(connection: connection, metadata: metadata, startup: StoreStartup(reason: .current))
        case .reset(let reason, let fallback):
            return try replace(connection, StoreStartup(reason: reason, fallback: fallback))
        case .resetEntities(let entities, let reason, let found):
            return try reset(entities, reason, found, probe)
        }
    }

    /// Puts an empty store in the place of the one that the connection has open.
    func replace(_ connection: Connection, _ startup: StoreStartup) throws(DataSourceError) -> Result {
        var startup = startup
        startup.rowsDropped = try StoreProbe(connection).rowCount()
        if let backup {
            startup.backup = try backup.move(connection)
        } else {
            connection.close(copyingLog: false)
            try StoreReset(files: files).run()
        }
        return try create(startup)
    }

    private func reset(
        _ entities: Set<String>, _ reason: StoreStartup.Reason, _ found: Metadata, _ probe: StoreProbe
    ) throws(DataSourceError) -> Result {
        let copy = try backup?.copy(probe.connection)
        try probe.connection.settleWriter(.full)
        let reset = EntityReset(
            schema: schema, probe: probe, found: found, identity: options.identity, dropped: entities)
        let outcome = try reset.run()
        try probe.connection.settleWriter(options.synchronous)
        let startup = StoreStartup(
            reason: reason, rowsDropped: outcome.rowsDropped, backup: copy, entitiesReset: outcome.entities)
        return Result(connection: probe.connection, metadata: outcome.metadata, startup: startup)
    }

    private var backup: StoreBackup? {
        guard case .backup(let keep) = options.resetPolicy.kind else { return nil }
        return StoreBackup(files: files, keep: keep)
    }

    private func connect() throws(DataSourceError) -> Connection {
        let connection = try Connection(path: files.main, isReader: false, vfs: files.calls.sqliteVFS)
        do throws(DataSourceError) {
            try connection.configure()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private func checkRights(_ connection: Connection) throws(DataSourceError) {
        guard !connection.isReadOnly else {
            throw DataSourceError(systemError: EACCES, path: files.main, while: "opening")
        }
    }

    private func create(_ startup: StoreStartup) throws(DataSourceError) -> Result {
        try files.makeMain()
        return try create(startup, connect())
    }

    /// Makes all tables and the metadata in one transaction: a start that is killed leaves an empty database.
    private func create(_ startup: StoreStartup, _ connection: Connection) throws(DataSourceError) -> Result {
        try connection.settleWriter(.full)
        let metadata = Metadata(new: options.identity, firstFreeKey: firstFreeKey)
        try connection.transaction { () throws(DataSourceError) in
            for sql in schema.createSQL + schema.indexChanges([]) { try connection.run(sql) }
            try connection.insert(metadata)
        }
        try connection.settleWriter(options.synchronous)
        return Result(connection: connection, metadata: metadata, startup: startup)
    }

    private func updateIndexes(_ connection: Connection, _ probe: StoreProbe) throws(DataSourceError) {
        let changes = schema.indexChanges(probe.indexNames)
        guard !changes.isEmpty else { return }
        try connection.transaction { () throws(DataSourceError) in
            for sql in changes { try connection.run(sql) }
        }
    }
}
