package import ManagedModel

/// One relationship of an entity, and the storage of its links.
///
/// This type is a class, because each step along a relationship passes the layout on. Copying a struct would take longer.
package final class RelationshipLayout: Sendable {
    /// The location of the links, with the indexes of the columns.
    package enum Storage: Sendable {
        /// The links are in the rows of the source objects.
        case column(LinkColumns)
        /// The links are in the rows of the destination objects.
        case inverseColumn(LinkColumns)
        /// The links are in separate rows, one row for each link.
        case pairs(PairColumns)
        /// The links are not stored, because the relationship is transient and to-many.
        case none
    }

    /// The name of the relationship, with the entity that declares it.
    package let path: RelationshipName
    package let description: RelationshipDescription
    /// The index of the destination entity.
    package let destination: Int
    /// The indexes of the concrete entities among the destination entity and its sub-entities.
    package let destinationFamily: [Int]
    package let storage: Storage
    /// The name of the inverse, with the entity that declares it; nil if there is no inverse.
    package let inverse: RelationshipName?

    init(
        path: RelationshipName, description: RelationshipDescription, destination: Int, destinationFamily: [Int],
        storage: Storage, inverse: RelationshipName?
    ) {
        self.path = path
        self.description = description
        self.destination = destination
        self.destinationFamily = destinationFamily
        self.storage = storage
        self.inverse = inverse
    }

    package var name: String { path.name }
    package var isToMany: Bool { description.isToMany }
    /// Whether the relationship is its own inverse.
    package var isSymmetric: Bool { inverse == path }
}

/// The columns with which a row links to another row.
package struct LinkColumns: Sendable, Hashable {
    /// The column with the other row's key.
    package let key: Int
    /// The column with the index of the other row's entity; nil if only one entity is possible.
    package let entity: Int?
    /// The column with the row's position among all rows that link to the same row; nil if these rows are not ordered.
    package let position: Int?
}

extension EntityLayout {
    /// The position columns of ordered relationships, by the column with the owner's key. An index over both columns finds the
    /// last position without reading all objects of the owner. The index also finds the objects in order.
    package var positionColumns: [Int: Int] {
        var positions: [Int: Int] = [:]
        if links == nil {
            for relationship in relationships {
                guard case .column(let column) = relationship.storage else { continue }
                positions[column.key] = column.position
            }
        } else {
            for pairs in [pairColumns(isReversed: false), pairColumns(isReversed: true)] {
                positions[pairs.own.key] = pairs.other.position
            }
        }
        return positions
    }
}

/// The columns of a row that is a link, as seen from one of its ends.
package struct PairColumns: Sendable, Hashable {
    /// The index of the layout of the links.
    package let layout: Int
    package let own: LinkColumns
    /// The columns of the other end. The position column has the position of the object at the other end among all objects that
    /// the object at this end is linked to.
    package let other: LinkColumns
}

extension EntityLayout {
    /// Makes the layout for the links of a many-to-many relationship.
    convenience init(
        linksOf name: RelationshipName, _ model: ManagedObjectModel, _ relationship: RelationshipDescription,
        index: Int,
        damage: DamagedValues
    ) {
        let inverse = model.storedInverse(of: relationship)
        var names = [LinkNames.source, LinkNames.destination]
        if model.family(ofEntityNamed: name.entity).count > 1 { names.append(LinkNames.sourceEntity) }
        if model.family(ofEntityNamed: relationship.destinationName).count > 1 {
            names.append(LinkNames.destinationEntity)
        }
        if inverse?.isOrdered == true { names.append(LinkNames.sourcePosition) }
        if relationship.isOrdered { names.append(LinkNames.destinationPosition) }
        self.init(
            index: index, entity: EntityDescription(name: "_\(name.entity)_\(name.name)"),
            columns: names.map(ColumnLayout.init(linkColumn:)), constraints: [[0, 1]], constraintOwners: [index],
            concreteFamily: [index], relationships: [], links: name, indexedColumns: [0, 1], damage: damage)
    }

    /// Returns the columns of a link, as seen from the source, or from the destination if reversed.
    package func pairColumns(isReversed: Bool) -> PairColumns {
        let source = LinkColumns(
            key: 0, entity: column(named: LinkNames.sourceEntity), position: column(named: LinkNames.sourcePosition))
        let destination = LinkColumns(
            key: 1, entity: column(named: LinkNames.destinationEntity),
            position: column(named: LinkNames.destinationPosition))
        return PairColumns(
            layout: index, own: isReversed ? destination : source, other: isReversed ? source : destination)
    }
}

/// The columns with which the rows of a layout lead to other rows.
package struct LinkToRow: Sendable {
    /// The name of the relationship, with the entity that declares it.
    package let path: RelationshipName
    package let columns: LinkColumns
    /// The indexes of the entities that the other row can belong to.
    package let family: [Int]
}

extension ModelLayout {
    /// Returns the relationship whose links are the rows of a layout, with the entity that declares it. Returns nil for the
    /// layout of an entity.
    package func relationship(
        ofLinks links: EntityLayout
    ) -> (source: EntityLayout, relationship: RelationshipLayout)? {
        guard let name = links.links, let source = entity(named: name.entity),
            let index = source.relationship(named: name.name)
        else { return nil }
        return (source, source.relationships[index])
    }

    /// Returns the columns with which the rows of a layout lead to other rows. For a layout of links, returns both ends.
    package func linksToRows(of entity: EntityLayout) -> [LinkToRow] {
        if let (source, relationship) = relationship(ofLinks: entity) {
            let pairs = entity.pairColumns(isReversed: false)
            return [
                LinkToRow(path: relationship.path, columns: pairs.own, family: source.concreteFamily),
                LinkToRow(path: relationship.path, columns: pairs.other, family: relationship.destinationFamily),
            ]
        }
        return entity.relationships.compactMap { relationship in
            guard case .column(let columns) = relationship.storage else { return nil }
            return LinkToRow(path: relationship.path, columns: columns, family: relationship.destinationFamily)
        }
    }
}

/// The names of the columns of a link.
package enum LinkNames {
    package static let source = "_source"
    package static let destination = "_destination"
    package static let sourceEntity = "_source.entity"
    package static let destinationEntity = "_destination.entity"
    package static let sourcePosition = "_source.position"
    package static let destinationPosition = "_destination.position"

    package static let all: Set = [
        source, destination, sourceEntity, destinationEntity, sourcePosition, destinationPosition,
    ]
}
