internal import Foundation
internal import MigrationSQL
internal import RowStore

/// Opens a store. First inspects the store, then decides what to do, then writes.
struct StoreOpening {
    struct Result {
        let connection: Connection
        let metadata: StoreMetadata
        var startup: StoreStartup
    }

    let files: StoreFiles
    let schema: StoreSchema
    private(set) var options: SQLiteOptions
    /// The first key for the objects of a new store.
    var firstFreeKey: Int64 = 1
    /// The history of the store that a new store replaces; nil if that store has no history, or a damaged one.
    var ended: HistoryTables.EndedHistory?
    /// Whether a new store replaces another one.
    var replacesStore = false

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
            // If there was no log before, closing may remove the empty log that this attempt has made. A log with contents
            // stays unchanged.
            connection.close(copyingLog: !hasLog)
            throw error
        }
    }

    private func open(_ connection: Connection) throws(DataSourceError) -> Result {
        try checkRights(connection)
        let probe = try StoreProbe(connection)
        let found = try probe.found()
        var opening = self
        opening.options.identity = options.identity.completed(by: StoreMetadata.metadata(in: found))
        return try opening.open(found, probe)
    }

    private func open(_ found: FoundStore, _ probe: StoreProbe) throws(DataSourceError) -> Result {
        let decision = try StartupDecision(found, options.identity, options.resetPolicy)
        try requireShortOpening(decision)
        // Remove the backups before the reset. If the process were killed between a reset and the removal, the next start would
        // find a new store and would never remove the backups.
        let removedBackups = try decision.reason.map(removeStandardBackups) ?? []
        var result: Result
        do throws(DataSourceError) {
            result = try follow(decision, probe)
        } catch  where error.code == .notMigratable {
            result = try fallBack(found, error.message, probe)
        }
        result.startup.removedBackups = removedBackups
        return result
    }

    /// Checks that the opening does not block for long.
    ///
    /// - Throws: `openingWouldBlock` if the store must be migrated or upgraded, and the options forbid it.
    private func requireShortOpening(_ decision: StartupDecision) throws(DataSourceError) {
        if options.mayMigrate { return }
        switch decision {
        case .create, .reset: return
        case .proceed(let found) where found.format == StoreSchema.format: return
        case .resetEntities(_, _, let found) where found.format == StoreSchema.format: return
        case .proceed, .resetEntities, .migrate:
            throw DataSourceError(
                .openingWouldBlock,
                "Opening \(files.main) would block the main thread, because the file must first be changed for the model of this app. Open the store with try await, or on another thread.",
                cause: decision.reason?.summary)
        }
    }

    /// Removes the backups that ``ResetPolicy/standard`` made, if the policy says so for the given reason.
    func removeStandardBackups(_ reason: StoreStartup.Reason) throws(DataSourceError) -> [URL] {
        guard options.resetPolicy.removesStandardBackups(reason) else { return [] }
        return try BackupSeries(files: files, maker: .standard).removeAll()
    }

    private func follow(_ decision: StartupDecision, _ probe: StoreProbe) throws(DataSourceError) -> Result {
        let connection = probe.connection
        switch decision {
        case .create:
            try files.applyPermissions()
            return try create(StoreStartup(reason: .firstLaunch), connection)
        case .proceed(let found):
            let (metadata, probe) = try StoreUpgrade(found, schema.layout.model, probe).run()
            try probe.check(schema)
            try connection.configureWriter(options.synchronous)
            return try settleHistory(update(connection.checkKeys(metadata, schema), probe))
        case .reset(let reason, let fallback):
            if options.resetPolicy.withoutMigration == .standard, let rest = reason.withoutKeysOfDataSources {
                return try replaceWithoutKeyed(reason, rest: rest, in: probe, fallback: fallback)
            }
            return try replace(connection, StoreStartup(reason: reason, fallback: fallback))
        case .resetEntities(let entities, let reason, let found):
            return try reset(entities, reason: reason, found: found, in: probe)
        case .migrate(let reason, let metadata):
            return try migrate(reason, metadata, probe)
        }
    }

    /// Follows the policy after a migration has proved impossible: resets the store or throws.
    private func fallBack(
        _ found: FoundStore, _ reason: String, _ probe: StoreProbe
    ) throws(DataSourceError) -> Result {
        let decision = try StartupDecision(
            found, options.identity, options.resetPolicy.withoutMigration, obstacle: reason)
        var result = try follow(decision, probe)
        result.startup.fallback = [reason, result.startup.fallback].compactMap(\.self).joined(separator: " ")
        return result
    }

    private func migrate(
        _ reason: StoreStartup.Reason, _ found: StoreMetadata, _ probe: StoreProbe
    ) throws(DataSourceError) -> Result {
        let migration = try StoreMigration(
            schema: schema, probe: probe, found: found, identity: options.identity,
            purpose: .migration(dropsByKey: true, mayLoseData: options.resetPolicy.mayLoseData))
        try probe.connection.configureWriter(.full)
        let outcome = try migration.run(options.migrationProgress)
        try probe.connection.configureWriter(options.synchronous)
        let keyed = reason.entitiesWithChangedKey
        var startup = StoreStartup(
            reason: reason, rowsDropped: outcome.dropped.objectCount, entitiesReset: keyed.isEmpty ? nil : keyed,
            migration: outcome.report)
        startup.dropped = outcome.dropped
        let metadata = try probe.connection.checkKeys(outcome.metadata, schema)
        return try settleHistory(Result(connection: probe.connection, metadata: metadata, startup: startup))
    }

    /// Keeps the store as a backup, but without the rows of data sources whose key has changed. These rows may belong to a user
    /// who has logged out.
    ///
    /// Drops these rows before it makes the backup. If the process is killed after the drop, the next start finds a store with
    /// the current keys, in which only the model differs.
    private func replaceWithoutKeyed(
        _ reason: StoreStartup.Reason, rest: StoreStartup.Reason, in probe: StoreProbe, fallback: String?
    ) throws(DataSourceError) -> Result {
        guard let found = StoreMetadata.metadata(in: try probe.found()), found.modelText != nil else {
            // Without a copy of the model, the tables with the rows to drop are unknown.
            return try replace(probe.connection, StoreStartup(reason: reason, fallback: fallback))
        }
        let keyed = Set(reason.entitiesWithChangedKey)
        let newNames = found.identity.entityHashes.keys.reduce(into: [:]) { names, name in
            names[name] = options.identity.newName(of: name)
        }.filter { keyed.contains($0.value) }
        let (upgraded, probe) = try upgraded(found, rest, probe)
        var identity = upgraded.identity
        for (oldName, name) in newNames { identity.entityKeys[oldName] = options.identity.entityKeys[name] }
        let oldSchema = try StoreSchema(ModelLayout(upgraded.model()))
        try probe.connection.configureWriter(.full)
        let outcome = try StoreMigration(
            schema: oldSchema, probe: probe, found: upgraded, identity: identity,
            purpose: .reset(of: Set(newNames.keys)), model: oldSchema.layout.model
        ).run(nil)
        var result = try replace(probe.connection, StoreStartup(reason: rest, fallback: fallback))
        result.startup.reason = reason
        result.startup.rowsDropped += outcome.dropped.objectCount
        return result
    }

    /// Replaces the connection's store with an empty store.
    func replace(_ connection: Connection, _ startup: StoreStartup) throws(DataSourceError) -> Result {
        var opening = self
        opening.ended = try endedHistory(connection, startup.reason)
        opening.replacesStore = true
        return try opening.create(opening.remove(connection, startup))
    }

    /// Removes the connection's store, or keeps it as a backup. Closes the connection.
    ///
    /// - Parameter onRemoval: Called after the main file was removed or moved, even if a later step fails.
    /// - Returns: The startup, completed with the dropped rows and the backup.
    func remove(
        _ connection: Connection, _ startup: StoreStartup, onRemoval: () -> Void = {}
    ) throws(DataSourceError) -> StoreStartup {
        var startup = startup
        do throws(DataSourceError) {
            (startup.rowsDropped, startup.countFailure) = try StoreProbe(connection).droppedRows()
        } catch  where error.code == .storeCorrupt {
            startup.countFailure = error.cause ?? error.message
        }
        // Make no backup of an empty store: the number of backups is limited, so an empty backup could replace a backup
        // with objects.
        let isEmpty = startup.rowsDropped == 0 && startup.countFailure == nil
        if !isEmpty, let backup = backup(startup.reason) {
            startup.backup = try backup.move(connection, onRemoval: onRemoval)
        } else {
            connection.close(copyingLog: false)
            try StoreReset(files: files).run(onRemoval: onRemoval)
        }
        return startup
    }

    private func reset(
        _ entities: Set<String>, reason: StoreStartup.Reason, found: StoreMetadata, in probe: StoreProbe
    ) throws(DataSourceError) -> Result {
        guard !reason.isModelChanged || found.modelText != nil else {
            let cause = "The store has no copy of its model: older releases stored no copy."
            return try replace(probe.connection, StoreStartup(reason: reason, fallback: cause))
        }
        let copy = try backup(reason)?.copy(probe.connection)
        let (found, probe) = try upgraded(found, reason, probe)
        try probe.connection.configureWriter(.full)
        let migration = try StoreMigration(
            schema: schema, probe: probe, found: found, identity: options.identity,
            purpose: .reset(of: entities), model: reason.isModelChanged ? nil : schema.layout.model)
        let outcome = try migration.run(options.migrationProgress)
        try probe.connection.configureWriter(options.synchronous)
        var startup = StoreStartup(
            reason: reason, rowsDropped: outcome.dropped.objectCount, backup: copy,
            entitiesReset: entities.filter { schema.layout.entity(named: $0)?.isAbstract != true }.sorted())
        startup.dropped = outcome.dropped
        let metadata = try probe.connection.checkKeys(outcome.metadata, schema)
        return try settleHistory(Result(connection: probe.connection, metadata: metadata, startup: startup))
    }

    /// Upgrades a store to the format of this release, before a reset that keeps some of the store's tables.
    private func upgraded(
        _ found: StoreMetadata, _ reason: StoreStartup.Reason, _ probe: StoreProbe
    ) throws(DataSourceError) -> (StoreMetadata, StoreProbe) {
        guard reason.isModelChanged else { return try StoreUpgrade(found, schema.layout.model, probe).run() }
        guard found.format < StoreSchema.format else { return (found, probe) }
        do throws(DataSourceError) {
            return try StoreUpgrade(found, found.model(), probe).run()
        } catch  where error.code == .notMigratable {
            throw DataSourceError(storeOfEarlierRelease: probe.connection.path, cause: error.message)
        }
    }

    /// Returns the backup for the old store; nil if the old store is dropped.
    private func backup(_ reason: StoreStartup.Reason) -> StoreBackup? {
        let policy = options.resetPolicy.withoutMigration
        return policy.backupCount(reason).map { count in
            StoreBackup(files, policy == .standard ? .standard : .backup, keep: count)
        }
    }

    func connect() throws(DataSourceError) -> Connection {
        let connection = try Connection(path: files.main, isReader: false, vfs: files.calls.sqliteVFS)
        do throws(DataSourceError) {
            try connection.configure()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    func checkRights(_ connection: Connection) throws(DataSourceError) {
        guard !connection.isReadOnly else {
            throw DataSourceError(systemError: EACCES, path: files.main, while: "opening")
        }
    }

    private func create(_ startup: StoreStartup) throws(DataSourceError) -> Result {
        try files.makeMain()
        return try create(startup, connect())
    }

    /// Makes all tables and the metadata in one transaction. If the process is killed before the commit, an empty database
    /// remains.
    private func create(_ startup: StoreStartup, _ connection: Connection) throws(DataSourceError) -> Result {
        try connection.configureWriter(.full)
        var metadata = StoreMetadata(new: options.identity, firstFreeKey: firstFreeKey, modelText: schema.modelText)
        let made = metadata
        metadata.keepsHistory = try connection.transaction { () throws(DataSourceError) in
            for sql in schema.createSQL + schema.indexChanges([]) { try connection.run(sql) }
            connection.scopeTable = .missing
            try connection.insert(made)
            return try settleHistory(connection, made, isNew: !replacesStore)
        }
        try connection.configureWriter(options.synchronous)
        return Result(connection: connection, metadata: metadata, startup: startup)
    }

    /// Updates the parts of the store that the model's hash does not cover: the indexes, and the store's copy of the model.
    private func update(_ metadata: StoreMetadata, _ probe: StoreProbe) throws(DataSourceError) -> Result {
        var metadata = metadata
        let connection = probe.connection
        let changes = schema.indexChanges(probe.indexNames)
        let modelText = schema.modelText
        if !changes.isEmpty || metadata.modelText != modelText {
            try connection.transaction { () throws(DataSourceError) in
                for sql in changes { try connection.run(sql) }
                guard metadata.modelText != modelText else { return }
                try connection.run(StoreMetadata.deleteModelSQL)
                try connection.insert([StoreMetadata.modelRowName: .text(modelText)])
            }
        }
        metadata.modelText = modelText
        return Result(connection: connection, metadata: metadata, startup: StoreStartup(reason: .current))
    }
}

/// Removes an old store.
struct StoreReset {
    let files: StoreFiles

    /// Removes all files of a store that no process has open.
    ///
    /// Removes the main file first, because SQLite ignores a log without a main file. In any other order, the next start could
    /// find a partial store. After an interruption, the removal can be repeated.
    ///
    /// - Parameter onRemoval: Called after the main file was removed, even if a later step fails.
    func run(onRemoval: () -> Void = {}) throws(DataSourceError) {
        let removed = RemovedFile(files.main)
        do throws(DataSourceError) { try files.remove(files.main) } catch {
            removed.keep()
            throw error
        }
        defer { removed.giveBackSpace() }
        onRemoval()
        // The removal of the main file must reach the disk before the log is removed.
        try files.syncFolder()
        try removeRemains()
    }

    /// Removes the files that an interrupted reset has left after it removed the main file.
    func removeRemains() throws(DataSourceError) {
        try files.remove(files.log)
        try files.remove(files.sharedMemory)
        try files.remove(files.journal)
        try files.syncFolder()
    }
}
