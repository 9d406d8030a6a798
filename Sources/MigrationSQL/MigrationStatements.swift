package import ManagedModel
package import ModelMigration
package import RowStore

/// The statements that carry the rows of a store over to another model, in the SQL of the store.
///
/// The store runs the statements in one transaction, in this order: the conditions, the tables for looking up links, the rows
/// of each entity, and the join tables.
package struct MigrationStatements: Sendable {
    package let old: StoredModel
    package let new: StoredModel
    package let plan: MigrationPlan
    /// The new indexes of the entities that are carried over, by their old indexes.
    package let numbers: [Int: Int]
    /// The initial values that the existing objects get, by the new entity's name and the column.
    let initialValues: [String: [Int: RowValue]]
    let dialect: any SQLDialect
    let mayLoseData: Bool

    /// The maximum number of tables that one statement combines, and of entities in an old model. SQLite accepts 500 terms in a
    /// compound SELECT.
    package static let termLimit = 400

    /// - Parameters:
    ///   - found: The hashes and keys of the existing store.
    ///   - wanted: The hashes and keys that the store gets.
    /// - Throws: `notMigratable` with the obstacles of the plan.
    package init(
        from old: StoredModel, to new: StoredModel, _ dialect: any SQLDialect, for purpose: MigrationPurpose,
        found: StoreIdentity, wanted: StoreIdentity
    ) throws(DataSourceError) {
        self.old = old
        self.new = new
        self.dialect = dialect
        mayLoseData = purpose.mayLoseData
        let initialRows = InitialRows(new.layout)
        plan = MigrationPlan(
            from: old.layout.model, to: new.layout.model, oldFormat: old.format,
            keepsNames: !purpose.isMigration, initialValue: initialRows.initialValue
        ) { purpose.drops($0, as: $1, of: found, for: wanted) }
        initialValues = initialRows.values
        guard plan.isPossible else { throw DataSourceError(notMigratable: plan.obstacles.joined(separator: " ")) }
        var numbers: [Int: Int] = [:]
        for entity in plan.entities {
            guard let number = old.layout.entity(named: entity.oldName)?.index else { continue }
            numbers[number] = new.layout.entity(named: entity.newName)?.index
        }
        self.numbers = numbers
    }

    /// Returns the statements that copy the rows of each entity.
    ///
    /// - Parameter lookups: The names of the tables in which links from other tables are looked up, as SQL, by relationship.
    package func copies(_ lookups: [RelationshipName: String]) -> [RowCopy] {
        plan.entities.compactMap { RowCopy($0, self, lookups: lookups) }
    }

    /// Checks the conditions on the rows, and counts the rows to carry over. Makes no changes.
    ///
    /// - Throws: `notMigratable`, with the message of every violated condition that prevents the migration. If the migration
    ///   must not lose data, also `notMigratable` for data that would be lost: the message names this data.
    package func report(_ connection: some SQLConnection) throws(DataSourceError) -> MigrationReport {
        let unmet = try checkConditions(connection)
        if !mayLoseData { try checkLosses(connection) }
        var rowsCarried = 0
        for table in plan.entities.compactMap({ old.table($0.oldName) }) {
            rowsCarried += try connection.number("SELECT count(*) FROM \(table.name)")
        }
        return MigrationReport(
            rowsCarried: rowsCarried, changes: plan.changes.map(\.description), removedEntities: plan.removedEntities,
            losses: plan.losses.map(\.description), unmetRequirements: unmet)
    }
}

/// Counts the rows that were carried over, and reports the progress.
package final class MigrationMeter {
    private var progress: MigrationProgress
    private let report: ((MigrationProgress) -> Void)?

    package init(totalRowCount: Int, report: ((MigrationProgress) -> Void)?) {
        progress = MigrationProgress(completedRowCount: 0, totalRowCount: totalRowCount)
        self.report = report
    }

    package func begin(_ entityName: String) {
        progress.entityName = entityName
        report?(progress)
    }

    package func advance(_ rows: Int) {
        guard rows > 0 else { return }
        progress.completedRowCount += rows
        report?(progress)
    }

    package func end() {
        progress.entityName = nil
        report?(progress)
    }
}

