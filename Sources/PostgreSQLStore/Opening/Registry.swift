#if PostgreSQL
internal import RowStore

/// Which stores a database has, and in which schema the newest generation of each is.
///
/// It is a table of a schema of its own, `coredatasource.stores`. One process at a time opens or resets a store of the
/// database: it holds the gate.
struct Registry {
    let connection: Connection

    struct Entry: Equatable {
        let generation: Int64
        let schema: String
    }

    private static let table = "coredatasource.stores"
    /// An advisory lock of the database.
    private static let gate = "1129271888, 1"

    /// Runs the body while nobody else opens or resets a store of the database.
    func holdingGate<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try connection.run("SELECT pg_advisory_lock(\(Registry.gate))")
        defer { try? connection.run("SELECT pg_advisory_unlock(\(Registry.gate))") }
        return try body()
    }

    private func exists() throws(DataSourceError) -> Bool {
        try connection.rows("SELECT to_regclass('\(Registry.table)') IS NOT NULL").isTrue(0, 0)
    }

    /// Makes the registry if there is none.
    func prepare() throws(DataSourceError) {
        if try exists() { return }
        try connection.transaction { () throws(DataSourceError) in
            try connection.run("CREATE SCHEMA IF NOT EXISTS coredatasource")
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(Registry.table) (name text PRIMARY KEY, generation bigint NOT NULL, \
                schema text NOT NULL)
                """)
        }
    }

    func entry(_ name: String) throws(DataSourceError) -> Entry? {
        let found = try connection.rows(
            "SELECT generation, schema FROM \(Registry.table) WHERE name = $1", [WireValue(name)])
        return found.rowCount == 0 ? nil : Entry(generation: found.integer(0, 0), schema: found.text(0, 1))
    }

    /// The entry of a store, if there is a registry at all.
    func existingEntry(_ name: String) throws(DataSourceError) -> Entry? {
        try exists() ? try entry(name) : nil
    }

    func set(_ entry: Entry, _ name: String) throws(DataSourceError) {
        _ = try connection.rows(
            """
            INSERT INTO \(Registry.table) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET generation = excluded.generation, schema = excluded.schema
            """, [WireValue(name), WireValue(entry.generation), WireValue(entry.schema)])
    }

    /// The generation that comes after another one. No schema of that name is there.
    func next(after entry: Entry?, _ name: String) throws(DataSourceError) -> Entry {
        var generation = (entry?.generation ?? 0) + 1
        while true {
            let schema = Identifiers.fitting("\(name) \(generation)")
            let found = try connection.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [WireValue(schema)])
            if found.rowCount == 0 { return Entry(generation: generation, schema: schema) }
            generation += 1
        }
    }
}

extension Connection {
    /// Runs the body in a transaction. If it throws, nothing of it has happened.
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
