extension ManagedObjectModel {
    /// Sets the inverse of each relationship that names none, if another relationship names it as its inverse. In a model in code,
    /// one of the two sides is enough.
    ///
    /// Two sides that name each other keep their inverses, and two that disagree are left for ``validate()``.
    ///
    /// - Throws: `inverseMismatch` if two relationships name the same relationship, and that one names no inverse.
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
    /// The entity and the name of a relationship's inverse; nil unless the inverse exists and names no inverse of its own.
    fileprivate func inverseWithoutName(
        of relationship: RelationshipDescription, in entity: EntityDescription
    ) -> RelationshipName? {
        guard let name = relationship.inverseName, let destination = entities[relationship.destinationName] else {
            return nil
        }
        let owner = lineage(of: destination).first { $0.relationships.contains { $0.name == name } }
        guard let owner, let inverse = owner.relationships.first(where: { $0.name == name }),
            inverse.inverseName == nil,
            owner.name != entity.name || inverse.name != relationship.name
        else { return nil }
        return RelationshipName(entity: owner.name, name: name)
    }
}
