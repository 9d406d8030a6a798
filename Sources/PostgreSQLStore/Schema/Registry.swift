#if PostgreSQL
internal import RowStore

/// The list of a database's stores: the schema of each store's newest generation, and the schemas of backups.
///
/// The tables of the registry are in a separate schema, `coredatasource`. A role without the right to use this schema
/// has its own registry. Only one process at a time opens, resets or migrates the same store.
struct Registry {
    let connection: Connection
    private let schema: String

    struct Entry: Equatable {
        let generation: Int64
        let schema: String
    }

    private static let (storeTable, backupTable) = ("stores", "backups")
    private var stores: String { schema.quoted + "." + Registry.storeTable.quoted }
    private var backups: String { schema.quoted + "." + Registry.backupTable.quoted }
    /// The first number of this library's advisory locks in a database. The second number of the registry's lock is 1.
    private static let lock: Int32 = 1_129_271_888

    /// - Throws: `permissionDenied` if the registry belongs to a role that is not trusted.
    init(_ connection: Connection) throws(DataSourceError) {
        self.connection = connection
        schema = try RegistryHome(connection).schema
    }

    /// Runs the body while no other process opens, resets or migrates the store.
    ///
    /// - Throws: `storeBusy` if another process takes too long.
    func withLock<R>(
        _ store: String, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let number = max(2, Int32(truncatingIfNeeded: Identifiers.hash(store)) & .max)
        return try withLock(number, "the store \(store)", body)
    }

    private func withLock<R>(
        _ number: Int32, _ subject: String, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        do throws(DataSourceError) {
            try connection.run("SELECT pg_advisory_lock(\(Registry.lock), \(number))")
        } catch  where error.code == .storeBusy {
            throw DataSourceError(
                .storeBusy, "Another process is opening, resetting or migrating \(subject). Try again later.",
                cause: error.cause)
        }
        defer { try? connection.run("SELECT pg_advisory_unlock(\(Registry.lock), \(number))") }
        return try body()
    }

    /// - Throws: `storeCorrupt` if the tables differ from those that this library makes.
    private func exists() throws(DataSourceError) -> Bool {
        let hasStores = try RegistryHome.check(Registry.storeTable, in: schema, connection)
        let hasBackups = try RegistryHome.check(Registry.backupTable, in: schema, connection)
        return hasStores && hasBackups
    }

    /// Returns the registry, and makes it if there is none.
    func prepared() throws(DataSourceError) -> Registry {
        if try exists() { return self }
        return try withLock(1, "a store of the database") { () throws(DataSourceError) in
            // Another role might have made a registry in the meantime.
            let home = try RegistryHome(connection)
            let registry = try Registry(connection)
            try registry.make(schemaExists: home.schemaExists)
            return registry
        }
    }

