#if PostgreSQL
internal import Foundation
internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Opens a store: inspects the store, decides what to do, and then writes.
struct StoreOpening {
    struct Result {
        let connection: Connection
        let schema: PostgreSQLSchema
        let entry: Registry.Entry
        let membership: Membership
        let position: Int64
        let startup: StoreStartup
        /// The kept history; nil if the store keeps none.
        var history: HistoryReader.State?
    }

    let options: PostgreSQLOptions

    func run() throws(DataSourceError) -> sending Result {
        try checkName()
        let connection = try Connection(options.target)
        // Set no limit for responses, because counting large tables and building indexes can take a long time.
        connection.responseTimeout = nil
        defer { connection.responseTimeout = options.responseTimeout }
        try requirePrimary(connection)
        try configureWriter(connection, idleLimit: .seconds(60))
        let registry = try Registry(connection)
        var pendingIndexes: IndexBuilding?
        while true {
            let result = try registry.withLock(options.name) { () throws(DataSourceError) in
                try open(registry, &pendingIndexes)
            }
            if let result { return result }
            try pendingIndexes?.buildConcurrently()
        }
    }

    /// - Parameter pendingIndexes: On entry, the indexes that were built since the last call; nil if there was no build. On
    ///   return, the indexes to build before the next call.
    /// - Returns: Nil if indexes must be built first, while the store is not locked.
    private func open(
        _ registry: Registry, _ pendingIndexes: inout IndexBuilding?
    ) throws(DataSourceError) -> Result? {
        let connection = registry.connection
        let registry = try registry.prepared()
        let found = try registry.entry(options.name)
        let (entry, startup) = try decide(registry, found)
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        if startup.reason == .current {
            try schema.checkTables(connection, options.name)
            let indexes = IndexBuilding(connection: connection, schema: schema)
            // A role without the right to build indexes uses the indexes that the store's owner has built.
            if try !indexes.isAllowed() {
                pendingIndexes = nil
            } else if try Members(connection, schema).reports(besides: nil).isEmpty {
                try indexes.updateAlone()
            } else if pendingIndexes?.schema.name != schema.name, try !indexes.missing().isEmpty {
                pendingIndexes = indexes
                return nil
            }
            try write(
                .text(options.layout.model.storedText), as: StoreMetadata.modelRowName, on: connection, in: schema)
        }
        let history = try settleHistory(connection, schema, isNew: startup.reason == .firstLaunch)
        try settleScopes(connection, schema, keepsHistory: history != nil)
        try configureWriter(connection)
        connection.tracing = options.tracing
        let (membership, position) = try join(connection, schema)
        return Result(
            connection: connection, schema: schema, entry: entry, membership: membership, position: position,
            startup: startup, history: history)
    }

    private func checkName() throws(DataSourceError) {
        guard
            options.name.isEmpty || options.name.hasPrefix("pg_") || options.name.contains("$")
                || options.name.utf8.contains(0)
        else { return }
        throw DataSourceError(
            .invalidRequest,
            "A store cannot have the name \"\(options.name)\": a name must not be empty, begin with pg_, or contain $ or U+0000. Choose another name."
        )
    }

    /// Sets up a writing connection.
    ///
    /// A client that stops in the middle of a transaction, or loses its network, blocks other members only for the idle
    /// limit.
    ///
    /// - Parameter idleLimit: The longest idle time in the middle of a transaction.
    func configureWriter(
        _ connection: Connection, idleLimit: Duration = .seconds(5)
    ) throws(DataSourceError) {
        let settings = [
            "idle_in_transaction_session_timeout": "\(idleLimit / .milliseconds(1))", "tcp_keepalives_idle": "5",
            "tcp_keepalives_interval": "2",
            "tcp_keepalives_count": "3", "tcp_user_timeout": "10000", "coredatasource.member": "'on'",
            "synchronous_commit": options.synchronous == .full ? "on" : "off",
        ]
        _ = try connection.pipeline(settings.map { Request("SET \($0) = \($1)", isKept: false) })
    }

    private func requirePrimary(_ connection: Connection) throws(DataSourceError) {
        guard try connection.rows("SELECT pg_is_in_recovery()").isTrue(0, 0) else { return }
        throw DataSourceError(
            .storeReadOnly, "The server is a standby, which accepts only reads. Connect to the primary server.")
    }

    // MARK: Making and replacing

    /// The number of objects in a generation, whatever its model is.
    func count(_ connection: Connection, _ entry: Registry.Entry) throws(DataSourceError) -> Int {
        try GenerationTables(connection, entry.schema).count()
    }

