internal import ManagedModel
internal import RowStore

/// A table of the old store that contains the links of a relationship. The table is a join table, or the table of an
/// entity with a to-one relationship.
struct LinkTable {
    /// The columns of one end of a link, as SQL without table names.
    struct End {
        let key: String
        let entity: EndEntity
        /// The column with the position of this end's object among all objects that the object at the other end is linked to;
        /// nil if these objects are not ordered.
        let position: String?
    }

    /// The entity of an end, by its index in the old model. The entity is the same for every link, or is stored in a column.
    enum EndEntity {
        case always(Int)
        case column(String)
    }

    let name: String
    let source: End
    let destination: End

    var reversed: LinkTable { LinkTable(name: name, source: destination, destination: source) }

    /// Returns a query for the links, with the entity indexes of the new model. Returns nil if the table can have no links. The
    /// columns of the query are source, source_entity, destination, destination_entity, source_position and
    /// destination_position.
    ///
    /// - Parameters:
    ///   - sources: The new indexes of the entities that a source can belong to, by their old indexes.
    ///   - destinations: The new indexes of the entities that a destination can belong to, by their old indexes.
    ///   - table: The current name of the table, as SQL.
    ///   - integerType: The SQL type for the NULL of a missing position.
    func select(_ sources: [Int: Int], _ destinations: [Int: Int], from table: String, _ integerType: String) -> String?
    {
        guard let sourceEntity = source.entity.number(sources),
            let destinationEntity = destination.entity.number(destinations)
        else { return nil }
        let conditions = [
            "\(source.key) IS NOT NULL", "\(destination.key) IS NOT NULL", "(\(sourceEntity)) IS NOT NULL",
            "(\(destinationEntity)) IS NOT NULL",
        ]
        // Without the cast, PostgreSQL would give a column of NULLs the type TEXT.
        let nowhere = "CAST(NULL AS \(integerType))"
        return "SELECT \(source.key) AS source, \(sourceEntity) AS source_entity, \(destination.key) AS destination, "
            + "\(destinationEntity) AS destination_entity, \(source.position ?? nowhere) AS source_position, "
            + "\(destination.position ?? nowhere) AS destination_position FROM \(table) "
            + "WHERE \(conditions.joined(separator: " AND "))"
    }
}

extension LinkTable.EndEntity {
    /// Returns SQL for the entity's index in the new model. The SQL yields NULL for an entity that the migration drops. Returns
    /// nil if the migration drops all entities of this end.
    func number(_ numbers: [Int: Int]) -> String? {
        switch self {
        case .always(let entity):
            return numbers[entity].map(String.init)
        case .column(let expression):
            guard !numbers.isEmpty else { return nil }
            let cases = numbers.sorted { $0.key < $1.key }.map { "WHEN \($0) THEN \($1)" }
            return "CASE \(expression) \(cases.joined(separator: " ")) END"
        }
    }
}

extension StoredModel {
    /// Returns the tables with the links of a relationship.
    func linkTables(of name: RelationshipName) -> [LinkTable] {
        guard let relationship = layout.model.relationship(name) else { return [] }
        if storage(of: name) == .column { return columns(of: name, relationship) }
        if let join = joins.first(where: { $0.relationship == name }) { return [linkTable(join, relationship)] }
        guard let inverse = layout.model.inverse(of: relationship), let other = layout.model.relationship(inverse)
        else { return [] }
        if !other.isToMany { return columns(of: inverse, other).map(\.reversed) }
        return joins.first { $0.relationship == inverse }.map { [linkTable($0, other).reversed] } ?? []
    }

    /// Returns where the tables store the links of a relationship.
    func storage(of name: RelationshipName) -> LinkStorage {
        guard format == ManagedObjectModel.firstStoreFormat else { return layout.model.linkStorage(of: name) }
        let relationship = layout.model.relationship(name)
        if relationship?.isToMany == false { return .column }
        if let inverse = relationship.flatMap(layout.model.inverse),
            layout.model.relationship(inverse)?.isToMany == false
        {
            return .inverseColumn(inverse)
        }
        return layout.model.linkStorage(of: name)
    }

    private func columns(of name: RelationshipName, _ relationship: RelationshipDescription) -> [LinkTable] {
        family(name.entity).compactMap { number in
            guard let table = tables[number] else { return nil }
            let entity = layout.entities[number]
            guard let column = entity.column(named: relationship.name), column < table.expressions.count else {
                return nil
            }
            let position = entity.column(named: "\(relationship.name).position").map { table.expressions[$0] }
            return LinkTable(
                name: table.name,
                source: .init(key: StoredTable.key, entity: .always(number), position: position),
                destination: .init(
                    key: table.expressions[column], entity: destinationEntity(table, column, relationship),
                    position: nil))
        }
    }

    /// Returns the entity of the destination whose key is in the given column.
    func destinationEntity(
        _ table: StoredTable, _ column: Int, _ relationship: RelationshipDescription
    ) -> LinkTable.EndEntity {
        let columns =
            layout.model.entity(named: table.layout.name).map { layout.model.columns(of: $0, format: format) } ?? []
        if column + 1 < columns.count, case .destinationEntity(let other) = columns[column + 1].role,
            other.name == relationship.name
        {
            return .column(table.expressions[column + 1])
        }
        return .always(layout.entity(named: relationship.destinationName)?.index ?? -1)
    }

    private func linkTable(_ join: StoredJoin, _ relationship: RelationshipDescription) -> LinkTable {
        func end(_ end: StoredJoin.End, _ entity: String) -> LinkTable.End {
            .init(
                key: end.key,
                entity: end.entity.map { .column($0) } ?? .always(layout.entity(named: entity)?.index ?? -1),
                position: end.position)
        }
        return LinkTable(
            name: join.name, source: end(join.source, join.relationship.entity),
            destination: end(join.destination, relationship.destinationName))
    }
}
