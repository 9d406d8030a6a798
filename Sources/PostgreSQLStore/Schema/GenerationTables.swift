#if PostgreSQL
internal import RowStore

/// The tables that this library has made for the objects of a generation, whatever its model is.
///
/// Other programs can add tables with any name to the schema. So the library's tables are recognized by their trigger, which
/// records writes of other programs.
struct GenerationTables {
    private let connection: Connection
    private let schema: PostgreSQLSchema

    init(_ connection: Connection, _ schema: String) throws(DataSourceError) {
        self.connection = connection
        self.schema = try PostgreSQLSchema(named: schema)
    }

    /// The names of the tables, as SQL.
    func names() throws(DataSourceError) -> [String] {
        let found = try connection.rows(
            """
            SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
            JOIN pg_proc p ON p.oid = t.tgfoid WHERE n.nspname = $1 AND p.pronamespace = n.oid AND p.proname = $2 \
            AND t.tgname = $3 ORDER BY 1
            """,
            [
                WireValue(schema.name), WireValue(PostgreSQLSchema.outsideName),
                WireValue(PostgreSQLSchema.outsideTrigger),
            ])
        return (0..<found.rowCount).map { schema.qualified(found.text($0, 0)) }
    }

    /// The number of objects. Links with separate rows are not counted.
    func count() throws(DataSourceError) -> Int {
        var count = 0
        for name in try names() where try !storesLinks(name) {
            count += Int(try connection.rows("SELECT count(*) FROM \(name)").integer(0, 0))
        }
        return count
    }

    /// Whether a table has only the columns of links. An entity's columns never have these names.
    private func storesLinks(_ name: String) throws(DataSourceError) -> Bool {
        let found = try connection.rows(
            """
            SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
            """, [WireValue(name)])
        let columns = Set((0..<found.rowCount).map { found.text($0, 0) })
        return columns.isSuperset(of: [LinkNames.source, LinkNames.destination])
            && columns.isSubset(of: LinkNames.all.union(["_key"]))
    }

    func isEmpty() throws(DataSourceError) -> Bool {
        for name in try names() where try connection.rows("SELECT 1 FROM \(name) LIMIT 1").rowCount > 0 { return false }
        return true
    }

    /// Drops the tables and functions of this library, in the open transaction.
    ///
    /// - Throws: `modelChanged` if a database object of another program would be dropped, too. The cause lists such objects.
    func drop() throws(DataSourceError) {
        // The statement locks the tables in this order. The feed is the first table, and readers also lock the feed first, so
        // there are no deadlocks with readers.
        let own = try PostgreSQLSchema.names.map(schema.qualified) + names() + [schema.history, schema.historyState]
        do throws(DataSourceError) {
            for sql in [
                "DROP TABLE IF EXISTS \(own.joined(separator: ", "))",
                "DROP FUNCTION IF EXISTS \(schema.outsideFunction)(), \(schema.publishingFunction)()",
                "DROP SCHEMA IF EXISTS \(schema.name.quoted)",
            ] {
                _ = try connection.pipeline([Request(sql, isKept: false)])
            }
        } catch  where error.cause?.contains("2BP01") == true {
            throw DataSourceError(
                .modelChanged,
                "Another program has added tables, views or constraints to the schema \(schema.name) or its tables. "
                    + "Dropping the schema would destroy these parts. Drop the parts first, and make them again afterwards. "
                    + "The cause lists the parts.",
                cause: error.cause)
        }
    }

    /// Lets programs write to the tables of a backup, without recording the writes.
    func stopRecordingWrites() throws(DataSourceError) {
        let function = schema.outsideFunction
        guard try connection.rows("SELECT to_regprocedure($1) IS NOT NULL", [WireValue("\(function)()")]).isTrue(0, 0)
        else { return }
        let sql = """
            CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SET search_path = '' \
            AS 'BEGIN RETURN NULL; END'
            """
        _ = try connection.pipeline([Request(sql, isKept: false)])
    }
}

extension Connection {
    /// Runs the body, which uses the tables of a generation.
    ///
    /// - Throws: `storeReset` if the tables are gone because another process has reset the store, or has switched its history
    ///   off.
    func checkingGeneration<R>(
        _ schema: PostgreSQLSchema, _ name: String, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        do throws(DataSourceError) { return try body() } catch {
            guard error.code == .storeCorrupt || error.isConflict, isUsable else { throw error }
            if isInTransaction { try run("ROLLBACK") }
            guard let found = try Registry(self).entry(name) else { throw error }
            if found.schema != schema.name { throw DataSourceError(resetElsewhere: name) }
            // The error names the missing table. If that is a table of the history, another process may have switched the
            // history off.
            guard error.cause?.contains(".\(PostgreSQLSchema.history)") == true,
                try !rows("SELECT \(schema.keepsHistorySQL)").isTrue(0, 0)
            else { throw error }
            throw DataSourceError(historySwitchedIn: name)
        }
    }
}

extension DataSourceError {
    init(resetElsewhere name: String) {
        self.init(
            .storeReset,
            "Another process has reset the store \(name) while this process did not answer. Open the store again.")
    }

    init(historySwitchedIn name: String) {
        self.init(
            .storeReset,
            "Another process has switched the history of the store \(name) on or off while this process did not answer. "
                + "Open the store again.")
    }

    init(goneMemberOf name: String) {
        self.init(
            .storeUnavailable,
            "The store \(name) no longer knows this process, or refused its save after a lost answer. The save is tried again."
        )
    }
}
#endif
