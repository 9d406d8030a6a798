internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// Carries the rows of a store over to another model, in one transaction.
struct StoreMigration {
    let schema: StoreSchema
    let oldSchema: StoreSchema
    let probe: StoreProbe
    let found: StoreMetadata
    let identity: StoreIdentity
    let statements: MigrationStatements
    /// Whether only the format changes and the model stays. Then additions of other programs to the file stay, too.
    let isUpgrade: Bool

    struct Outcome {
        let metadata: StoreMetadata
        let report: MigrationReport
        let rowsDropped: Int
    }

    /// Plans it from the store's metadata.
    ///
    /// - Parameters:
    ///   - dropsByKey: Whether rows are dropped if the key of their data source changed.
    ///   - oldModel: The model that the store was made for, if only the format changes.
    /// - Throws: `notMigratable` with the reason in words.
    init(
        schema: StoreSchema, probe: StoreProbe, found: StoreMetadata, identity: StoreIdentity, dropsByKey: Bool = true,
        oldModel: ManagedObjectModel? = nil
    ) throws(DataSourceError) {
        self.schema = schema
        self.probe = probe
        self.found = found
        self.identity = identity
        let model = if let oldModel { oldModel } else { try found.model() }
        isUpgrade = oldModel != nil
        // An upgrade has no conditions.
        guard isUpgrade || model.entities.count <= MigrationStatements.termLimit else {
            throw DataSourceError(
                notMigratable: "The old model has more than \(MigrationStatements.termLimit) entities.")
        }
        oldSchema = try StoreMigration.oldSchema(model, probe, found.format)
        statements = try MigrationStatements(
            from: oldSchema.storedModel, to: schema.storedModel, SQLiteDialect()
        ) { old, new in dropsByKey && found.identity.entityKeys[old] != identity.entityKeys[new] }
        let newNames = Set(schema.namedSQL.map { $0.name.lowercased() })
        let ours = Set(oldSchema.namedSQL.map(\.name))
        let others = probe.contents.filter { $0.type != "view" && !($0.type == "table" && ours.contains($0.name)) }
        if let other = others.first(where: { newNames.contains($0.name.lowercased()) }) {
            throw DataSourceError(
                notMigratable: "Another program has added \(other.name) to the file, but the new model needs that name."
            )
        }
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

    /// - Throws: `notMigratable` with every condition that does not hold.
    func checkConditions() throws(DataSourceError) {
        try statements.checkConditions { (query) throws(DataSourceError) in
            try probe.connection.values(query.sql, query.values).first
        }
    }

    func report(rowsCarried: Int) -> MigrationReport { statements.report(rowsCarried: rowsCarried) }
}