/// The differences between SQLite's SQL and PostgreSQL's SQL in a migration.
package protocol SQLDialect: Sendable {
    /// Whether SQL functions of the store derive strings in the same way as a save. If false, derived strings are written after
    /// the copy.
    var derivesStrings: Bool { get }
    /// The SQL type of a column with this storage.
    func type(_ storage: ColumnStorage) -> String

    /// The SQL for a parameter.
    ///
    /// - Parameters:
    ///   - number: The number of the parameter, starting with 1.
    ///   - storage: The storage of the parameter's value.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String
    /// Returns SQL that converts a number to a wider type. The SQL yields NULL if the conversion would change the number.
    func widened(_ expression: String, _ widening: NumberWidening) -> String
    /// Returns SQL that derives a string from another string. Called only if ``derivesStrings`` is true.
    func transformed(_ expression: String, _ change: StringTransformation) -> String
}

/// A connection to a database, for queries that run only a few times, not once for each row.
package protocol SQLConnection {
    func values(_ sql: String, _ values: [RowValue]) throws(DataSourceError) -> [[RowValue]]
}

extension SQLConnection {
    /// Returns the number in the first row of a query; 0 if there is no row.
    package func number(_ sql: String) throws(DataSourceError) -> Int {
        if case .integer(let number)? = try values(sql, []).first?.first { Int(number) } else { 0 }
    }
}

/// The reason for carrying rows over to other tables.
package enum MigrationPurpose: Sendable {
    /// The model has changed.
    ///
    /// - Parameters:
    ///   - dropsByKey: Whether rows are dropped if the key of their data source has changed.
    ///   - mayLoseData: Whether data that the new model lacks is dropped. If false, such data prevents the migration.
    case migration(dropsByKey: Bool, mayLoseData: Bool = true)
    /// The format of the tables has changed, but the model has not.
    case upgrade
    /// The rows of the named entities are dropped, and all other rows are kept.
    case reset(of: Set<String>)

    package var isMigration: Bool { if case .migration = self { true } else { false } }

    fileprivate var mayLoseData: Bool { if case .migration(_, let mayLoseData) = self { mayLoseData } else { true } }

    /// Returns whether the rows of an entity are dropped. The entity is given by its old name and its new name.
    fileprivate func drops(_ old: String, as new: String, of found: StoreIdentity, for wanted: StoreIdentity) -> Bool {
        switch self {
        case .migration(let dropsByKey, _): dropsByKey && found.entityKeys[old] != wanted.entityKeys[new]
        case .upgrade: false
        case .reset(let dropped): dropped.contains(old) || dropped.contains(new)
        }
    }
}

extension MigrationStatements {
    /// Counts the objects and links that the store drops while it keeps other rows.
    package func dropped(_ connection: some SQLConnection) throws(DataSourceError) -> StoreStartup.Dropped {
        var dropped = StoreStartup.Dropped()
        for case let table? in old.tables where table.layout.links == nil && numbers[table.layout.index] == nil {
            let found = try connection.number("SELECT count(*) FROM \(table.name)")
            if found > 0 { dropped.objects[table.layout.name] = found }
        }
        // The links of a store of the first format are not counted, because that format has other tables for links.
        guard old.format == ManagedObjectModel.storeFormat else { return dropped }
        for case let table? in old.tables {
            for (name, condition) in droppedLinkConditions(table) {
                let found = try connection.number("SELECT count(*) FROM \(table.name) WHERE \(condition)")
                if found > 0 { dropped.links[name, default: 0] += found }
            }
        }
        return dropped
    }

    /// Returns predicates for those rows of a table that link a kept object to a dropped object, by relationship.
    private func droppedLinkConditions(_ table: StoredTable) -> [(name: String, condition: String)] {
        let isPair = table.layout.links != nil
        guard isPair || numbers[table.layout.index] != nil else { return [] }
        let conditions = old.linkColumns(table.layout).compactMap {
            name, column, family -> (name: String, condition: String)? in
            let ends = family.filter { numbers[$0] == nil }.compactMap { old.tables[$0] }
            guard !ends.isEmpty else { return nil }
            let conditions = ends.chunks(ofSize: MigrationStatements.termLimit).map { part in
                let keys = part.map { "SELECT \(StoredTable.key) FROM \($0.name)" }
                return "\(table.expressions[column]) IN (\(keys.joined(separator: " UNION ALL ")))"
            }
            return (name, conditions.joined(separator: " OR "))
        }
        // A link between two dropped objects does not count, because no kept object loses it.
        guard isPair, conditions.count == 2 else { return conditions }
        return [(conditions[0].name, "(\(conditions[0].condition)) <> (\(conditions[1].condition))")]
    }
}
