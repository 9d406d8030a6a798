internal import ManagedModel

/// The plan for the property of a relationship.
struct RelationshipPlan {
    enum Kind {
        case toOne
        case toMany
        case ordered
    }

    /// The relationship's name in the model.
    var relationshipName: String
    /// The identifier, not yet escaped.
    var name: String
    /// The class of the destination, escaped.
    var destination: String
    var kind: Kind
    /// The relationship's index among those of its entity, inherited ones first.
    var index: Int
}

extension ModelPlan {
    /// The relationships of some entities, each the parent of the next.
    func relationshipList(of entities: [EntityDescription], in scope: inout NameScope) -> RelationshipList {
        var list = RelationshipList()
        for entity in entities {
            let inherited = model.lineage(of: entity).dropFirst().reduce(0) { $0 + $1.relationships.count }
            var typed: [(index: Int, relationship: RelationshipDescription)] = []
            for (index, relationship) in entity.relationships.enumerated() {
                if model.linkStorage(of: RelationshipName(entity: entity.name, name: relationship.name)) == .none {
                    list.omissions.append(
                        .init(
                            attributeName: relationship.name,
                            reason: "a transient to-many relationship is not stored"))
                } else {
                    typed.append((inherited + index, relationship))
                }
            }
            let claims = typed.map { entry in
                let name = ReservedNames.member(Identifier.sanitised(entry.relationship.name))
                return (name, name == entry.relationship.name)
            }
            for (entry, name) in zip(typed, scope.claim(each: claims)) {
                let relationship = entry.relationship
                list.relationships.append(
                    RelationshipPlan(
                        relationshipName: relationship.name, name: name,
                        destination: names.classes[relationship.destinationName].map(Identifier.escaped)
                            ?? "ManagedObject",
                        kind: relationship.isToMany ? relationship.isOrdered ? .ordered : .toMany : .toOne,
                        index: entry.index))
            }
        }
        return list
    }
}

/// The properties of relationships, and why some have none.
struct RelationshipList {
    var relationships: [RelationshipPlan] = []
    var omissions: [PropertyList.Omission] = []
}
