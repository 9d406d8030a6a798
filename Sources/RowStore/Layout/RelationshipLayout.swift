package import ManagedModel

/// One relationship of an entity, and where its links are stored.
///
/// It is a class because it is passed on whenever a relationship is followed, and copying its parts would take longer.
package final class RelationshipLayout: Sendable {
    /// Where the links are stored, with the indexes of their columns.
    package enum Storage: Sendable {
        /// In the row of the source.
        case column(LinkColumn)
        /// In the rows of the destinations.
        case inverseColumn(LinkColumn)
        /// In rows of their own.
        case pairs(PairColumns)
        /// Nowhere: a transient to-many relationship.
        case none
    }

    /// The relationship where it is declared.
    package let path: RelationshipName
    package let description: RelationshipDescription
    /// The number of the destination's entity.
    package let destination: Int
    /// The entities that a destination can have.
    package let destinationFamily: [Int]
    package let storage: Storage
    /// The inverse where it is declared.
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
    /// Whether it is its own inverse.
    package var isSymmetric: Bool { inverse == path }
}

/// The columns of a row that lead to another row.
package struct LinkColumn: Sendable, Hashable {
    /// The other row's key.
    package let key: Int
    /// The number of the other row's entity, if that can vary.
    package let entity: Int?
    /// The row's place among those that lead to the same one, if they are ordered.
    package let position: Int?
}

extension EntityLayout {
    /// The columns with the places of an ordered relationship's objects, by the column with the owner's key. An index of both
    /// finds the last place, and the objects in order, without reading all of an owner's objects.
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

/// The columns of a row that is a link, seen from one of its ends.
package struct PairColumns: Sendable, Hashable {
    /// The number of the links' layout.
    package let layout: Int
    package let own: LinkColumn
    /// The position is the other end's place among those of this end.
    package let other: LinkColumn
}

extension EntityLayout {
    /// The layout of the links of a relationship with rows of their own.
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

    /// The columns of a link, seen from its source or from its destination.
    package func pairColumns(isReversed: Bool) -> PairColumns {
        let source = LinkColumn(
            key: 0, entity: column(named: LinkNames.sourceEntity), position: column(named: LinkNames.sourcePosition))
        let destination = LinkColumn(
            key: 1, entity: column(named: LinkNames.destinationEntity),
            position: column(named: LinkNames.destinationPosition))
        return PairColumns(
            layout: index, own: isReversed ? destination : source, other: isReversed ? source : destination)
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
