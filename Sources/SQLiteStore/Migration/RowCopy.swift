internal import Foundation
internal import ManagedModel
internal import RowStore

/// The SQL that copies the rows of one table to another.
struct RowCopy {
    let entity: EntityMigration
    let old: EntityTable
    let new: EntityTable
    /// The expression for each stored column of the new table, by its index; columns are unqualified.
    private(set) var terms: [Int: String] = [:]
    /// The values of the parameters, from the first one on.
    private(set) var values: [RowValue] = []
    private let firstParameter: Int

    /// - Parameters:
    ///   - lookups: The tables in which links from other tables are found, by the relationship.
    ///   - firstParameter: In ``sql(from:)``, two parameters that select the rows come before.
    init?(
        _ entity: EntityMigration, _ migration: StoreMigration, lookups: [RelationshipName: String],
        firstParameter: Int = 3
    ) {
        self.firstParameter = firstParameter
        guard let old = migration.oldTable(entity), let new = migration.newTable(entity) else { return nil }
        self.entity = entity
        self.old = old
        self.new = new
        for column in new.layout.storedColumns where new.layout.columns[column].attribute != nil {
            terms[column] = term(column)
        }
        addLinks(migration, lookups)
    }

    /// Whether the old table can stay as it is.
    var changesNothing: Bool {
        old.createSQL == new.createSQL && terms.allSatisfy { $1 == new.terms[$0] }
    }

    /// Copies the rows with keys above parameter 1, as many as parameter 2 says.
    ///
    /// - Parameter table: The present name of the old table.
    func sql(from table: String) -> String {
        let columns = new.layout.storedColumns
        let key = EntityTable.keyName.quoted
        let names = ([key] + columns.map { new.terms[$0] }).joined(separator: ", ")
        let list = ([key] + columns.map { terms[$0] ?? "NULL" }).joined(separator: ", ")
        return "INSERT INTO \(new.name.quoted) (\(names)) SELECT \(list) FROM \(table.quoted) WHERE \(key) > ?1 "
            + "ORDER BY \(key) LIMIT ?2"
    }

    // MARK: Attributes

    private mutating func term(_ column: Int) -> String {
        switch entity.attributes[column] {
        case .column(let source): old.terms[source]
        case .columnOrDefault(let source): "coalesce(\(old.terms[source]), \(defaultTerm(column)))"
        case .widened(let source, let widening): widening.sql(old.terms[source])
        case .widenedOrDefault(let source, let widening):
            "coalesce(\(widening.sql(old.terms[source])), \(defaultTerm(column)))"
        case .defaultValue: defaultTerm(column)
        case .copy(let source): storage(source) == storage(column) ? term(source) : "NULL"
        case .changed(let source, let change):
            storage(column) == .text
                ? "\(TextChange.functionName)(\(change.rawValue.quotedText), \(term(source)))" : "NULL"
        case .now:
            storage(column) == .real ? parameter(.real(Date().timeIntervalSinceReferenceDate)) : "NULL"
        case .nothing, nil: "NULL"
        }
    }

    private func storage(_ column: Int) -> ColumnStorage { new.layout.columns[column].storage }

    private mutating func defaultTerm(_ column: Int) -> String {
        new.layout.columns[column].attribute.flatMap { RowValue(defaultOf: $0) }.map { parameter($0) } ?? "NULL"
    }

    private mutating func parameter(_ value: RowValue) -> String {
        values.append(value)
        return "?\(firstParameter + values.count - 1)"
    }

    // MARK: Links

    private mutating func addLinks(_ migration: StoreMigration, _ lookups: [RelationshipName: String]) {
        let model = migration.schema.layout.model
        guard let entity = model.entity(named: new.layout.name) else { return }
        let columns = model.columns(of: entity, format: migration.schema.format)
        let lineage = model.lineage(of: entity)
        for (column, description) in columns.enumerated() where description.isStored {
            guard case .destinationKey(let relationship) = description.role,
                let owner = lineage.first(where: { $0.relationships.contains { $0.name == relationship.name } })
            else { continue }
            let name = RelationshipName(entity: owner.name, name: relationship.name)
            let hasEntity =
                column + 1 < columns.count && columns[column + 1].role == .destinationEntity(relationship)
            let link = link(name, relationship, migration, lookups[name])
            terms[column] = link.key
            if hasEntity { terms[column + 1] = link.entity }
            if let position = new.layout.column(named: "\(relationship.name).position") {
                terms[position] = link.position
            }
        }
    }

    private func link(
        _ name: RelationshipName, _ relationship: RelationshipDescription, _ migration: StoreMigration,
        _ lookup: String?
    ) -> (key: String, entity: String, position: String) {
        if let lookup {
            let place = "FROM \(lookup.quoted) WHERE owner = \(EntityTable.keyName.quoted)"
            return ("(SELECT linked \(place))", "(SELECT linked_entity \(place))", "(SELECT position \(place))")
        }
        let oldModel = migration.oldSchema.layout.model
        let lineage = oldModel.entity(named: old.layout.name).map { oldModel.lineage(of: $0).map(\.name) } ?? []
        guard let source = migration.plan.links[name]?.first(where: { lineage.contains($0.relationship.entity) }),
            !source.isReversed, let oldOne = RelationshipSide(oldModel, source.relationship).relationship,
            let column = old.layout.column(named: oldOne.name)
        else { return ("NULL", "NULL", "NULL") }
        let key = old.terms[column]
        let position = old.layout.column(named: "\(oldOne.name).position").map { old.terms[$0] } ?? "NULL"
        let numbers = migration.numbers(under: relationship.destinationName)
        let entity = migration.oldSchema.destinationEntity(old, column, oldOne)
        guard let number = entity.number(numbers) else { return ("NULL", "NULL", "NULL") }
        let family = migration.oldSchema.family(oldOne.destinationName)
        switch entity {
        case .always:
            return (key, "CASE WHEN \(key) IS NOT NULL THEN \(number) END", position)
        case .column(let term):
            // Everything is unchanged, so the table can stay.
            if family.allSatisfy({ numbers[$0] == $0 }) { return (key, term, position) }
            return ("CASE WHEN (\(number)) IS NOT NULL THEN \(key) END", number, position)
        }
    }
}

extension StoreMigration {
    /// The numbers of the carried entities below one of the new model, the new ones by the old ones.
    func numbers(under name: String) -> [Int: Int] {
        let family = Set(schema.family(name))
        return numbers.filter { family.contains($0.value) }
    }
}
