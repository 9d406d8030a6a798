#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Carries over the rows of one generation of a store to the next generation, which has the tables of another model.
///
/// The migration is a part of the transaction that makes the new generation and ends the old one.
struct GenerationMigration {
    private let connection: Connection
    private let old: PostgreSQLSchema
    private let new: PostgreSQLSchema
    private let statements: MigrationStatements

    struct Outcome {
        let report: MigrationReport
        let dropped: StoreStartup.Dropped
        /// The key of the next new row. The key is higher than the keys of all rows.
        let firstFreeKey: Int64
    }

    /// The number of rows to copy between two progress reports.
    private static let batchSize: Int64 = 10_000
    /// The largest numbers of rows, and of bytes of strings, to read at a time when strings are derived.
    private static let (derivedRows, derivedBytes): (Int64, Int64) = (2_000, 4 << 20)

    /// Plans the migration from the store's metadata.
    ///
    /// - Parameters:
    ///   - new: The schema of the next generation, which need not exist yet.
    ///   - wanted: The identity of the next generation: the hashes of its model, the database key, and the keys of the data
    ///     sources.
    /// - Throws: `notMigratable`, with the reason as its message. `storeCorrupt` if the store is damaged, because a damaged
    ///   store must not be reset.
    init(
        _ connection: Connection, _ found: StoreMetadata, from entry: Registry.Entry, to new: PostgreSQLSchema,
        wanted: StoreIdentity, purpose: MigrationPurpose
    ) throws(DataSourceError) {
        self.connection = connection
        self.new = new
        let model = try found.model()
        old = try PostgreSQLSchema(ModelLayout(model), name: entry.schema)
        try old.checkTables(connection, entry.schema)
        statements = try MigrationStatements(
            from: old.storedModel, to: new.storedModel, PostgreSQLDialect(), for: purpose, found: found.identity,
            wanted: wanted)
    }

    /// Returns what the migration will do, without changing anything.
    func report() throws(DataSourceError) -> MigrationReport { try statements.report(connection) }

