internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Carries the rows of a store over to other tables, in one transaction: to those of another model, of another format, or of the same
/// model without some entities' rows. What other programs have added to the file stays.
struct StoreMigration {
    let schema: StoreSchema
    let oldSchema: StoreSchema
    let probe: StoreProbe
    let found: StoreMetadata
    let identity: StoreIdentity
    let statements: MigrationStatements
    private let purpose: Purpose

    enum Purpose {
        /// The rows are for another model.
        ///
        /// - Parameter dropsByKey: Whether rows are dropped if the key of their data source changed.
        case migration(dropsByKey: Bool)
        /// The format changes, and the model stays.
        case upgrade(ManagedObjectModel)
        /// The rows of some entities are dropped, and those of the others stay where they are, by their names.
        ///
        /// - Parameter model: The model that the store was made for, if it is known.
        case reset(of: Set<String>, model: ManagedObjectModel?)
    }

    struct Outcome {
        let metadata: StoreMetadata
        let report: MigrationReport
        let dropped: StoreStartup.Dropped
    }

    /// Plans it from the store's metadata.
    ///
    /// - Throws: `notMigratable` with the reason in words; for a reset, `foreignDatabase` if another program's table, view or
    ///   index has a name that the model needs.
    init(
        schema: StoreSchema, probe: StoreProbe, found: StoreMetadata, identity: StoreIdentity,
        purpose: Purpose = .migration(dropsByKey: true)
    ) throws(DataSourceError) {
        self.schema = schema
        self.probe = probe
        self.found = found
        self.identity = identity
        self.purpose = purpose
        let model = if let model = purpose.model { model } else { try found.model() }
        // Only a migration has conditions.
        guard !purpose.isMigration || model.entities.count <= MigrationStatements.termLimit else {
            throw DataSourceError(
                notMigratable: "The old model has more than \(MigrationStatements.termLimit) entities.")
        }
        oldSchema = try StoreMigration.oldSchema(model, probe, found.format)
        statements = try MigrationStatements(
            from: oldSchema.storedModel, to: schema.storedModel, SQLiteDialect(), keepsNames: !purpose.isMigration
        ) { old, new in
            switch purpose {
            case .migration(let dropsByKey): dropsByKey && found.identity.entityKeys[old] != identity.entityKeys[new]
            case .upgrade: false
            case .reset(let dropped, _): dropped.contains(old) || dropped.contains(new)
            }
        }
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
            "Another program has added \(other.name) to \(probe.connection.path), but the model needs that name. Rename it there."
        )
    }

    /// The tables that the store was made with.
    private static func oldSchema(
        _ model: ManagedObjectModel, _ probe: StoreProbe, _ format: Int64
    ) throws(DataSourceError) -> StoreSchema {
        let schema = try StoreSchema(model, format: format)
        try probe.check(schema)
        return schema
    }

    /// How many objects are carried over.
    func rowsCarried() throws(DataSourceError) -> Int {
        try probe.rowCount(
            in: statements.plan.entities.compactMap { entity in
                oldSchema.layout.entity(named: entity.oldName).flatMap { oldSchema.tables[$0.index]?.name }
            })
    }

    /// - Returns: What the new model demands and some objects do not have, although they can be carried over.
    /// - Throws: `notMigratable` with every condition that must hold and does not.
    func checkConditions() throws(DataSourceError) -> [String] {
        try statements.checkConditions { (query) throws(DataSourceError) in
            try probe.connection.values(query.sql, query.values).first
        }
    }

    /// What is not carried over.
    func dropped() throws(DataSourceError) -> StoreStartup.Dropped {
        try statements.dropped { (sql) throws(DataSourceError) in
            guard case .integer(let count)? = try probe.connection.values(sql).first?.first else { return 0 }
            return Int(count)
        }
    }

    func report(rowsCarried: Int, unmet: [String]) -> MigrationReport {
        statements.report(rowsCarried: rowsCarried, unmet: unmet)
    }
}

extension StoreMigration.Purpose {
    fileprivate var isMigration: Bool { if case .migration = self { true } else { false } }

    fileprivate var model: ManagedObjectModel? {
        switch self {
        case .migration: nil
        case .upgrade(let model): model
        case .reset(_, let model): model
        }
    }
}
