#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
internal import RowStore

/// Carries the rows of one generation of a store over to the next one, which has tables for another model.
///
/// It is a part of the transaction that makes the new generation and ends the old one.
struct GenerationMigration {
    private let connection: Connection
    private let old: PostgreSQLSchema
    private let new: PostgreSQLSchema
    private let statements: MigrationStatements

    struct Outcome {
        let rowsCarried: Int
        let rowsDropped: Int
        /// How many keys the links that have rows of their own got.
        let keysUsed: Int64
    }

    /// How many rows are copied between two progress reports.
    private static let batchSize: Int64 = 10_000

    /// Plans it from the store's metadata.
    ///
    /// - Parameters:
    ///   - new: The schema of the next generation, which need not exist yet.
    ///   - isDropped: Whether the rows of an entity, given by its old and new names, are dropped.
    /// - Throws: `notMigratable` with the reason in words.
    init(
        _ connection: Connection, _ found: StoreMetadata, from entry: Registry.Entry, to new: PostgreSQLSchema,
        isDropped: (_ old: String, _ new: String) -> Bool
    ) throws(DataSourceError) {
        self.connection = connection
        self.new = new
        let model = try found.model()
        do throws(DataSourceError) {
            old = try PostgreSQLSchema(ModelLayout(model), name: entry.schema)
            try old.checkTables(connection, entry.schema)
        } catch  where error.code == .storeCorrupt || error.code == .unreadableModel {
            throw DataSourceError(
                notMigratable: "The tables of the store do not match the model that it was made for.")
        }
        statements = try MigrationStatements(
            from: old.storedModel, to: new.storedModel, PostgreSQLDialect(), isDropped: isDropped)
    }

    func report(rowsCarried: Int) -> MigrationReport { statements.report(rowsCarried: rowsCarried) }

    /// - Throws: `notMigratable` with every condition that does not hold.
    func checkConditions() throws(DataSourceError) {
        try statements.checkConditions { (query) throws(DataSourceError) in
            let found = try connection.rows(query.sql, query.values.map { WireValue($0) })
            guard found.rowCount > 0 else { return nil }
            return (0..<found.columnCount).map { found.optionalInteger(0, $0).map(RowValue.integer) ?? .null }
        }
    }

    /// How many objects are carried over.
    func rowsCarried() throws(DataSourceError) -> Int {
        var count = 0
        for table in statements.carriedTables {
            count += Int(try connection.rows("SELECT count(*) FROM \(table.name)").integer(0, 0))
        }
        return count
    }

    /// Fills the tables of the new generation, which are there and empty.
    ///
    /// - Parameter firstKey: The first key that no row has.
    /// - Throws: `notMigratable` if the rows do not fit the new model.
    func run(
        firstKey: Int64, _ progress: ((MigrationProgress) -> Void)?
    ) throws(DataSourceError) -> Outcome {
        try keepOthersFromWriting()
        try checkConditions()
        let carried = try rowsCarried()
        let total = try old.counts(connection).reduce(0) { $0 + $1.count }
        let meter = MigrationMeter(totalRowCount: carried, report: progress)
        var lookups: [RelationshipName: String] = [:]
        for (number, link) in statements.lookedUpLinks.enumerated() {
            let table = "_links \(number)".quoted
            lookups[link] = table
            let index = "_linked \(number)".quoted
            for sql in statements.collect(link, into: table, index: index) { try run(sql) }
        }
        for copy in statements.copies(lookups) { try carry(copy, meter) }
        var keys: Int64 = 0
        for join in statements.new.joins {
            guard let sql = statements.fill(join, firstKey: firstKey + keys) else { continue }
            keys += Int64(try run(sql).changedRows)
        }
        for table in lookups.values { try run("DROP TABLE \(table)") }
        try checkUniqueValues()
        meter.end()
        return Outcome(rowsCarried: carried, rowsDropped: total - carried, keysUsed: keys)
    }

    /// A statement that is used once.
    @discardableResult
    private func run(_ sql: String, _ values: [WireValue] = []) throws(DataSourceError) -> QueryResult {
        try connection.pipeline([Request(sql, values, isKept: false)])[0]
    }

    /// A program without this library may have the tables open. What it would write now would be lost.
    private func keepOthersFromWriting() throws(DataSourceError) {
        try run("SET LOCAL lock_timeout = '10s'")
        let tables = old.tables.compactMap { $0?.name }
        if !tables.isEmpty {
            try run("LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
        }
    }

    private func carry(_ copy: RowCopy, _ meter: MigrationMeter) throws(DataSourceError) {
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

    /// Writes the strings that are derived from others.
    private func deriveStrings(_ copy: RowCopy) throws(DataSourceError) {
        let table = try new.table(copy.new.layout.index)
        let strings = copy.missingStrings.sorted { $0.key < $1.key }
        let sources = strings.map { copy.new.terms[$0.value.source] }
        let sql =
            "SELECT \(([StoredTable.key] + sources).joined(separator: ", ")) FROM \(copy.new.name) "
            + "WHERE \(StoredTable.key) > $1 ORDER BY \(StoredTable.key) LIMIT $2"
        var last = Int64.min
        while true {
            let found = try run(sql, [WireValue(last), WireValue(GenerationMigration.batchSize)])
            guard found.rowCount > 0 else { return }
            let keys = (0..<found.rowCount).map { found.integer($0, 0) }
            var values = [WireValue(keys)]
            for (column, string) in strings.enumerated() {
                var derived = WireArray(.text, count: keys.count)
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

    private func checkUniqueValues() throws(DataSourceError) {
        do throws(DataSourceError) {
            try run("SET CONSTRAINTS ALL IMMEDIATE")
        } catch  where error.code == .uniquenessViolated {
            throw DataSourceError(
                notMigratable:
                    "Several objects have the same values in a uniqueness constraint of the new model. Change them before the migration."
            )
        }
    }
}
#endif