    /// Locks the old tables until the transaction ends. Writes of other programs would be lost without the lock.
    ///
    /// - Throws: `storeBusy` if a transaction keeps the tables locked for too long.
    func lock() throws(DataSourceError) {
        try run("SET LOCAL lock_timeout = '10s'")
        // Lock the feed first, as readers do. This order rules out deadlocks with readers.
        let shared = [PostgreSQLSchema.feed, PostgreSQLSchema.keys, PostgreSQLSchema.members].map(old.qualified)
        let tables = shared + old.tables.compactMap { $0?.name }
        try run("LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
    }

    /// Fills the empty tables of the new generation.
    ///
    /// - Throws: `notMigratable` if the rows do not fit the new model.
    func run(_ progress: ((MigrationProgress) -> Void)?) throws(DataSourceError) -> Outcome {
        do throws(DataSourceError) {
            return try fill(progress)
        } catch  where error.code == .uniquenessViolated {
            throw DataSourceError(duplicatesInMigration: ())
        } catch  where error.code == .valueTooLarge {
            throw DataSourceError(notMigratable: error.message)
        }
    }

    private func fill(_ progress: ((MigrationProgress) -> Void)?) throws(DataSourceError) -> Outcome {
        let report = try report()
        var key = try run("SELECT \(old.firstFreeKey) FROM \(old.qualified(PostgreSQLSchema.keys))").integer(0, 0)
        let dropped = try statements.dropped(connection)
        let meter = MigrationMeter(totalRowCount: report.rowsCarried, report: progress)
        var lookups: [RelationshipName: String] = [:]
        for (number, link) in statements.lookedUpLinks.enumerated() {
            let table = new.qualified("_migrated links \(number)")
            lookups[link] = table
            let index = "_migrated index \(number)".quoted
            for sql in statements.collect(link, into: table, index: index) { try run(sql) }
        }
        let copies = statements.copies(lookups)
        for copy in copies { try copyRows(copy, meter) }
        for condition in statements.derivedConditions(copies) where try run(condition.sql).rowCount > 0 {
            throw DataSourceError(notMigratable: condition.problem)
        }
        for join in statements.new.joins {
            guard let sql = statements.fill(join, firstKey: key) else { continue }
            guard key <= GenerationMigration.highestKey else {
                throw DataSourceError(notMigratable: "No keys are left for the links of \(join.relationship.name).")
            }
            key += Int64(try run(sql).changedRows)
        }
        for table in lookups.values { try run("DROP TABLE \(table)") }
        try run("SET CONSTRAINTS ALL IMMEDIATE")
        meter.end()
        return Outcome(report: report, dropped: dropped, firstFreeKey: key)
    }

    /// The highest key that leaves enough keys for any number of links.
    private static let highestKey = Int64(1) << 62

    /// Drops the old generation.
    ///
    /// - Throws: `modelChanged` if a database object of another program depends on the generation. A migration must not destroy
    ///   such an object.
    func dropOld() throws(DataSourceError) { try GenerationTables(connection, old.name).drop() }

    /// Runs a statement that is used only once.
    @discardableResult
    private func run(_ sql: String, _ values: [WireValue] = []) throws(DataSourceError) -> QueryResult {
        try connection.pipeline([Request(sql, values, isKept: false)])[0]
    }

    private func copyRows(_ copy: RowCopy, _ meter: MigrationMeter) throws(DataSourceError) {
        meter.begin(copy.new.layout.name)
        let sql =
            "WITH moved AS (\(copy.sql(from: copy.old.name)) RETURNING \(StoredTable.key)) "
            + "SELECT count(*), max(\(StoredTable.key)) FROM moved"
        let values = copy.values.map { WireValue($0) }
        var last = Int64.min
        while true {
            let moved = try run(sql, [WireValue(last), WireValue(GenerationMigration.batchSize)] + values)
            guard moved.integer(0, 0) > 0 else { break }
            meter.advance(Int(moved.integer(0, 0)))
            last = moved.integer(0, 1)
        }
        if !copy.missingStrings.isEmpty { try deriveStrings(copy) }
    }

    /// Writes the strings that are derived from other strings.
    private func deriveStrings(_ copy: RowCopy) throws(DataSourceError) {
        let table = try new.table(copy.new.layout.index)
        let strings = copy.missingStrings.sorted { $0.key < $1.key }
        let sql = sourceSQL(strings.map { copy.new.expressions[$0.value.source] }, copy.new.name)
        var last = Int64.min
        while true {
            let found = try run(sql, [WireValue(last), WireValue(GenerationMigration.derivedRows)])
            guard found.rowCount > 0 else { return }
            let keys = (0..<found.rowCount).map { found.integer($0, 0) }
            var values = [WireValue(keys)]
            for (column, string) in strings.enumerated() {
                var derived = WireBuffer(.text, count: keys.count)
                for row in keys.indices {
                    if found.isNull(row, column + 1) {
                        derived.appendNull()
                    } else {
                        var text = string.value.change(found.text(row, column + 1))
                        text.withUTF8 { derived.append(UnsafeRawBufferPointer($0)) }
                    }
                }
                values.append(WireValue(derived))
            }
            try run(table.updateManySQL(strings.map(\.key)), values)
            last = keys[keys.count - 1]
        }
    }

    /// The SQL that reads at least one of the next rows, and stops at the number of rows in parameter 2 or at the byte limit.
    private func sourceSQL(_ sources: [String], _ table: String) -> String {
        let key = StoredTable.key
        // Give each source a name of its own, because several strings can be derived from the same source.
        let names = sources.indices.map { "s\($0)" }
        let selected = zip(sources, names).map { "\($0) AS \($1)" }
        let size = sources.map { "coalesce(octet_length(\($0)), 0)::bigint" }.joined(separator: " + ")
        let rows =
            "SELECT \(([key] + selected).joined(separator: ", ")), \(size) AS size FROM \(table) "
            + "WHERE \(key) > $1 ORDER BY \(key) LIMIT $2"
        return "SELECT \(([key] + names).joined(separator: ", ")) FROM "
            + "(SELECT *, sum(size) OVER (ORDER BY \(key)) - size AS before FROM (\(rows)) AS next) AS sized "
            + "WHERE before < \(GenerationMigration.derivedBytes) ORDER BY \(key)"
    }
}

struct PostgreSQLDialect: SQLDialect {
    // PostgreSQL changes the case of letters by other rules than this library, so the client derives the strings.
    let derivesStrings = false

    func type(_ storage: ColumnStorage) -> String { storage.typeName }

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "$\(number)::\(storage.typeName)" }

    func widened(_ expression: String, _ widening: NumberWidening) -> String {
        switch widening {
        case .unchanged: return expression
        case .decimal: return "\(expression)::text"
        case .double, .float:
            let number = "\(expression)::\(widening == .float ? "real" : "double precision")"
            // An integer above the bound becomes 2^63 as a floating-point number. This number is too large to be cast back to
            // an integer.
            let bound = widening == .float ? "9223371487098961920" : "9223372036854774784"
            return
                "CASE WHEN \(expression) <= \(bound) AND \(number)::bigint = \(expression) THEN \(number)::double precision END"
        }
    }

    func transformed(_ expression: String, _ change: StringTransformation) -> String { StoredTable.missing }
}
#endif