    /// Makes a generation, and enters it in the registry.
    ///
    /// - Parameters:
    ///   - storeID: The ID of the store whose rows the generation gets; nil for a new ID.
    ///   - body: Called when the tables exist and are empty.
    func create(
        _ registry: Registry, _ old: Registry.Entry?, firstFreeKey: Int64 = 1, storeID: String? = nil,
        history: HistoryCarriage = .none, _ body: (PostgreSQLSchema) throws(DataSourceError) -> Void
    ) throws(DataSourceError) -> Registry.Entry {
        let entry = try registry.next(after: old, options.name)
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        let connection = registry.connection
        let found = try old.map { old throws(DataSourceError) in
            FoundStore.metadata(try PostgreSQLSchema(named: old.schema).metadataRows(connection))
        }
        let identity = options.identity.completed(by: found.flatMap(StoreMetadata.metadata))
        var metadata = StoreMetadata(
            new: identity, firstFreeKey: firstFreeKey, modelText: options.layout.model.storedText)
        if let storeID { metadata.storeID = storeID }
        metadata.keepsHistory = history.keepsHistory
        try connection.transaction { () throws(DataSourceError) in
            for sql in schema.tableSQL { _ = try connection.pipeline([Request(sql, isKept: false)]) }
            _ = try connection.rows(
                "INSERT INTO \(schema.qualified(PostgreSQLSchema.keys)) VALUES (1, $1)", [WireValue(firstFreeKey)])
            for (name, value) in metadata.rows.sorted(by: { $0.key < $1.key }) {
                try write(value, as: name, on: connection, in: schema)
            }
            try registry.set(entry, options.name)
            try carry(history, connection, to: schema)
            try body(schema)
            for sql in schema.completionSQL(keepsHistory: history.keepsHistory) {
                _ = try connection.pipeline([Request(sql, isKept: false)])
            }
        }
        return entry
    }

    func write(
        _ value: RowValue, as name: String, on connection: Connection, in schema: PostgreSQLSchema
    ) throws(DataSourceError) {
        let number: WireValue = if case .integer = value { WireValue(value) } else { .null }
        let text: WireValue = if case .text = value { WireValue(value) } else { .null }
        _ = try connection.rows(
            """
            INSERT INTO \(schema.qualified(PostgreSQLSchema.metadata)) VALUES ($1, $2, $3) \
            ON CONFLICT (name) DO UPDATE SET number = excluded.number, text = excluded.text
            """, [WireValue(name), number, text])
    }

    /// Replaces a generation with an empty one, in one transaction. The old generation is kept as a backup, or is dropped.
    /// - Throws: `storeInUse`, which names the members, if other members have the store open; `modelChanged` if a database
    ///   object of another program would be dropped.
    func replace(
        _ registry: Registry, _ old: Registry.Entry, _ reason: StoreStartup.Reason, besides own: Membership? = nil
    ) throws(DataSourceError) -> Registry.Entry {
        let connection = registry.connection
        let schema = try PostgreSQLSchema(named: old.schema)
        try requireNoOtherMember(connection, schema, besides: own)
        let firstFreeKey = try firstFreeKey(connection, schema)
        let keep = options.resetPolicy.withoutMigration.backupCount(reason) ?? 0
        let isEmpty = keep > 0 ? try GenerationTables(connection, old.schema).isEmpty() : true
        let history = try ended(connection, schema, reason)
        return try create(registry, old, firstFreeKey: firstFreeKey, history: history) { new throws(DataSourceError) in
            try registry.retire(old, of: options.name, keeping: keep, isEmpty: isEmpty)
            if let own { try rejoin(connection, new, own) }
        }
    }

    /// Finds out whether other members have the store open, which can take some seconds. Ends the open transactions of
    /// members that stopped without leaving the store.
    ///
    /// - Parameter change: The words after "cannot be" in the error message.
    /// - Returns: The last reports of the members that stopped without leaving the store.
    /// - Throws: `storeInUse`, which names the members, if other members have the store open.
    @discardableResult
    func requireNoOtherMember(
        _ connection: Connection, _ schema: PostgreSQLSchema, besides own: Membership?,
        to change: String = StoreOpening.replacement
    ) throws(DataSourceError) -> [Int64: Int64] {
        let members = Members(connection, schema)
        let (living, stoppedMembers) = try members.living(besides: own?.member.number, options.wait)
        try throwIfInUse(living, to: change)
        for number in stoppedMembers.keys.sorted() {
            try connection.transaction { () throws(DataSourceError) in try members.endTransactions(of: number) }
        }
        return stoppedMembers
    }

