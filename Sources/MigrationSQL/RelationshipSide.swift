internal import ManagedModel

/// A relationship and its inverse, where they are declared.
struct RelationshipSide {
    let relationship: RelationshipDescription?
    let inverse: RelationshipName?

    init(_ model: ManagedObjectModel, _ name: RelationshipName) {
        relationship = model.entity(named: name.entity)?.relationships.first { $0.name == name.name }
        guard let relationship, let inverseName = relationship.inverseName,
            let destination = model.entity(named: relationship.destinationName),
            let owner = model.lineage(of: destination).first(where: { owner in
                owner.relationships.contains { $0.name == inverseName }
            })
        else {
            inverse = nil
            return
        }
        inverse = RelationshipName(entity: owner.name, name: inverseName)
    }
}
