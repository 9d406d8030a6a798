#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
package import RowStore

extension PostgreSQLStore {
    /// Compares the store's model and database key with the options, and lists the members that have the store open.
    /// Changes nothing, so a read-only server is enough.
    ///
    /// - Returns: The result that a reset would have: the reason, and the number of objects that would be dropped. The objects
    ///   are counted only if the store needs a reset, or if `countsRows` is true. The reset policy is ignored.
    /// - Throws: The errors of opening the store, except `modelChanged` and `storeInUse`.
    package static func forecast(
        _ options: Options, countsRows: Bool = false
    ) throws(DataSourceError) -> (startup: StoreStartup, occupants: StoreOccupants) {
        try withSnapshot(options) {
            (connection, entry) throws(DataSourceError) -> (startup: StoreStartup, occupants: StoreOccupants) in
            let schema = try PostgreSQLSchema(named: entry.schema)
            let members = try Members(connection, schema).recent()
            return (
                try forecast(options, entry, connection, countsRows: countsRows),
                StoreOccupants(isOpen: !members.isEmpty, members: members)
            )
        } ?? (startup: StoreStartup(reason: .firstLaunch), occupants: StoreOccupants(isOpen: false, members: []))
    }

    /// Runs the body in a read-only transaction on one state of the database. Returns nil if there is no store.
    private static func withSnapshot<R>(
        _ options: Options, _ body: (Connection, Registry.Entry) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        let connection = try Connection(options.target)
        defer { connection.close() }
        // Set no limit for responses, because counting large tables can take a long time.
        connection.responseTimeout = nil
        return try connection.withSnapshot { () throws(DataSourceError) in
            guard let entry = try Registry(connection).existingEntry(options.name) else { return nil }
            return try body(connection, entry)
        }
    }

    private static func forecast(
        _ options: Options, _ entry: Registry.Entry, _ connection: Connection, countsRows: Bool
    ) throws(DataSourceError) -> StoreStartup {
        let rows = try PostgreSQLSchema(named: entry.schema).metadataRows(connection)
        var startup = StoreStartup(reason: .current)
        // Ignore the keys of data sources, because only the app knows them.
        if case .reset(let reason, _) = try StartupDecision(.metadata(rows), options.identity, .discard) {
            startup.reason = reason
        }
        guard startup.isReset || countsRows else { return startup }
        if let model = try? StoreMetadata(rows: rows).model() {
            let schema = try PostgreSQLSchema(ModelLayout(model), name: entry.schema)
            startup.rowsDropped = try schema.storedModel.counts(connection).reduce(0) { $0 + $1.count }
        } else {
            startup.rowsDropped = try StoreOpening(options: options).count(connection, entry)
        }
        return startup
    }

    /// Returns what a migration would do, without changing anything; nil if the store does not exist or was made for this
    /// model.
    ///
    /// - Throws: The errors of opening the store, except `modelChanged` and `storeInUse`.
    package static func migrationForecast(_ options: Options) throws(DataSourceError) -> MigrationForecast? {
        try withSnapshot(options) { (connection, entry) throws(DataSourceError) -> MigrationForecast? in
            let rows = try PostgreSQLSchema(named: entry.schema).metadataRows(connection)
            return try MigrationForecast(.metadata(rows), options.identity) { found throws(DataSourceError) in
                let next = try PostgreSQLSchema(options.layout, name: entry.schema)
                // Ignore the keys of data sources, because only the app knows them.
                return try GenerationMigration(
                    connection, found, from: entry, to: next, wanted: options.identity,
                    purpose: .migration(dropsByKey: false)
                ).report()
            }
        } ?? nil
    }

    /// Returns facts about a store, and changes nothing. Returns nil if the store does not exist, or if it was made for another
    /// model or key.
    ///
    /// - Throws: The errors of opening the store, except `modelChanged` and `storeInUse`.
    package static func outlook(_ options: Options) throws(DataSourceError) -> StoreOutlook? {
        try withSnapshot(options) { (connection, entry) throws(DataSourceError) -> StoreOutlook? in
            let rows = try PostgreSQLSchema(named: entry.schema).metadataRows(connection)
            guard case .proceed = try StartupDecision(.metadata(rows), options.identity, .discard) else { return nil }
            let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
            try schema.checkTables(connection, entry.schema)
            return StoreOutlook(danglingLinks: try schema.storedModel.danglingLinks(connection))
        } ?? nil
    }

    /// Replaces a store with an empty store for the model and database key of the options. Does nothing if there is no store.
    /// The reset policy decides whether the old store is kept as a backup.
    ///
    /// - Parameter onlyIfNeeded: Whether to keep a store that was made for this model and key.
    /// - Throws: The errors of ``open(_:)``; `storeInUse`, which names the members, if other members have the store open.
    package static func reset(_ options: Options, onlyIfNeeded: Bool = false) throws(DataSourceError) -> StoreStartup {
        let connection = try Connection(options.target)
        defer { connection.close() }
        connection.responseTimeout = nil
        let registry = try Registry(connection)
        return try registry.withLock(options.name) { () throws(DataSourceError) in
            guard let entry = try registry.existingEntry(options.name) else {
                return StoreStartup(reason: .firstLaunch)
            }
            let startup = try forecast(options, entry, connection, countsRows: !onlyIfNeeded)
            guard startup.isReset || !onlyIfNeeded else { return startup }
            _ = try StoreOpening(options: options).replace(registry, entry, startup.reason)
            return startup
        }
    }
}
#endif
