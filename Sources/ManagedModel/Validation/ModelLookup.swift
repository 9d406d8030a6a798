/// A model's entities and composites by name, built once where a whole model is walked.
package struct ModelLookup {
    package let entities: [String: EntityDescription]
    package let composites: [String: CompositeDescription]
    /// The names of the entities that have sub-entities.
    package let parentNames: Set<String>
    /// The relationships of each entity, by the entity's name and their own.
    private let relationships: [String: [String: RelationshipDescription]]

    package init(_ model: ManagedObjectModel) {
        entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        composites = Dictionary(model.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        parentNames = Set(model.entities.compactMap(\.parentName))
        relationships = entities.mapValues { entity in
            Dictionary(entity.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The entity and its ancestors, nearest first, up to an unknown parent or the start of a cycle.
    package func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        var names: Set = [entity.name]
        while let name = lineage.last?.parentName, let parent = entities[name], names.insert(name).inserted {
            lineage.append(parent)
        }
        return lineage
    }

    /// Whether one of the two is the other or an ancestor of it.
    package func isRelated(_ one: EntityDescription, to other: EntityDescription) -> Bool {
        lineage(of: one).contains { $0.name == other.name } || lineage(of: other).contains { $0.name == one.name }
    }

    /// The entity's relationship with that name, including inherited ones.
    package func relationship(named name: String, of entity: EntityDescription) -> RelationshipDescription? {
        lineage(of: entity).lazy.compactMap { relationships[$0.name]?[name] }.first
    }

    /// Why a relationship's inverse is invalid, as a sentence; nil if it is valid or there is none.
    ///
    /// An inverse must be a relationship of the destination, or of an ancestor of it, that points back.
    package func inverseFault(
        of relationship: RelationshipDescription, in entity: EntityDescription
    ) -> (code: ModelError.Code, sentence: String)? {
        guard let inverseName = relationship.inverseName, let destination = entities[relationship.destinationName]
        else {
            return nil
        }
        let source = "\(entity.name).\(relationship.name)"
        let target = "\(destination.name).\(inverseName)"
        guard let inverse = self.relationship(named: inverseName, of: destination) else {
            return (.unknownReference, "The inverse of \(source) is \(target), which does not exist.")
        }
        guard inverse.inverseName == relationship.name, let back = entities[inverse.destinationName],
            isRelated(back, to: entity)
        else {
            return (.inverseMismatch, "The inverse of \(source) is \(target), which does not point back.")
        }
        return nil
    }
}
