internal import ManagedModel
internal import RowStore

/// Carries the rows of a store over to another model, in one transaction.
struct StoreMigration {
    let schema: StoreSchema
    let oldSchema: StoreSchema
    let probe: StoreProbe
    let found: StoreMetadata
    let identity: StoreIdentity
    let plan: MigrationPlan
    /// The numbers of the entities that are carried over, the new ones by the old ones.
    let numbers: [Int: Int]
    /// Whether only the format changes and the model stays. Then additions of other programs to the file stay, too.
    let isUpgrade: Bool

    struct Outcome {
        let metadata: StoreMetadata
        let report: MigrationReport
        let rowsDropped: Int
    }

    /// The most entities of a model. Each can be a term of a query for conditions, of which SQLite accepts 500. An upgrade has
    /// no conditions.
    static let entityLimit = 400

    /// Plans it from the store's metadata.
    ///
    /// - Parameters:
    ///   - dropsByKey: Whether rows are dropped if the key of their data source changed.
    /// - Throws: `notMigratable` with the reason in words.
    ///   - oldModel: The model that the store was made for, if only the format changes.
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
        guard isUpgrade || model.entities.count <= StoreMigration.entityLimit else {
            throw DataSourceError(
                notMigratable: "The old model has more than \(StoreMigration.entityLimit) entities.")
        }
        oldSchema = try StoreMigration.oldSchema(model, probe, found.format)
        plan = MigrationPlan(from: model, to: schema.layout.model, oldFormat: found.format) { old, new in
            dropsByKey && found.identity.entityKeys[old] != identity.entityKeys[new]
        }
        guard plan.isPossible else { throw DataSourceError(notMigratable: plan.obstacles.joined(separator: " ")) }
        var numbers: [Int: Int] = [:]
        for entity in plan.entities {
            if let old = oldSchema.layout.entity(named: entity.oldName) {
                numbers[old.index] = schema.layout.entity(named: entity.newName)?.index
            }
        }
        self.numbers = numbers
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
        do throws(DataSourceError) {
            let schema = try StoreSchema(model, format: format)
            try probe.check(schema)
            return schema
        } catch {
            throw DataSourceError(
                notMigratable: "The tables of the store do not match the model that it was made for.")
        }
    }

    /// How many objects are carried over.
    func rowsCarried() throws(DataSourceError) -> Int {
        try probe.rowCount(in: plan.entities.compactMap { oldTable($0)?.name })
    }

    func oldTable(_ entity: EntityMigration) -> EntityTable? {
        oldSchema.layout.entity(named: entity.oldName).flatMap { oldSchema.tables[$0.index] }
    }

    func newTable(_ entity: EntityMigration) -> EntityTable? {
        schema.layout.entity(named: entity.newName).flatMap { schema.tables[$0.index] }
    }

    func report(rowsCarried: Int) -> MigrationReport {
        MigrationReport(
            rowsCarried: rowsCarried, changes: plan.changes.map(\.description), removedEntities: plan.removedEntities,
            losses: plan.losses.map(\.description))
    }
}

extension StoreMetadata {
    /// The model that the store was made for.
    ///
    /// - Throws: `notMigratable`.
    func model() throws(DataSourceError) -> ManagedObjectModel {
        guard let modelText else {
            throw DataSourceError(
                notMigratable: "The store has no copy of its model, because an older release made it.")
        }
        guard let model = ManagedObjectModel(storedText: modelText), model.hash.description == identity.modelHash
        else {
            throw DataSourceError(notMigratable: "The copy of the old model in the store is damaged.")
        }
        return model
    }
}

extension DataSourceError {
    /// - Parameter notMigratable: The reason, in whole sentences.
    init(notMigratable reason: String) {
        self.init(.notMigratable, reason)
    }
}

extension DataSourceError.Code {
    /// Rows cannot be carried over. Opening then does what the policy says; no caller sees this error.
    static let notMigratable = Self(rawValue: "notMigratable")
}
