#if PostgreSQL
internal import Foundation
internal import ManagedModel
internal import RowStore

/// Opens a store: looks, decides, and only then writes.
struct StoreOpening {
    struct Result {
        let connection: Connection
        let schema: PostgreSQLSchema
        let entry: Registry.Entry
        let member: StoreMember
        let position: Int64
        let startup: StoreStartup
    }

    let options: PostgreSQLStore.Options

    func run() throws(DataSourceError) -> sending Result {
        let connection = try Connection(options.target)
        try requirePrimary(connection)
        let registry = Registry(connection: connection)
        return try registry.holdingGate { () throws(DataSourceError) in
            try registry.prepare()
            let found = try registry.entry(options.name)
            let (entry, startup) = try decide(registry, found)
            let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
            if startup.reason == .current { try update(connection, schema) }
            try settleWriter(connection)
            let (member, position) = try join(connection, schema)
            return Result(
                connection: connection, schema: schema, entry: entry, member: member, position: position,
                startup: startup)
        }
    }

    /// Sets what a connection needs that writes.
    func settleWriter(_ connection: Connection) throws(DataSourceError) {
        try connection.run("SET synchronous_commit = \(options.synchronous == .full ? "on" : "off")")
        try connection.run("SET coredatasource.member = 'on'")
        connection.tracing = options.tracing
    }

    private func requirePrimary(_ connection: Connection) throws(DataSourceError) {
        guard try connection.rows("SELECT pg_is_in_recovery()").isTrue(0, 0) else { return }
        throw DataSourceError(
            .storeReadOnly, "The server is a standby, which only takes reads. Connect to the primary server.")
    }

    // MARK: Deciding

    private func decide(
        _ registry: Registry, _ found: Registry.Entry?
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        guard let found else { return (try create(registry, nil), StoreStartup(reason: .firstLaunch)) }
        let connection = registry.connection
        let old = try PostgreSQLSchema(options.layout, name: found.schema)
        // What would lose the rows of others is never done by default.
        let policy = options.resetPolicy.withoutMigration == .standard ? ResetPolicy.fail : options.resetPolicy
        let rows = try old.metadataRows(connection)
        let decision: StartupDecision
        do throws(DataSourceError) {
            decision = try StartupDecision(.metadata(rows), options.identity, policy)
        } catch  where error.code == .modelChanged {
            throw DataSourceError(
                .modelChanged,
                "The store was made for another model or database key. Open it with the reset policy .discard or "
                    + ".backup(keep:) to start over once nobody has it open, or with an app that has the old model.",
                cause: try [error.cause, describeOthers(connection, old)].compactMap(\.self).joined(separator: "; ")
            )
        }
        switch decision {
        case .create, .proceed: return (found, StoreStartup(reason: .current))
        case .migrate, .resetEntities:
            throw DataSourceError(
                .modelChanged,
                "The store was made for another model or database key, and the rows of a store on a server cannot be carried "
                    + "over yet. Open it with the reset policy .discard or .backup(keep:) to start over.")
        case .reset(let reason, let fallback):
            var startup = StoreStartup(reason: reason, fallback: fallback)
            startup.rowsDropped = try count(connection, found)
            return (try replace(registry, found, reason), startup)
        }
    }

    private func describeOthers(_ connection: Connection, _ schema: PostgreSQLSchema) throws(DataSourceError)
        -> String?
    {
        let others = try Members(connection, schema).alive()
        return others.isEmpty ? nil : "it is open in " + others.map(\.description).joined(separator: ", ")
    }

    /// How many objects a generation has, of whatever model.
    func count(_ connection: Connection, _ entry: Registry.Entry) throws(DataSourceError) -> Int {
        let tables = try connection.rows(
            """
            SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relkind = 'r' AND NOT starts_with(c.relname, '_')
            """, [WireValue(entry.schema)])
        var count = 0
        for row in 0..<tables.rowCount {
            let table = entry.schema.quoted + "." + tables.text(row, 0).quoted
            count += Int(try connection.rows("SELECT count(*) FROM \(table)").integer(0, 0))
        }
        return count
    }

    // MARK: Making and replacing

    /// Makes an empty generation, and lets the registry name it.
    private func create(
        _ registry: Registry, _ old: Registry.Entry?, firstFreeKey: Int64 = 1,
        _ body: () throws(DataSourceError) -> Void = {}
    ) throws(DataSourceError) -> Registry.Entry {
        let entry = try registry.next(after: old, options.name)
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        let connection = registry.connection
        let metadata = Metadata(
            new: options.identity, firstFreeKey: firstFreeKey, modelText: options.layout.model.storedText)
        try connection.transaction { () throws(DataSourceError) in
            for sql in schema.createSQL { _ = try connection.pipeline([Request(sql, isKept: false)]) }
            _ = try connection.rows(
                "INSERT INTO \(schema.term(PostgreSQLSchema.keys)) VALUES (1, $1)", [WireValue(firstFreeKey)])
            for (name, value) in metadata.rows.sorted(by: { $0.key < $1.key }) {
                try write(value, name, connection, schema)
            }
            try registry.set(entry, options.name)
            try body()
        }
        return entry
    }

