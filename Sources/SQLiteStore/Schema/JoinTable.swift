internal import ManagedModel
internal import RowStore

/// The table for links that no entity's table can store: the links of a many-to-many relationship, or of a to-many relationship
/// without an inverse.
struct JoinTable: Sendable {
    let name: String
    /// The relationship from the objects at the ``source`` end to the objects at the ``destination`` end.
    let relationship: RelationshipName
    let createSQL: String
    /// The concrete entities of both ends.
    let entities: Set<String>
    let source: End
    let destination: End
    /// Whether the table's rows have keys, like the rows of entities.
    let hasKeys: Bool
    /// The index that finds the source objects of a destination object.
    let index: StoreIndex

    /// The unquoted columns of an end.
    struct End: Sendable {
        let key: String
        /// The column with the entity's index; nil if all objects at this end have the same entity.
        let entity: String?
        /// The column with the position of this end's object among the objects that the other end's object is linked to; nil if
        /// these objects have no order.
        let position: String?
    }

    /// Makes the description of a table of links. Returns nil for the table of an entity.
    init?(_ table: EntityTable, _ layout: ModelLayout) {
        guard let relationship = table.layout.links,
            let destination = layout.model.relationship(relationship)?.destinationName
        else { return nil }
        name = table.name
        self.relationship = relationship
        createSQL = table.createSQL
        entities = JoinTable.entities(layout.model, relationship.entity, destination)
        hasKeys = true
        let columns = table.layout.pairColumns(isReversed: false)
        func end(_ column: LinkColumns) -> End {
            End(
                key: table.unquotedName(column.key), entity: column.entity.map(table.unquotedName),
                position: column.position.map(table.unquotedName))
        }
        source = end(columns.own)
        self.destination = end(columns.other)
        index = StoreIndex(
            table: name, isUnique: false,
            elements: [columns.other.key, columns.own.key].map { .init(expression: table.expressions[$0]) })
    }

    private static func entities(_ model: ManagedObjectModel, _ source: String, _ destination: String) -> Set<String> {
        let both = model.family(ofEntityNamed: source) + model.family(ofEntityNamed: destination)
        return Set(both.filter { !$0.isAbstract }.map(\.name))
    }
}

// MARK: - The first format

extension JoinTable {
    /// Returns the join tables of a model. Each pair of inverse to-many relationships has one, and so does each to-many
    /// relationship without an inverse.
    static func all(of model: ManagedObjectModel, _ names: inout Names) throws(DataSourceError) -> [JoinTable] {
        var joins: [JoinTable] = []
        for entity in model.entities {
            let relationships = entity.relationships.filter { $0.isToMany && !$0.isTransient }
            for relationship in relationships.sorted(by: { $0.name < $1.name }) {
                let inverseName = model.inverse(of: relationship)
                let inverse = inverseName.flatMap(model.relationship)
                guard inverse?.isToMany ?? true else { continue }
                // For each pair of relationships, make the table at the relationship whose name comes first.
                if let inverseName, (inverseName.entity, inverseName.name) < (entity.name, relationship.name) {
                    continue
                }
                joins.append(
                    JoinTable(
                        name: try names.claim("_\(entity.name)_\(relationship.name)"), owner: entity.name, relationship,
                        inverse: inverse, model))
            }
        }
        return joins
    }

    private init(
        name: String, owner: String, _ relationship: RelationshipDescription, inverse: RelationshipDescription?,
        _ model: ManagedObjectModel
    ) {
        self.name = name
        entities = JoinTable.entities(model, owner, relationship.destinationName)
        self.relationship = RelationshipName(entity: owner, name: relationship.name)
        hasKeys = false
        func end(_ name: String, of entity: String, isOrdered: Bool) -> End {
            End(
                key: name, entity: model.family(ofEntityNamed: entity).count > 1 ? "\(name).entity" : nil,
                position: isOrdered ? "\(name).position" : nil)
        }
        source = end("source", of: owner, isOrdered: inverse?.isOrdered == true)
        destination = end("destination", of: relationship.destinationName, isOrdered: relationship.isOrdered)
        var columns = ["\"source\" INTEGER NOT NULL", "\"destination\" INTEGER NOT NULL"]
        columns += [source.entity, destination.entity].compactMap { $0 }.map { "\($0.quoted) INTEGER NOT NULL" }
        columns += [destination.position, source.position].compactMap { $0 }.map { "\($0.quoted) INTEGER" }
        columns.append("PRIMARY KEY (\"source\", \"destination\")")
        createSQL = "CREATE TABLE \(name.quoted) (" + columns.joined(separator: ", ") + ") WITHOUT ROWID"
        index = StoreIndex(
            table: name, isUnique: false, elements: ["destination", "source"].map { .init(expression: $0.quoted) })
    }
}
