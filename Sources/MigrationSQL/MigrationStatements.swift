package import ManagedModel
package import ModelMigration
package import RowStore

/// The statements that carry the rows of a store over to another model, in the SQL of that store.
///
/// The store runs them, in one transaction: the conditions, the tables in which links are looked up, the rows of each entity, and
/// the links that have rows of their own.
package struct MigrationStatements: Sendable {
    package let old: StoredModel
    package let new: StoredModel
    package let plan: MigrationPlan
    /// The numbers of the entities that are carried over, the new ones by the old ones.
    package let numbers: [Int: Int]
    let dialect: any SQLDialect

    /// The most tables whose links one statement collects, and the most entities of an old model: SQLite accepts 500 terms.
    package static let termLimit = 400

    /// - Parameters:
    ///   - keepsNames: Whether an element is what it was called, see ``MigrationPlan``.
    ///   - isDropped: Whether the rows of an entity, given by its old and new names, are dropped.
    /// - Throws: `notMigratable` with the reasons in words.
    package init(
        from old: StoredModel, to new: StoredModel, _ dialect: any SQLDialect, keepsNames: Bool = false,
        isDropped: (_ old: String, _ new: String) -> Bool
    ) throws(DataSourceError) {
        self.old = old
        self.new = new
        self.dialect = dialect
        plan = MigrationPlan(
            from: old.layout.model, to: new.layout.model, oldFormat: old.format, keepsNames: keepsNames,
            isDropped: isDropped)
        guard plan.isPossible else { throw DataSourceError(notMigratable: plan.obstacles.joined(separator: " ")) }
        var numbers: [Int: Int] = [:]
        for entity in plan.entities {
            guard let number = old.layout.entity(named: entity.oldName)?.index else { continue }
            numbers[number] = new.layout.entity(named: entity.newName)?.index
        }
        self.numbers = numbers
    }

    /// The copies of all entities' rows.
    ///
    /// - Parameter lookups: The tables in which links from other tables are found, by the relationship.
    package func copies(_ lookups: [RelationshipName: String]) -> [RowCopy] {
        plan.entities.compactMap { RowCopy($0, self, lookups: lookups) }
    }

    /// The old tables whose rows are carried over.
    package var carriedTables: [StoredTable] { plan.entities.compactMap { old.table($0.oldName) } }

    /// - Parameter unmet: What ``checkConditions(_:)`` has returned.
    package func report(rowsCarried: Int, unmet: [String]) -> MigrationReport {
        MigrationReport(
            rowsCarried: rowsCarried, changes: plan.changes.map(\.description), removedEntities: plan.removedEntities,
            losses: plan.losses.map(\.description), unmetRequirements: unmet)
    }
}
