extension ManagedObjectModel {
    /// Sets missing inverses. If relationship A names B as its inverse and B names no inverse, B gets the inverse A. A model in
    /// code can therefore declare an inverse on one side only.
    ///
    /// A relationship that already names an inverse keeps this name. ``validate()`` reports sides that do not name each
    /// other.
    ///
    /// - Throws: `inverseMismatch` if two relationships name the same inverse, and this inverse names neither of them.
    /// - Complexity: linear in the relationships of the model, times the depth of inheritance.
    package mutating func completeInverses() throws(ModelError) {
        let lookup = ModelLookup(self)
        var claims: [RelationshipName: RelationshipName] = [:]
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = lookup.inverseWithoutName(of: relationship, in: entity) else { continue }
                let claim = RelationshipName(entity: entity.name, name: relationship.name)
                if let other = claims.updateValue(claim, forKey: inverse) {
                    throw ModelError(
                        .inverseMismatch, entity: inverse.entity, property: inverse.name,
                        "Both \(other.entity).\(other.name) and \(claim.entity).\(claim.name) name \(inverse.entity).\(inverse.name) as their inverse. Let \(inverse.entity).\(inverse.name) name one of the two as its inverse, and give the other relationship another inverse."
                    )
                }
            }
        }
        for (number, entity) in entities.enumerated() {
            for (position, relationship) in entity.relationships.enumerated() where relationship.inverseName == nil {
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                if let claim = claims[name] { entities[number].relationships[position].inverseName = claim.name }
            }
        }
    }
}

extension ModelLookup {
    /// The name and the entity of a relationship's inverse. Nil if there is no inverse, if the inverse already names its own
    /// inverse, if the inverse is the relationship itself, or if the destination of the inverse does not have the relationship.
    fileprivate func inverseWithoutName(
        of relationship: RelationshipDescription, in entity: EntityDescription
    ) -> RelationshipName? {
        guard let name = relationship.inverseName, let destination = entities[relationship.destinationName] else {
            return nil
        }
        let owner = lineage(of: destination).first { $0.relationships.contains { $0.name == name } }
        guard let owner, let inverse = owner.relationships.first(where: { $0.name == name }),
            inverse.inverseName == nil,
            let destinationOfInverse = entities[inverse.destinationName],
            lineage(of: destinationOfInverse).contains(where: { $0.name == entity.name }),
            owner.name != entity.name || inverse.name != relationship.name
        else { return nil }
        return RelationshipName(entity: owner.name, name: name)
    }
}
