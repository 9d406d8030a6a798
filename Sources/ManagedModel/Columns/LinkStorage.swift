/// Where a store keeps the links of a relationship.
package enum LinkStorage: Sendable, Hashable {
    /// In a column of the source's own row.
    case column
    /// In the column of the inverse, in the destinations' rows.
    case inverseColumn(RelationshipName)
    /// In rows of their own, each with a source and a destination, made for the relationship with that name: this one, or its
    /// inverse, whose sources are this one's destinations.
    case pairs(RelationshipName, isReversed: Bool)
    /// Nowhere: a transient to-many relationship.
    case none
}

extension ManagedObjectModel {
    /// Where the links of a relationship are kept.
    ///
    /// Links of a one-to-one relationship are in the column of the side whose entity and name come first. Links of a
    /// relationship that is its own inverse are in the rows of both ends.
    package func linkStorage(of name: RelationshipName) -> LinkStorage {
        guard let relationship = relationship(name) else { return .none }
        guard !relationship.isTransient else { return relationship.isToMany ? .none : .column }
        guard let inverseName = inverse(of: relationship), let inverse = storedInverse(of: relationship) else {
            return relationship.isToMany ? .pairs(name, isReversed: false) : .column
        }
        switch (relationship.isToMany, inverse.isToMany) {
        case (false, true): return .column
        case (true, false): return .inverseColumn(inverseName)
        case (false, false): return name.precedes(inverseName) ? .column : .inverseColumn(inverseName)
        case (true, true):
            return name.precedes(inverseName)
                ? .pairs(name, isReversed: false) : .pairs(inverseName, isReversed: true)
        }
    }

    /// The relationship with that name that an entity declares.
    package func relationship(_ name: RelationshipName) -> RelationshipDescription? {
        entity(named: name.entity)?.relationships.first { $0.name == name.name }
    }

    /// The inverse of a relationship, where it is declared; nil if there is none.
    package func inverse(of relationship: RelationshipDescription) -> RelationshipName? {
        guard let name = relationship.inverseName, let destination = entity(named: relationship.destinationName) else {
            return nil
        }
        return lineage(of: destination).first { owner in owner.relationships.contains { $0.name == name } }
            .map { RelationshipName(entity: $0.name, name: name) }
    }

    /// The inverse of a relationship; nil if there is none, or if it is transient, so that no store has it.
    package func storedInverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let inverse = inverse(of: relationship).flatMap(self.relationship), !inverse.isTransient else {
            return nil
        }
        return inverse
    }
}

extension RelationshipName {
    /// Whether it is the side of a pair that stores the links. A relationship that is its own inverse does.
    fileprivate func precedes(_ inverse: RelationshipName) -> Bool {
        !((inverse.entity, inverse.name) < (entity, name))
    }
}
