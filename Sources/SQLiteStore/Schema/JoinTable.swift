internal import ManagedModel
internal import RowStore

/// The pairs of a to-many relationship that no column of the other side can hold.
struct JoinTable: Sendable {
    let name: String
    /// The relationship whose sources are in the column of that name.
    let relationship: RelationshipName
    let createSQL: String
    /// The entities that can have rows, of both ends.
    let entities: Set<String>
    /// Whether a pair says of which entity its source is, and its destination, and where they stand among the others.
    let holdsSourceEntity: Bool
    let holdsDestinationEntity: Bool
    let holdsSourcePosition: Bool
    let holdsDestinationPosition: Bool
    /// Whether a pair says of which entities its ends are.
    var holdsEntities: Bool { holdsSourceEntity || holdsDestinationEntity }
    /// Finds the sources of a destination.
    let index: StoreIndex

    /// One for each pair of to-many relationships, and one for each to-many relationship without an inverse.
    static func all(of model: ManagedObjectModel, _ names: inout Names) throws(DataSourceError) -> [JoinTable] {
        var joins: [JoinTable] = []
        for entity in model.entities {
            let relationships = entity.relationships.filter { $0.isToMany && !$0.isTransient }
            for relationship in relationships.sorted(by: { $0.name < $1.name }) {
                let inverse = model.inverse(of: relationship)
                guard inverse?.relationship.isToMany ?? true else { continue }
                // One side of a pair makes the table, whichever comes first.
                if let inverse, (inverse.owner, inverse.relationship.name) < (entity.name, relationship.name) {
                    continue
                }
                joins.append(
                    JoinTable(
                        name: try names.claim("_\(entity.name)_\(relationship.name)"), owner: entity.name, relationship,
                        inverse: inverse?.relationship, sources: model.family(ofEntityNamed: entity.name),
                        destinations: model.family(ofEntityNamed: relationship.destinationName)))
            }
        }
        return joins
    }

    private init(
        name: String, owner: String, _ relationship: RelationshipDescription, inverse: RelationshipDescription?,
        sources: [EntityDescription], destinations: [EntityDescription]
    ) {
        self.name = name
        entities = Set((sources + destinations).filter { !$0.isAbstract }.map(\.name))
        self.relationship = RelationshipName(entity: owner, name: relationship.name)
        holdsSourceEntity = sources.count > 1
        holdsDestinationEntity = destinations.count > 1
        // The place of the destination among those of its source, and the other way round.
        holdsDestinationPosition = relationship.isOrdered
        holdsSourcePosition = inverse?.isOrdered == true
        var columns = ["\"source\" INTEGER NOT NULL", "\"destination\" INTEGER NOT NULL"]
        if holdsSourceEntity { columns.append("\"source.entity\" INTEGER NOT NULL") }
        if holdsDestinationEntity { columns.append("\"destination.entity\" INTEGER NOT NULL") }
        if holdsDestinationPosition { columns.append("\"destination.position\" INTEGER") }
        if holdsSourcePosition { columns.append("\"source.position\" INTEGER") }
        columns.append("PRIMARY KEY (\"source\", \"destination\")")
        createSQL = "CREATE TABLE \(name.quoted) (" + columns.joined(separator: ", ") + ") WITHOUT ROWID"
        index = StoreIndex(
            table: name, isUnique: false, elements: ["destination", "source"].map { .init(term: $0.quoted) })
    }
}

extension ManagedObjectModel {
    /// The inverse of a relationship and the entity that declares it.
    fileprivate func inverse(
        of relationship: RelationshipDescription
    ) -> (owner: String, relationship: RelationshipDescription)? {
        guard let name = relationship.inverseName, let destination = entity(named: relationship.destinationName) else {
            return nil
        }
        for owner in lineage(of: destination) {
            if let inverse = owner.relationships.first(where: { $0.name == name }) { return (owner.name, inverse) }
        }
        return nil
    }
}