    private func make(schemaExists: Bool) throws(DataSourceError) {
        try connection.transaction { () throws(DataSourceError) in
            if !schemaExists { try connection.run("CREATE SCHEMA \(schema.quoted)") }
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(stores) (name text PRIMARY KEY, generation bigint NOT NULL, schema text NOT NULL)
                """)
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(backups) (schema text PRIMARY KEY, name text NOT NULL, generation bigint NOT NULL)
                """)
            _ = try exists()
        }
    }

    /// - Throws: `permissionDenied` if the store's schema belongs to a role that is not trusted.
    func entry(_ name: String) throws(DataSourceError) -> Entry? {
        let found = try connection.rows(
            """
            SELECT s.generation, s.schema, o.rolname::text, \(RegistryHome.isTrusted)::integer FROM \(stores) s \
            LEFT JOIN pg_namespace n ON n.nspname::text = s.schema LEFT JOIN pg_roles o ON o.oid = n.nspowner WHERE s.name = $1
            """, [WireValue(name)])
        guard found.rowCount > 0 else { return nil }
        let schema = found.text(0, 1)
        guard found.isNull(0, 2) || found.isTrue(0, 3) else { throw RegistryHome.untrusted(schema, found.text(0, 2)) }
        return Entry(generation: found.integer(0, 0), schema: schema)
    }

    /// The entry of a store; nil if there is no registry or no such store.
    func existingEntry(_ name: String) throws(DataSourceError) -> Entry? {
        try exists() ? try entry(name) : nil
    }

    func set(_ entry: Entry, _ name: String) throws(DataSourceError) {
        _ = try connection.rows(
            """
            INSERT INTO \(stores) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET generation = excluded.generation, schema = excluded.schema
            """, [WireValue(name), WireValue(entry.generation), WireValue(entry.schema)])
    }

    /// The next generation. Its schema does not exist yet.
    func next(after entry: Entry?, _ name: String) throws(DataSourceError) -> Entry {
        var generation = (entry?.generation ?? 0) &+ 1
        while true {
            let schema = Identifiers.fitting("\(name) \(generation)")
            if try !isTaken(schema) { return Entry(generation: generation, schema: schema) }
            generation &+= 1
        }
    }

    // MARK: Backups

    /// Keeps a generation as a backup by renaming its schema, or drops the generation. Drops the store's oldest
    /// backups.
    ///
    /// - Parameter count: The number of backups to keep, including this generation; 0 drops all backups and this
    ///   generation.
    /// - Throws: `modelChanged` if a database object of another program would be dropped.
    func retire(
        _ entry: Entry, of name: String, keeping count: Int, isEmpty: Bool = false
    ) throws(DataSourceError) {
        // An empty backup must not replace a backup with objects.
        if count > 0, !isEmpty {
            let backup = try freeBackup(of: name, entry.generation)
            try connection.run("ALTER SCHEMA \(entry.schema.quoted) RENAME TO \(backup.quoted)")
            try GenerationTables(connection, backup).stopRecordingWrites()
            _ = try connection.rows(
                "INSERT INTO \(backups) VALUES ($1, $2, $3)",
                [WireValue(backup), WireValue(name), WireValue(entry.generation)])
        } else {
            try GenerationTables(connection, entry.schema).drop()
        }
        // If a backup was dropped by hand, a store might now use the name of the backup's schema. Keep such a schema.
        let found = try connection.rows(
            """
            SELECT schema, EXISTS (SELECT FROM \(stores) s WHERE s.schema = b.schema) FROM \(backups) b \
            WHERE name = $1 ORDER BY generation DESC
            """, [WireValue(name)])
        for row in 0..<found.rowCount where row >= count {
            let schema = found.text(row, 0)
            if !found.isTrue(row, 1) { try GenerationTables(connection, schema).drop() }
            _ = try connection.rows("DELETE FROM \(backups) WHERE schema = $1", [WireValue(schema)])
        }
    }

    /// Returns an unused name for the schema of a backup. A store whose name ends in "backup" might already use the
    /// usual name.
    private func freeBackup(of name: String, _ generation: Int64) throws(DataSourceError) -> String {
        var number = 1
        while true {
            let suffix = number == 1 ? "" : " (\(number))"
            let schema = Identifiers.fitting("\(name) backup \(generation)\(suffix)")
            if try !isTaken(schema) { return schema }
            number += 1
        }
    }

    private func isTaken(_ schema: String) throws(DataSourceError) -> Bool {
        let found = try connection.rows(
            """
            SELECT 1 FROM pg_namespace WHERE nspname = $1 UNION ALL SELECT 1 FROM \(backups) WHERE schema = $1
            """, [WireValue(schema)])
        return found.rowCount > 0
    }
}

extension Connection {
    /// Runs the body in a transaction. If the body throws, the transaction is rolled back.
    func transaction<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try run("BEGIN")
        do throws(DataSourceError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            if isUsable { try? run("ROLLBACK") }
            throw error
        }
    }
}
#endif
