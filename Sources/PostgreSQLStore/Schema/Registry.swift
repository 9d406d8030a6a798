#if PostgreSQL
internal import RowStore

/// The list of a database's stores: the schema of the newest generation of each, and the schemas of backups.
///
/// They are tables in a separate schema, `coredatasource`. Only one process at a time opens, resets or migrates a store.
struct Registry {
    let connection: Connection

    struct Entry: Equatable {
        let generation: Int64
        let schema: String
    }

    private static let stores = "coredatasource.stores"
    private static let backups = "coredatasource.backups"
    /// The first number of the advisory locks of this library in a database; the second one of the registry's is 1.
    private static let lock: Int32 = 1_129_271_888

    /// Runs the body while no other process opens, resets or migrates that store.
    ///
    /// - Throws: `storeBusy` if another one takes long.
    func holding<R>(
        _ store: String, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let number = max(2, Int32(truncatingIfNeeded: Identifiers.hash(store)) & .max)
        return try holding(number, "the store \(store)", body)
    }

    private func holding<R>(
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

    private func exists() throws(DataSourceError) -> Bool {
        try connection.rows(
            "SELECT to_regclass('\(Registry.stores)') IS NOT NULL AND to_regclass('\(Registry.backups)') IS NOT NULL"
        ).isTrue(0, 0)
    }

    /// Makes the registry if there is none.
    func prepare() throws(DataSourceError) {
        if try exists() { return }
        try holding(1, "a store of the database") { () throws(DataSourceError) in try make() }
    }

    private func make() throws(DataSourceError) {
        try connection.transaction { () throws(DataSourceError) in
            try connection.run("CREATE SCHEMA IF NOT EXISTS coredatasource")
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(Registry.stores) (name text PRIMARY KEY, generation bigint NOT NULL, \
                schema text NOT NULL)
                """)
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(Registry.backups) (schema text PRIMARY KEY, name text NOT NULL, \
                generation bigint NOT NULL)
                """)
        }
    }

    func entry(_ name: String) throws(DataSourceError) -> Entry? {
        let found = try connection.rows(
            "SELECT generation, schema FROM \(Registry.stores) WHERE name = $1", [WireValue(name)])
        return found.rowCount == 0 ? nil : Entry(generation: found.integer(0, 0), schema: found.text(0, 1))
    }

    /// The entry of a store, if there is a registry at all.
    func existingEntry(_ name: String) throws(DataSourceError) -> Entry? {
        try exists() ? try entry(name) : nil
    }

    func set(_ entry: Entry, _ name: String) throws(DataSourceError) {
        _ = try connection.rows(
            """
            INSERT INTO \(Registry.stores) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET generation = excluded.generation, schema = excluded.schema
            """, [WireValue(name), WireValue(entry.generation), WireValue(entry.schema)])
    }

    /// The generation after another one, whose schema does not exist yet.
    func next(after entry: Entry?, _ name: String) throws(DataSourceError) -> Entry {
        var generation = (entry?.generation ?? 0) &+ 1
        while true {
            let schema = Identifiers.fitting("\(name) \(generation)")
            if try !isTaken(schema) { return Entry(generation: generation, schema: schema) }
            generation &+= 1
        }
    }

    // MARK: Backups

    /// Sets the schema of a generation aside, and drops the store's oldest backups.
    ///
    /// - Parameter count: How many backups stay, including that one; 0 drops them all.
    /// - Throws: `modelChanged` if others have added something that would be dropped.
    func retire(
        _ entry: Entry, of name: String, keeping count: Int, isEmpty: Bool = false
    ) throws(DataSourceError) {
        // A backup of nothing would take the place of one with objects.
        if count > 0, !isEmpty {
            let backup = try freeBackup(of: name, entry.generation)
            try connection.run("ALTER SCHEMA \(entry.schema.quoted) RENAME TO \(backup.quoted)")
            try GenerationTables(connection, backup).endNotes()
            _ = try connection.rows(
                "INSERT INTO \(Registry.backups) VALUES ($1, $2, $3)",
                [WireValue(backup), WireValue(name), WireValue(entry.generation)])
        } else {
            try GenerationTables(connection, entry.schema).drop()
        }
        // A backup that was dropped by hand may have made room for a store.
        let found = try connection.rows(
            """
            SELECT schema, EXISTS (SELECT FROM \(Registry.stores) s WHERE s.schema = b.schema) FROM \(Registry.backups) b \
            WHERE name = $1 ORDER BY generation DESC
            """, [WireValue(name)])
        for row in 0..<found.rowCount where row >= count {
            let schema = found.text(row, 0)
            if !found.isTrue(row, 1) { try GenerationTables(connection, schema).drop() }
            _ = try connection.rows("DELETE FROM \(Registry.backups) WHERE schema = $1", [WireValue(schema)])
        }
    }

    /// A name for the schema of a backup that no other schema has, such as that of a store whose name ends in "backup".
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
            SELECT 1 FROM pg_namespace WHERE nspname = $1 UNION ALL SELECT 1 FROM \(Registry.backups) WHERE schema = $1
            """, [WireValue(schema)])
        return found.rowCount > 0
    }
}

extension Connection {
    /// Runs the body in a transaction. If it throws, nothing has happened.
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
