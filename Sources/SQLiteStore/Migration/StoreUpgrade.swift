internal import CSQLite
internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Upgrades the tables of a store that an earlier release wrote. Keeps all rows and links.
struct StoreUpgrade {
    private let found: StoreMetadata
    private let model: ManagedObjectModel
    private let probe: StoreProbe

    /// - Parameter model: The model that the store was made for.
    init(_ found: StoreMetadata, _ model: ManagedObjectModel, _ probe: StoreProbe) {
        self.found = found
        self.model = model
        self.probe = probe
    }

    /// Upgrades the tables in one transaction, if they have an earlier format.
    ///
    /// - Returns: The store's metadata after the upgrade, and a probe of the upgraded tables.
    /// - Throws: `storeCorrupt` if the tables differ from those that the earlier release made; otherwise an error of the disk.
    func run() throws(DataSourceError) -> (StoreMetadata, StoreProbe) {
        guard found.format < StoreSchema.format else { return (found, probe) }
        do throws(DataSourceError) {
            let migration = try StoreMigration(
                schema: StoreSchema(model, format: StoreSchema.format), probe: probe, found: found,
                identity: found.identity, purpose: .upgrade, model: model)
            try probe.connection.configureWriter(.full)
            let outcome = try migration.run(nil)
            return (outcome.metadata, try StoreProbe(probe.connection))
        } catch  where error.code == .notMigratable {
            throw DataSourceError(storeOfEarlierRelease: probe.connection.path, cause: error.message)
        }
    }
}

extension DataSourceError {
    /// Makes an error for a store that cannot be upgraded.
    ///
    /// - Parameter cause: The reason why the store cannot be upgraded.
    init(storeOfEarlierRelease path: String, cause: String) {
        self.init(
            .storeCorrupt,
            "An earlier release wrote \(path), which cannot be upgraded to the present format. Restore the store from "
                + "a copy, or delete the store and start over.", cause: cause)
    }
}

extension StringTransformation {
    /// The name of the SQL function. The function's arguments are the raw value of the transformation, and a string.
    static let functionName = "change_text"
}

extension Connection {
    /// Registers the SQL functions of a migration: one derives strings in the same way as a save, and one widens numbers.
    func addMigrationFunctions() throws(DataSourceError) {
        try addTextChanges()
        try addNumberWidening()
    }

    private func addTextChanges() throws(DataSourceError) {
        let code = sqlite3_create_function_v2(
            handle, StringTransformation.functionName, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
            { context, _, arguments in
                guard let arguments, case .text(let word) = value(arguments[0]),
                    let change = StringTransformation(rawValue: word),
                    case .text(let text) = value(arguments[1])
                else { return sqlite3_result_null(context) }
                setResult(.text(change(text)), context)
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, while: "opening") }
    }

    private func addNumberWidening() throws(DataSourceError) {
        let code = sqlite3_create_function_v2(
            handle, NumberWidening.functionName, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
            { context, _, arguments in
                guard let arguments, case .text(let word) = value(arguments[0]),
                    let widening = NumberWidening(rawValue: word), let result = widening(value(arguments[1]))
                else { return sqlite3_result_null(context) }
                setResult(result, context)
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, while: "opening") }
    }

    /// Runs SQL. Returns false if stored rows violate a constraint.
    func runIfAllowed(_ sql: String) throws(DataSourceError) -> Bool {
        let statement = try prepare(sql)
        let code = statement.step()
        if code & 0xFF == SQLITE_CONSTRAINT { return false }
        guard code == SQLITE_DONE else { throw error(code, while: "using") }
        return true
    }

    /// Runs SQL that another program wrote. Does nothing if the SQL names a missing table or column.
    ///
    /// - Parameter name: The name of the view or index that the SQL makes.
    /// - Throws: `notMigratable` if rows violate a constraint of the index.
    func runIfNamesExist(_ sql: String, _ name: String) throws(DataSourceError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        switch code & 0xFF {
        case SQLITE_OK, SQLITE_ERROR: return
        case SQLITE_CONSTRAINT:
            throw DataSourceError(
                notMigratable:
                    "Another program has added \(name) to the file, and objects of the new model would violate \(name). Drop \(name) with that program."
            )
        default: throw error(code, while: "using")
        }
    }

    /// Copies the next rows with the statement of a ``RowCopy``.
    ///
    /// - Returns: The number of copied rows, and the key of the last copied row.
    func copy(
        with statement: Statement, after key: Int64, atMost limit: Int
    ) throws(DataSourceError) -> (count: Int, lastKey: Int64) {
        try bind([.integer(key), .integer(Int64(limit))], to: statement, from: 1)
        let code = statement.step()
        sqlite3_reset(statement.handle)
        guard code == SQLITE_DONE else { throw error(code, while: "writing") }
        return (Int(sqlite3_changes(handle)), sqlite3_last_insert_rowid(handle))
    }
}
