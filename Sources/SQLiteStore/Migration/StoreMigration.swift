internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Copies the rows of a store to the tables of another model or format, or drops the rows of some entities, in one transaction.
/// Tables, views and indexes that other programs have added to the file are kept as far as possible.
struct StoreMigration {
    let schema: StoreSchema
    let oldSchema: StoreSchema
    let probe: StoreProbe
    let found: StoreMetadata
    let identity: StoreIdentity
    let statements: MigrationStatements
    private let purpose: MigrationPurpose

    struct Outcome {
        let metadata: StoreMetadata
        let report: MigrationReport
        let dropped: StoreStartup.Dropped
    }

    /// Plans the migration from the store's metadata.
    ///
    /// - Parameter model: The model that the store was made for; nil to read the model from the store.
    /// - Throws: `notMigratable` with the reasons. For a reset, `foreignDatabase` if the model needs a name that a
    ///   table, view or index of another program already has.
    init(
        schema: StoreSchema, probe: StoreProbe, found: StoreMetadata, identity: StoreIdentity,
        purpose: MigrationPurpose, model: ManagedObjectModel? = nil
    ) throws(DataSourceError) {
        self.schema = schema
        self.probe = probe
        self.found = found
        self.identity = identity
        self.purpose = purpose
        let model = if let model { model } else { try found.model() }
        // The statement that checks a condition of a migration can combine all old tables, and SQLite limits the number of
        // tables in one statement. A reset or an upgrade has no conditions.
        guard !purpose.isMigration || model.entities.count <= MigrationStatements.termLimit else {
            throw DataSourceError(
                notMigratable: "The old model has more than \(MigrationStatements.termLimit) entities.")
        }
        oldSchema = try StoreMigration.oldSchema(model, probe, found.format)
        statements = try MigrationStatements(
            from: oldSchema.storedModel, to: schema.storedModel, SQLiteDialect(), for: purpose, found: found.identity,
            wanted: identity)
        try checkNames()
    }

    private func checkNames() throws(DataSourceError) {
        let newNames = Set(schema.namedSQL.map { $0.name.lowercased() })
        let ours = Set(oldSchema.namedSQL.map(\.name))
        let others = probe.contents.filter { !($0.type == "table" && ours.contains($0.name)) }
        guard let other = others.first(where: { newNames.contains($0.name.lowercased()) }) else { return }
        if purpose.isMigration {
            throw DataSourceError(
                notMigratable: "Another program has added \(other.name) to the file, but the new model needs that name."
            )
        }
        throw DataSourceError(
            .foreignDatabase,
            "Another program has added \(other.name) to \(probe.connection.path), but the model needs that name. Rename \(other.name) there."
        )
    }

    /// Returns the schema of the existing tables. Throws if the tables do not match the model.
    private static func oldSchema(
        _ model: ManagedObjectModel, _ probe: StoreProbe, _ format: Int64
    ) throws(DataSourceError) -> StoreSchema {
        let schema = try StoreSchema(model, format: format)
        try probe.check(schema)
        return schema
    }
}

extension StoreMigration {
    private static let maxRowsBetweenReports = 5_000

    /// Runs the migration. If the call throws, the store is unchanged.
    ///
    /// - Throws: `notMigratable` if the rows violate a condition of the migration; otherwise an error of the disk.
    func run(_ progress: ((MigrationProgress) -> Void)?) throws(DataSourceError) -> Outcome {
        let connection = probe.connection
        var metadata = StoreMetadata(
            identity: identity, storeID: found.storeID, firstFreeKey: found.firstFreeKey, modelText: schema.modelText)
        metadata.keepsHistory = found.keepsHistory
        try connection.addMigrationFunctions()
        return try connection.transaction { () throws(DataSourceError) in
            let report = try statements.report(connection)
            let dropped = try statements.dropped(connection)
            // Another program may have added rows, so the keys of new links start after the highest key in the tables.
            metadata.firstFreeKey = KeyBound.checked(
                found.firstFreeKey, highestKey: try connection.highestKey(oldSchema))
            let keys = try move(
                firstKey: metadata.firstFreeKey, MigrationMeter(totalRowCount: report.rowsCarried, report: progress))
            let (next, isOverflow) = metadata.firstFreeKey.addingReportingOverflow(keys)
            metadata.firstFreeKey = isOverflow ? .max : next
            // Forget all scopes: their entity tags would be wrong, because the migration may have dropped rows, and the kept
            // rows may lack new values.
            try connection.run("DROP TABLE IF EXISTS \(ScopeTable.quoted)")
            try connection.run(StoreMetadata.deleteSQL)
            try connection.insert(metadata)
            try recordInHistory()
            // Check before the commit that the next start will accept the tables.
            try StoreProbe(connection).check(schema)
            return Outcome(metadata: metadata, report: report, dropped: dropped)
        }
    }

    /// Records a migration in the history of the store. If rows are reset, or dropped because of a changed key, ends the
    /// history instead, because its records have values of these rows. An upgrade leaves the history unchanged.
    private func recordInHistory() throws(DataSourceError) {
        guard found.keepsHistory else { return }
        do throws(DataSourceError) {
            try writeRecord()
        } catch {
            // The history is damaged. A later step of the opening reports the damage, or drops the history if the options say
            // so. Remove the records already here, because they may have values of the dropped rows.
            guard error.code == .storeCorrupt else { throw error }
            for name in HistoryTables.names { try probe.connection.run("DELETE FROM \(name.quoted)") }
        }
    }

