#if PostgreSQL
internal import RowStore

/// Opens a store without making or changing anything.
struct ReadOnlyOpening {
    let options: PostgreSQLOptions

    /// - Returns: The generation that is there, and the position of its newest save.
    /// - Throws: `notAFile` if there is no store, `modelChanged` if it would have to be reset or migrated.
    func run() throws(DataSourceError) -> (schema: PostgreSQLSchema, position: Int64) {
        let connection = try Connection(options.target)
        defer { connection.close() }
        return try connection.look { () throws(DataSourceError) in
            guard let entry = try Registry(connection).existingEntry(options.name) else {
                throw DataSourceError(
                    .notAFile,
                    "The database has no store \(options.name) that this role may see, and a read-only container cannot make one."
                )
            }
            let rows = try PostgreSQLSchema(named: entry.schema).metadataRows(connection)
            do throws(DataSourceError) {
                _ = try StartupDecision(.metadata(rows), options.identity, .fail)
            } catch  where error.code == .modelChanged {
                throw DataSourceError(
                    .modelChanged,
                    "The store was made for another model or database key, and a read-only container cannot reset or migrate it. "
                        + "Open it for writing first.", cause: error.cause)
            }
            let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
            try schema.checkTables(connection, options.name)
            return (schema, try connection.rows("SELECT \(schema.position)").integer(0, 0))
        }
    }
}
#endif
