extension MigrationPlanner {
    /// Says what changes: what was renamed, then everything else that makes the models differ.
    mutating func describe() {
        var renamed: [String] = []
        var model = old.model
        model.entities = old.model.entities.compactMap { entity in
            guard let newName = newNames[entity.name], let counterpart = new.lookup.entities[newName] else {
                // A name that another entity has now would be taken for it.
                if oldNames[entity.name] != nil {
                    renamed.append("\(entity.name): removed, and another entity has its name")
                    return nil
                }
                return entity
            }
            if newName != entity.name { renamed.append("\(newName): renamed from \(entity.name)") }
            let names = propertyNames(entity, counterpart)
            for (oldName, name) in names.sorted(by: { [$0.value].precedes([$1.value]) }) where oldName != name {
                renamed.append("\(newName).\(name): renamed from \(oldName)")
            }
            return withNewNames(entity, newName, names)
        }
        plan.changes = renamed + ModelDifference(from: model, to: new.model).changes.map(\.description)
    }

    /// The new names of an entity's own properties by the old ones.
    private func propertyNames(_ oldEntity: EntityDescription, _ newEntity: EntityDescription) -> [String: String] {
        func add<Property>(_ oldOnes: [Property], _ newOnes: [Property], _ named: (Property) -> Named<String>) {
            let matching = NameMatching(from: oldOnes.map(named), to: newOnes.map(named))
            for (position, match) in matching.pairs {
                names[named(oldOnes[match]).name] = named(newOnes[position]).name
            }
        }
        var names: [String: String] = [:]
        add(oldEntity.attributes, newEntity.attributes) {
            Named(name: $0.name, identifier: $0.renamingIdentifier ?? $0.name)
        }
        add(oldEntity.relationships, newEntity.relationships, \.named)
        return names
    }

    private func withNewNames(
        _ entity: EntityDescription, _ name: String, _ names: [String: String]
    ) -> EntityDescription {
        var entity = entity
        entity.name = name
        entity.parentName = entity.parentName.map { newNames[$0] ?? $0 }
        for index in entity.attributes.indices {
            entity.attributes[index].name = names[entity.attributes[index].name] ?? entity.attributes[index].name
        }
        for index in entity.relationships.indices {
            let relationship = entity.relationships[index]
            entity.relationships[index].name = names[relationship.name] ?? relationship.name
            entity.relationships[index].destinationName =
                newNames[relationship.destinationName] ?? relationship.destinationName
            entity.relationships[index].inverseName = newName(ofInverseOf: relationship)
        }
        entity.uniquenessConstraints = entity.uniquenessConstraints.map { $0.map { names[$0] ?? $0 } }
        return entity
    }

    private func newName(ofInverseOf relationship: RelationshipDescription) -> String? {
        guard let inverse = old.inverse(of: relationship), let owner = old.lookup.entities[inverse.entity],
            let newOwner = newNames[inverse.entity].flatMap({ new.lookup.entities[$0] })
        else { return relationship.inverseName }
        return propertyNames(owner, newOwner)[inverse.name] ?? inverse.name
    }
}