    /// - Throws: `storeInUse`, which names the members, if there are other members.
    func throwIfInUse(_ others: [StoreMember], to change: String = StoreOpening.replacement) throws(DataSourceError) {
        if others.isEmpty { return }
        throw DataSourceError("The store \(options.name)", openIn: others, cannotBe: change)
    }

    private static let replacement = "reset or migrated"

    func firstFreeKey(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> Int64 {
        max(1, try connection.rows("SELECT next FROM \(schema.qualified(PostgreSQLSchema.keys))").integer(0, 0))
    }

    // MARK: Joining

    /// Makes this member, which has replaced a generation, the only member of the new generation. The member keeps its number.
    private func rejoin(
        _ connection: Connection, _ schema: PostgreSQLSchema, _ own: Membership
    ) throws(DataSourceError) {
        _ = try connection.rows(
            "UPDATE \(schema.qualified(PostgreSQLSchema.feed)) SET members = $1", [WireValue(own.member.number)])
        try Members(connection, schema).add(own)
    }

    /// The state of this member after it has replaced a generation.
    func rejoined(
        _ connection: Connection, _ entry: Registry.Entry, _ own: Membership
    ) throws(DataSourceError) -> Result {
        let schema = try PostgreSQLSchema(options.layout, name: entry.schema)
        try Members(connection, schema).mark(own)
        return Result(
            connection: connection, schema: schema, entry: entry, membership: own, position: 0,
            startup: StoreStartup(reason: .requested), history: try history(connection, schema))
    }

    private func join(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> (Membership, Int64) {
        try Members(connection, schema).forgetOld()
        return try connection.transaction { () throws(DataSourceError) in
            // Commit durably, so that no other member ever gets the same number.
            try connection.run("SET LOCAL synchronous_commit = on")
            let joined = try connection.rows(
                """
                UPDATE \(schema.qualified(PostgreSQLSchema.feed)) SET members = members + 1 RETURNING members, \(schema.position)
                """)
            guard joined.rowCount == 1 else { throw DataSourceError(damagedSharing: options.name) }
            let member = StoreMember(
                number: joined.integer(0, 0), processID: getpid(),
                name: "\(options.memberName)@\(ProcessInfo.processInfo.hostName)")
            let membership = Membership(member)
            try Members(connection, schema).add(membership)
            try Members(connection, schema).mark(membership)
            return (membership, joined.integer(0, 1))
        }
    }
}

/// Decides what to do with the current generation.
extension StoreOpening {
    /// Makes a generation, keeps the current generation, or replaces it.
    func decide(
        _ registry: Registry, _ found: Registry.Entry?
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        guard let found else {
            return (try create(registry, nil) { _ in }, StoreStartup(reason: .firstLaunch))
        }
        let rows = try PostgreSQLSchema(named: found.schema).metadataRows(registry.connection)
        let decision: StartupDecision
        do throws(DataSourceError) {
            decision = try StartupDecision(.metadata(rows), options.identity, policy, restart: Self.restart)
        } catch  where error.code == .modelChanged {
            throw try errorNamingMembers(error, in: registry, found: found)
        }
        do throws(DataSourceError) {
            return try follow(decision, registry, found)
        } catch  where error.code == .notMigratable {
            return try fallBack(from: decision, rows: rows, cause: error.message, in: registry, found: found)
        }
    }

    /// The default policy never drops a store, because other users can share the store.
    private var policy: ResetPolicy {
        options.resetPolicy.withoutMigration == .standard ? options.resetPolicy.failing : options.resetPolicy
    }

    private func follow(
        _ decision: StartupDecision, _ registry: Registry, _ found: Registry.Entry
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        switch decision {
        case .create, .proceed:
            return (found, StoreStartup(reason: .current))
        case .migrate(let reason, let metadata):
            var (entry, startup) = try migrateGeneration(
                in: registry, from: found, metadata: metadata, reason: reason,
                .migration(dropsByKey: true, mayLoseData: policy.mayLoseData))
            let keyed = reason.entitiesWithChangedKey
            startup.entitiesReset = keyed.isEmpty ? nil : keyed
            return (entry, startup)
        case .resetEntities(let dropped, let reason, let metadata):
            var (entry, startup) = try migrateGeneration(
                in: registry, from: found, metadata: metadata, reason: reason, .reset(of: dropped))
            startup.entitiesReset = dropped.filter { options.layout.entity(named: $0)?.isAbstract != true }.sorted()
            return (entry, startup)
        case .reset(let reason, let fallback):
            var startup = StoreStartup(reason: reason, fallback: fallback)
            startup.rowsDropped = try count(registry.connection, found)
            return (try replace(registry, found, reason), startup)
        }
    }

    /// Applies the reset policy if rows cannot be carried over to a new generation. If a reset of some entities cannot
    /// keep the rows of the other entities, the whole store is reset.
    private func fallBack(
        from failed: StartupDecision, rows: [String: RowValue], cause: String, in registry: Registry,
        found: Registry.Entry
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        if case .resetEntities(_, let reason, _) = failed {
            return try follow(.reset(reason, fallback: cause), registry, found)
        }
        let decision: StartupDecision
        do throws(DataSourceError) {
            decision = try StartupDecision(
                .metadata(rows), options.identity, policy.withoutMigration, obstacle: cause, restart: Self.restart)
        } catch  where error.code == .modelChanged {
            throw try errorNamingMembers(error, in: registry, found: found)
        }
        do throws(DataSourceError) {
            var (entry, startup) = try follow(decision, registry, found)
            startup.fallback = [cause, startup.fallback].compactMap(\.self).joined(separator: " ")
            return (entry, startup)
        } catch  where error.code == .notMigratable {
            return try fallBack(
                from: decision, rows: rows, cause: "\(cause) \(error.message)", in: registry, found: found)
        }
    }

    /// The policies that reset a store on a server. The default policy keeps the store.
    private static let restart = ".discard or .backup(keep:)"

    /// The error for a policy that keeps the store. The error names the processes that have the store open.
    private func errorNamingMembers(
        _ error: DataSourceError, in registry: Registry, found: Registry.Entry
    ) throws(DataSourceError) -> DataSourceError {
        let others = try Members(registry.connection, PostgreSQLSchema(named: found.schema)).recent()
        if others.isEmpty { return error }
        let occupants = "the store is open in " + others.map(\.description).joined(separator: ", ")
        return DataSourceError(
            .modelChanged, error.message + " Close the store in every process first.",
            cause: [error.cause, occupants].compactMap(\.self).joined(separator: "; "))
    }

    /// In one transaction, makes a generation with the tables of the current model, carries the rows over, and retires the old
    /// generation.
    ///
    /// - Parameter purpose: A migration drops the old generation. For a reset, the policy decides whether the old generation is
    ///   kept.
    /// - Throws: `notMigratable`; `storeInUse`, which names the members, if other members have the store open; `storeBusy` if
    ///   another program has locked the tables; `modelChanged` if a database object of another program depends on the tables.
    private func migrateGeneration(
        in registry: Registry, from old: Registry.Entry, metadata found: StoreMetadata, reason: StoreStartup.Reason,
        _ purpose: MigrationPurpose
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        let connection = registry.connection
        let schema = try PostgreSQLSchema(named: old.schema)
        let next = try registry.next(after: old, options.name)
        let migration = try GenerationMigration(
            connection, found, from: old, to: PostgreSQLSchema(options.layout, name: next.schema),
            wanted: options.identity.completed(by: found), purpose: purpose)
        let stoppedMembers = try requireNoOtherMember(connection, schema, besides: nil)
        let firstFreeKey = try firstFreeKey(connection, schema)
        let keep = purpose.isMigration ? 0 : options.resetPolicy.withoutMigration.backupCount(reason) ?? 0
        var startup = StoreStartup(reason: reason)
        let history = try carriage(connection, of: schema, found, purpose)
        let entry = try create(
            registry, old, firstFreeKey: firstFreeKey, storeID: found.storeID, history: history
        ) { new throws(DataSourceError) in
            try migration.lock()
            // A member whose heartbeats had stopped might have continued.
            try throwIfInUse(Members(connection, schema).changed(from: stoppedMembers, besides: nil))
            let outcome = try migration.run(options.migrationProgress)
            (startup.rowsDropped, startup.dropped) = (outcome.dropped.objectCount, outcome.dropped)
            if purpose.isMigration { startup.migration = outcome.report }
            _ = try connection.rows(
                "UPDATE \(new.qualified(PostgreSQLSchema.keys)) SET next = $1", [WireValue(outcome.firstFreeKey)])
            if keep > 0 { try registry.retire(old, of: options.name, keeping: keep) } else { try migration.dropOld() }
        }
        return (entry, startup)
    }
}
#endif