    private func write(
        _ value: RowValue, _ name: String, _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) {
        let number: WireValue = if case .integer = value { WireValue(value) } else { .null }
        let text: WireValue = if case .text = value { WireValue(value) } else { .null }
        _ = try connection.rows(
            """
            INSERT INTO \(schema.term(PostgreSQLSchema.metadata)) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET number = excluded.number, text = excluded.text
            """, [WireValue(name), number, text])
    }

    /// Puts an empty generation in the place of one, in one transaction: the old one becomes a backup, or goes.
    ///
    /// - Throws: `storeInUse`, which names them, if others have the store open.
    func replace(
        _ registry: Registry, _ old: Registry.Entry, _ reason: StoreStartup.Reason, besides own: Int64? = nil
    ) throws(DataSourceError) -> Registry.Entry {
        let connection = registry.connection
        let schema = try PostgreSQLSchema(options.layout, name: old.schema)
        let others = try Members(connection, schema).alive().filter { $0.number != own }
        guard others.isEmpty else {
            throw DataSourceError(
                .storeInUse,
                "The store \(options.name) cannot be reset while others have it open: "
                    + others.map(\.description).joined(separator: ", ") + ". Close it there, and try again.")
        }
        let next = try connection.rows("SELECT next FROM \(schema.term(PostgreSQLSchema.keys))")
        let keep = options.resetPolicy.withoutMigration.backupCount(reason) ?? 0
        return try create(registry, old, firstFreeKey: max(1, next.integer(0, 0))) { () throws(DataSourceError) in
            if keep > 0 {
                let time = ISO8601DateFormatter().string(from: Date())
                let backup = Identifiers.fitting("\(backupPrefix)\(time) \(old.generation)")
                try connection.run("ALTER SCHEMA \(old.schema.quoted) RENAME TO \(backup.quoted)")
            } else {
                try connection.run("DROP SCHEMA \(old.schema.quoted) CASCADE")
            }
            try removeBackups(connection, keep: keep)
        }
    }

    private var backupPrefix: String { "\(options.name) backup " }

    private func removeBackups(_ connection: Connection, keep: Int) throws(DataSourceError) {
        let found = try connection.rows(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1) ORDER BY nspname DESC",
            [WireValue(backupPrefix)])
        for row in 0..<found.rowCount where row >= max(keep, 0) {
            try connection.run("DROP SCHEMA \(found.text(row, 0).quoted) CASCADE")
        }
    }

    /// Makes the indexes that the model has and drops those that it no longer has. They are not part of the hash.
    private func update(_ connection: Connection, _ schema: PostgreSQLSchema) throws(DataSourceError) {
        let found = try connection.rows(
            "SELECT indexname FROM pg_indexes WHERE schemaname = $1 AND starts_with(indexname, '_index ')",
            [WireValue(schema.name)])
        let present = Set((0..<found.rowCount).map { found.text($0, 0) })
        let wanted = schema.tables.compactMap(\.self).flatMap(\.indexes)
        let superfluous = present.subtracting(wanted.map(\.name))
        for name in superfluous.sorted() {
            try connection.run("DROP INDEX IF EXISTS \(schema.name.quoted).\(name.quoted)")
        }
        for index in wanted where !present.contains(index.name) {
            _ = try connection.pipeline([Request(index.createSQL, isKept: false)])
        }
        let text = options.layout.model.storedText
        try write(.text(text), Metadata.modelName, connection, schema)
    }

    // MARK: Joining

    /// What a member works with who has put a new generation in the place of the one that it had.
    func rejoin(
        _ connection: Connection, _ entry: Registry.Entry, _ member: StoreMember
    ) throws(DataSourceError) -> Result {
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        try connection.transaction { () throws(DataSourceError) in
            _ = try connection.rows(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET members = $1", [WireValue(member.number)])
            try Members(connection, schema).add(member)
        }
        return Result(
            connection: connection, schema: schema, entry: entry, member: member, position: 0,
            startup: StoreStartup(reason: .requested))
    }

    private func join(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> (StoreMember, Int64) {
        try connection.transaction { () throws(DataSourceError) in
            let joined = try connection.rows(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET members = members + 1 RETURNING members, position"
            )
            guard joined.rowCount == 1 else { throw DataSourceError(damagedSharing: options.name) }
            let member = StoreMember(
                number: joined.integer(0, 0), processID: getpid(),
                name: "\(ProcessInfo.processInfo.processName)@\(ProcessInfo.processInfo.hostName)")
            try Members(connection, schema).add(member)
            return (member, joined.integer(0, 1))
        }
    }
}

extension DataSourceError {
    init(damagedSharing name: String) {
        self.init(
            .storeCorrupt,
            "The tables by which processes share the store \(name) are not as this library made them. Close the store "
                + "everywhere, and open it with the reset policy .discard.")
    }
}
#endif