    private func writeRecord() throws(DataSourceError) {
        let keyed = found.identity.entitiesOfOtherKeys(in: identity).sorted()
        if purpose.isMigration, keyed.isEmpty {
            let names = MigratedNames(from: oldSchema.layout.model, to: schema.layout.model)
            try HistoryTables.follow(names, to: schema.layout, probe.connection)
            return try HistoryWriter.note(
                .migration, "The store was migrated to another model.", on: probe.connection, schema.layout)
        }
        if case .upgrade = purpose { return }
        let reason = "Some rows of the store were reset."
        try HistoryTables.end(probe.connection, reason: reason)
        try HistoryWriter.note(.reset, reason, on: probe.connection, schema.layout)
    }

    /// Makes the new tables beside the old tables, fills the new tables, and drops the old tables. Keeps each table whose rows
    /// would not change.
    ///
    /// - Parameter firstKey: The key for the first new link.
    /// - Returns: The number of keys that new links have used.
    private func move(firstKey: Int64, _ meter: MigrationMeter) throws(DataSourceError) -> Int64 {
        let connection = probe.connection
        let views = probe.contents.filter { $0.type == "view" }
        for view in views { try connection.run("DROP VIEW \(view.name.quoted)") }
        var names = Names(reserved: probe.contents.map(\.name) + schema.namedSQL.map(\.name))
        var lookups: [RelationshipName: String] = [:]
        for link in statements.lookedUpLinks { lookups[link] = try names.claim("_links \(lookups.count)").quoted }

        let copies = statements.copies(lookups)
        let kept = Set(
            copies.filter(\.changesNothing).map(\.new.name)
                + statements.new.joins.filter(statements.isKept).map(\.name) + [StoreMetadata.table.quoted])
        var tableNames: [String: String] = [:]
        for name in oldSchema.namedSQL.map(\.name) where !kept.contains(name.quoted) {
            let temporaryName = try names.claim("_old \(tableNames.count)")
            try connection.run("ALTER TABLE \(name.quoted) RENAME TO \(temporaryName.quoted)")
            tableNames[name.quoted] = temporaryName.quoted
        }
        for table in schema.namedSQL where !kept.contains(table.name.quoted) { try connection.run(table.sql) }
        for (link, table) in lookups {
            let index = try names.claim("_linked \(table)").quoted
            for sql in statements.collect(link, into: table, index: index, tableNames) { try connection.run(sql) }
        }
        for copy in copies { try copyRows(copy, from: tableNames[copy.old.name], meter) }
        var keys: Int64 = 0
        for join in statements.new.joins where !kept.contains(join.name) {
            keys += try fill(join, tableNames, firstKey: firstKey + keys)
        }
        for table in tableNames.values.sorted() + lookups.values.sorted() { try connection.run("DROP TABLE \(table)") }
        try makeIndexes()
        try restoreAdditions(views)
        meter.end()
        return keys
    }

    /// Copies the rows of one entity.
    ///
    /// - Parameter table: The table with the old rows, as SQL; nil if the rows stay in their table.
    private func copyRows(_ copy: RowCopy, from table: String?, _ meter: MigrationMeter) throws(DataSourceError) {
        meter.begin(copy.new.layout.name)
        guard let table else {
            return meter.advance(try probe.connection.number("SELECT count(*) FROM \(copy.new.name)"))
        }
        let statement = try probe.connection.prepare(copy.sql(from: table))
        try probe.connection.bind(copy.values, to: statement, from: 3)
        var last = Int64.min
        while true {
            let batch = try probe.connection.copy(
                with: statement, after: last, atMost: StoreMigration.maxRowsBetweenReports)
            guard batch.count > 0 else { return }
            meter.advance(batch.count)
            last = batch.lastKey
        }
    }

    /// Fills a join table.
    ///
    /// - Returns: The number of links in the table.
    private func fill(
        _ join: StoredJoin, _ tableNames: [String: String], firstKey: Int64
    ) throws(DataSourceError) -> Int64 {
        guard let sql = statements.fill(join, tableNames, firstKey: firstKey) else { return 0 }
        try probe.connection.run(sql)
        return Int64(try probe.connection.number("SELECT count(*) FROM \(join.name)"))
    }

    /// Recreates the views and indexes that other programs made, if the tables and columns that they name still exist.
    private func restoreAdditions(_ views: [(type: String, name: String, sql: String)]) throws(DataSourceError) {
        let present = try StoreProbe(probe.connection).indexNames
        let indexes = probe.contents.filter { item in
            item.type == "index" && !item.sql.isEmpty && !present.contains(item.name)
                && !StoreIndex.prefixes.contains { item.name.utf8.starts(with: $0.utf8) }
        }
        for item in views + indexes { try probe.connection.runIfNamesExist(item.sql, item.name) }
    }

    private func makeIndexes() throws(DataSourceError) {
        for sql in schema.indexChanges(try StoreProbe(probe.connection).indexNames) {
            guard try probe.connection.runIfAllowed(sql) else {
                throw DataSourceError(duplicatesInMigration: ())
            }
        }
    }
}
