internal import Foundation
package import ManagedModel
internal import ModelMigration
package import RowStore

/// The SQL that copies the rows of an entity from its old table to its new table.
package struct RowCopy {
    let entity: EntityMigration
    package let old: StoredTable
    package let new: StoredTable
    /// The SQL expression for each stored column of the new table, by the column's index. The column names in the
    /// expressions have no table prefix.
    private(set) var expressions: [Int: String] = [:]
    /// The values of the parameters, in the order of the parameters' numbers.
    package private(set) var values: [RowValue] = []
    /// The derivations that the SQL of the store cannot express, by column.
    package private(set) var missingStrings: [Int: (source: Int, change: StringTransformation)] = [:]
    private let dialect: any SQLDialect
    private let firstParameter: Int
    /// The values of attributes without a default value, by column.
    private let initialValues: [Int: RowValue]

    /// - Parameters:
    ///   - lookups: The names of the tables in which links from other tables are looked up, as SQL, by relationship.
    ///   - columns: The columns of the attributes to copy; nil for all columns.
    ///   - firstParameter: The number of the first parameter that has a value. The default reserves the numbers 1 and 2 for the
    ///     parameters of ``sql(from:)``.
    init?(
        _ entity: EntityMigration, _ migration: MigrationStatements, lookups: [RelationshipName: String],
        columns: Set<Int>? = nil, firstParameter: Int = 3
    ) {
        self.firstParameter = firstParameter
        initialValues = migration.initialValues[entity.newName] ?? [:]
        guard let old = migration.old.table(entity.oldName), let new = migration.new.table(entity.newName) else {
            return nil
        }
        dialect = migration.dialect
        self.entity = entity
        self.old = old
        self.new = new
        for column in new.layout.storedColumns where new.layout.columns[column].attribute != nil {
            if columns?.contains(column) ?? true { expressions[column] = expression(column) }
        }
        addLinks(migration, lookups)
    }

    /// Whether the copy would equal the old table, so that the old table can be kept.
    package var changesNothing: Bool {
        old.createSQL.hasBytes(of: new.createSQL) && expressions.allSatisfy { $1.hasBytes(of: new.expressions[$0]) }
    }

    /// Returns the statement that copies the next rows, in the order of their keys. Parameter 1 is the key of the last row that
    /// was already copied. Parameter 2 is the maximum number of rows.
    ///
    /// - Parameter table: The current name of the old table, as SQL.
    package func sql(from table: String) -> String {
        let columns = new.layout.storedColumns
        let key = StoredTable.key
        let (after, limit) = (dialect.parameter(1, .integer), dialect.parameter(2, .integer))
        let names = ([key] + columns.map { new.expressions[$0] }).joined(separator: ", ")
        let list = ([key] + columns.map { expressions[$0] ?? "NULL" }).joined(separator: ", ")
        return "INSERT INTO \(new.name) (\(names)) SELECT \(list) FROM \(table) WHERE \(key) > \(after) "
            + "ORDER BY \(key) LIMIT \(limit)"
    }

    // MARK: Attributes

    private mutating func expression(_ column: Int) -> String {
        switch entity.attributes[column] {
        case .column(let source): old.expressions[source]
        case .columnOrDefault(let source): "coalesce(\(old.expressions[source]), \(defaultExpression(column)))"
        case .widened(let source, let widening): dialect.widened(old.expressions[source], widening)
        case .widenedOrDefault(let source, let widening):
            "coalesce(\(dialect.widened(old.expressions[source], widening)), \(defaultExpression(column)))"
        case .defaultValue: defaultExpression(column)
        case .defaultOfPart(let part, let columns): defaultExpression(column, of: part, ifAny: columns)
        case .copy(let source): storage(source) == storage(column) ? expression(source) : "NULL"
        case .transformed(let source, let change): transformed(column, source, change)
        case .now:
            storage(column) == .real ? parameter(.real(Date().timeIntervalSinceReferenceDate), column) : "NULL"
        case .nothing, nil: "NULL"
        }
    }

    private mutating func transformed(_ column: Int, _ source: Int, _ change: StringTransformation) -> String {
        guard storage(column) == .text else { return "NULL" }
        if dialect.derivesStrings { return dialect.transformed(expression(source), change) }
        missingStrings[column] = (source, change)
        return "NULL"
    }

    private func storage(_ column: Int) -> ColumnStorage { new.layout.columns[column].storage }

    private mutating func defaultExpression(_ column: Int) -> String {
        let value = new.layout.columns[column].attribute.flatMap { RowValue(defaultOf: $0) } ?? initialValues[column]
        return value.map { parameter($0, column) } ?? "NULL"
    }

    /// - Parameter columns: Columns of the old row. If none of them has a value, the result is NULL instead of the value.
    private mutating func defaultExpression(
        _ column: Int, of part: AttributeDescription, ifAny columns: [Int]
    ) -> String {
        guard let value = RowValue(defaultOf: part) ?? initialValues[column] else { return "NULL" }
        let isPresent = columns.map { "\(old.expressions[$0]) IS NOT NULL" }.joined(separator: " OR ")
        return "CASE WHEN \(isPresent) THEN \(parameter(value, column)) END"
    }

    private mutating func parameter(_ value: RowValue, _ column: Int) -> String {
        values.append(value)
        return dialect.parameter(firstParameter + values.count - 1, storage(column))
    }

    // MARK: Links

    private mutating func addLinks(_ migration: MigrationStatements, _ lookups: [RelationshipName: String]) {
        let model = migration.new.layout.model
        guard let entity = model.entity(named: new.layout.name) else { return }
        let columns = model.columns(of: entity, format: migration.new.format)
        let lineage = model.lineage(of: entity)
        for (column, description) in columns.enumerated() where description.isStored {
            guard case .destinationKey(let relationship) = description.role,
                let owner = lineage.first(where: { $0.relationships.contains { $0.name == relationship.name } })
            else { continue }
            let name = RelationshipName(entity: owner.name, name: relationship.name)
            let hasEntity =
                column + 1 < columns.count && columns[column + 1].role == .destinationEntity(relationship)
            let link = link(name, relationship, in: migration, lookup: lookups[name])
            expressions[column] = link.key
            if hasEntity { expressions[column + 1] = link.entity }
            if let position = new.layout.column(named: "\(relationship.name).position") {
                expressions[position] = link.position
            }
        }
    }

    private func link(
        _ name: RelationshipName, _ relationship: RelationshipDescription, in migration: MigrationStatements,
        lookup: String?
    ) -> (key: String, entity: String, position: String) {
        if let lookup {
            let source = "FROM \(lookup) WHERE owner = \(StoredTable.key)"
            return ("(SELECT linked \(source))", "(SELECT linked_entity \(source))", "(SELECT position \(source))")
        }
        let oldModel = migration.old.layout.model
        let lineage = oldModel.entity(named: old.layout.name).map { oldModel.lineage(of: $0).map(\.name) } ?? []
        guard let source = migration.plan.links[name]?.first(where: { lineage.contains($0.relationship.entity) }),
            !source.isReversed, let oldRelationship = oldModel.relationship(source.relationship),
            let column = old.layout.column(named: oldRelationship.name)
        else { return ("NULL", "NULL", "NULL") }
        let key = old.expressions[column]
        let position =
            old.layout.column(named: "\(oldRelationship.name).position").map { old.expressions[$0] } ?? "NULL"
        let numbers = migration.numbers(under: relationship.destinationName)
        let entity = migration.old.destinationEntity(old, column, oldRelationship)
        guard let number = entity.number(numbers) else { return ("NULL", "NULL", "NULL") }
        let family = migration.old.family(oldRelationship.destinationName)
        switch entity {
        case .always:
            return (key, "CASE WHEN \(key) IS NOT NULL THEN \(number) END", position)
        case .column(let expression):
            // If every entity of the family keeps its index, return the plain columns, so that `changesNothing` can keep the table.
            if family.allSatisfy({ numbers[$0] == $0 }) { return (key, expression, position) }
            func linked(_ expression: String) -> String { "CASE WHEN (\(number)) IS NOT NULL THEN \(expression) END" }
            return (linked(key), number, linked(position))
        }
    }
}

extension MigrationStatements {
    /// Returns the new indexes of the entities that are carried over into the family of a new entity, by their old indexes.
    func numbers(under name: String) -> [Int: Int] {
        let family = Set(new.family(name))
        return numbers.filter { family.contains($0.value) }
    }
}
