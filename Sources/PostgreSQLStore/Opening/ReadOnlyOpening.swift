#if PostgreSQL
internal import RowStore

/// Opens a store without making or changing anything.
struct ReadOnlyOpening {
    let options: PostgreSQLOptions

    struct Result {
        let schema: PostgreSQLSchema
        /// The position of the newest save.
        let position: Int64
        let keepsHistory: Bool
        /// The settings that select the server that was used for the opening. Other servers can have older or newer states.
        let server: [String: String]
    }

    /// - Throws: `storeNotFound` if there is no store, `modelChanged` if the store needs a reset or migration.
    func run() throws(DataSourceError) -> Result {
        let connection = try Connection(options.target)
        defer { connection.close() }
        while true {
            var found: Registry.Entry?
            do throws(DataSourceError) {
                return try connection.withSnapshot { () throws(DataSourceError) in
                    found = try Registry(connection).existingEntry(options.name)
                    return try open(connection, found)
                }
            } catch  where error.code == .storeCorrupt && connection.isUsable {
                // If another process has just reset the store, the tables of the old generation are gone.
                if try Registry(connection).existingEntry(options.name) == found { throw error }
            } catch  where error.isConflict && connection.isUsable {
                // A reset locks the tables in another order, so a deadlock is possible. The server may end this transaction to
                // resolve the deadlock. Then try again.
            }
        }
    }

    private func open(_ connection: Connection, _ entry: Registry.Entry?) throws(DataSourceError) -> Result {
        guard let entry else {
            throw DataSourceError(
                .storeNotFound,
                "The database has no store \(options.name) that this role can see, and a read-only container cannot make a store."
            )
        }
        let rows = try PostgreSQLSchema(named: entry.schema).metadataRows(connection)
        _ = try StartupDecision(reading: .metadata(rows), options.identity)
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        try schema.checkTables(connection, options.name)
        let position = try connection.rows("SELECT \(schema.position)").integer(0, 0)
        return Result(
            schema: schema, position: position, keepsHistory: try StoreMetadata(rows: rows).keepsHistory,
            server: connection.server)
    }
}
#endif
