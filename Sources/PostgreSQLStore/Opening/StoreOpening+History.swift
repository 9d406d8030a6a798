#if PostgreSQL
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// What happens to the history of a generation when the next generation is made.
enum HistoryCarriage {
    case none
    /// The new generation begins a new history.
    case ended(HistoryReader.Ended)
    /// The new generation continues the history of the old schema.
    case moved(from: PostgreSQLSchema, MigratedNames)

    var keepsHistory: Bool { if case .none = self { false } else { true } }
}

extension StoreOpening {
    private func metadata(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> StoreMetadata { try StoreMetadata(rows: schema.metadataRows(connection)) }

    /// The kept history; nil if the store keeps none.
    func history(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> HistoryReader.State? {
        guard try metadata(connection, schema).keepsHistory else { return nil }
        return try HistoryReader(schema, connection).state()
    }

    /// Begins, keeps or drops the history, as the options say.
    ///
    /// - Parameter isNew: Whether the store is new. In any other store, the first record of a new history tells consumers of
    ///   earlier histories to read all objects.
    /// - Returns: The kept history; nil if the store keeps none.
    /// - Throws: `storeInUse`, with the names of the other members, if the history would have to be switched on or off
    ///   while other members have the store open.
    func settleHistory(
        _ connection: Connection, _ schema: PostgreSQLSchema, isNew: Bool
    ) throws(DataSourceError) -> HistoryReader.State? {
        let metadata = try metadata(connection, schema)
        let history = HistoryReader(schema, connection)
        switch options.history.choice {
        case .unchanged: return metadata.keepsHistory ? try history.state() : nil
        case .none:
            guard metadata.keepsHistory else { return nil }
            try switchHistory(connection, schema, to: "opened without its history") { () throws(DataSourceError) in
                try run("DROP TABLE IF EXISTS \(schema.history), \(schema.historyState)", connection)
                try set(metadata, keepsHistory: false, connection, schema)
            }
            return nil
        case .kept(let limits):
            if metadata.keepsHistory {
                // Write the limits into the store, because other members also drop records by these limits.
                if try history.limits() != limits { try history.set(limits) }
                return try history.state()
            }
            try schema.checkHistoryNames()
            try switchHistory(connection, schema, to: "opened with a history") { () throws(DataSourceError) in
                for sql in schema.historySQL { try run(sql, connection) }
                try history.begin(limits, nil)
                if !isNew { try history.record(.reset, StoredRecord.begun) }
                try set(metadata, keepsHistory: true, connection, schema)
            }
            return try history.state()
        }
    }

    /// Runs the body in a transaction, while no member can commit a save.
    ///
    /// A member whose heartbeats have stopped can continue at any moment. Its next commit then notices the switch.
    ///
    /// - Parameter change: The words after "cannot be" in the error message.
    private func switchHistory(
        _ connection: Connection, _ schema: PostgreSQLSchema, to change: String,
        _ body: () throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        let stoppedMembers = try requireNoOtherMember(connection, schema, besides: nil, to: change)
        try connection.transaction { () throws(DataSourceError) in
            let feed = try connection.rows("SELECT id FROM \(schema.qualified(PostgreSQLSchema.feed)) FOR UPDATE")
            guard feed.rowCount == 1 else { throw DataSourceError(damagedSharing: options.name) }
            // A member whose heartbeats had stopped might have continued.
            let living = try Members(connection, schema).changed(from: stoppedMembers, besides: nil)
            try throwIfInUse(living, to: change)
            try body()
        }
    }

    private func set(
        _ metadata: StoreMetadata, keepsHistory: Bool, _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) {
        var metadata = metadata
        metadata.keepsHistory = keepsHistory
        try write(.integer(metadata.storedFormat), as: "format", on: connection, in: schema)
        try run(schema.publishingSQL(keepsHistory, replacing: true), connection)
    }

    private func run(_ sql: String, _ connection: Connection) throws(DataSourceError) {
        _ = try connection.pipeline([Request(sql, isKept: false)])
    }

    // MARK: Scopes

    /// Makes the table of scopes in a store of an earlier release, if the role owns the store.
    func settleScopes(
        _ connection: Connection, _ schema: PostgreSQLSchema, keepsHistory: Bool
    ) throws(DataSourceError) {
        if try connection.rows(schema.scopesExistSQL).isTrue(0, 0) { return }
        guard try IndexBuilding(connection: connection, schema: schema).isAllowed() else { return }
        try connection.transaction { () throws(DataSourceError) in
            for sql in [
                schema.scopesSQL, schema.scopeRightsSQL, schema.publishingSQL(keepsHistory, replacing: true),
            ] {
                _ = try connection.pipeline([Request(sql, isKept: false)])
            }
        }
    }

    // MARK: Generations

    /// The history that a reset ends.
    func ended(
        _ connection: Connection, _ old: PostgreSQLSchema, _ reason: StoreStartup.Reason
    ) throws(DataSourceError) -> HistoryCarriage {
        guard options.history != KeptHistory.none, try metadata(connection, old).keepsHistory else { return .none }
        let summary = reason.summary
        let sentence = summary.isEmpty ? "The store was reset." : "The store was reset, because \(summary)."
        return try ended(connection, old, because: sentence)
    }

    /// - Parameter reason: The reason for the end, as a sentence.
    /// - Returns: `none` if the ended history is damaged, because a damaged history must not prevent a reset.
    private func ended(
        _ connection: Connection, _ old: PostgreSQLSchema, because reason: String
    ) throws(DataSourceError) -> HistoryCarriage {
        do throws(DataSourceError) {
            return .ended(try HistoryReader(old, connection).ended(reason))
        } catch  where error.code == .storeCorrupt {
            return .none
        }
    }

    /// What happens to the history if rows are carried over to a new generation. The history ends if entities are reset, or if
    /// a changed key drops rows: its records have values of these rows.
    func carriage(
        _ connection: Connection, of old: PostgreSQLSchema, _ found: StoreMetadata, _ purpose: MigrationPurpose
    ) throws(DataSourceError) -> HistoryCarriage {
        // Do not read a history that will be dropped, because it may be damaged.
        guard found.keepsHistory, options.history != KeptHistory.none else { return .none }
        let keyed = found.identity.entitiesOfOtherKeys(in: options.identity.completed(by: found))
        if purpose.isMigration, keyed.isEmpty {
            return .moved(from: old, MigratedNames(from: try found.model(), to: options.layout.model))
        }
        return try ended(connection, old, because: "Some rows of the store were reset.")
    }

    /// Makes the tables of the history of a new generation. Must run in the transaction that makes the generation.
    func carry(
        _ history: HistoryCarriage, _ connection: Connection, to schema: PostgreSQLSchema
    ) throws(DataSourceError) {
        let reader = HistoryReader(schema, connection)
        switch history {
        case .none: return
        case .ended(let ended):
            try schema.checkHistoryNames()
            for sql in schema.historySQL { try run(sql, connection) }
            try reader.begin(ended.limits, ended)
        case .moved(let old, let names):
            try schema.checkHistoryNames()
            for table in [old.history, old.historyState] {
                try run("ALTER TABLE \(table) SET SCHEMA \(schema.name.quoted)", connection)
            }
            try reader.follow(names)
            try reader.record(.migration, "The store was migrated to another model.")
        }
    }
}
#endif
