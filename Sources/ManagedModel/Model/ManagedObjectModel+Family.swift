extension ManagedObjectModel {
    /// The entity and its ancestors, nearest first. A cycle, which no checked model has, ends the list.
    public func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        while let parentName = lineage.last?.parentName, let parent = self.entity(named: parentName),
            !lineage.contains(where: { $0.name == parent.name })
        {
            lineage.append(parent)
        }
        return lineage
    }

    /// The direct sub-entities of the entity of that name, sorted by name.
    public func children(ofEntityNamed name: String) -> [EntityDescription] {
        entities.filter { $0.parentName == name }
    }

    /// The entity of that name and all entities below it.
    public func family(ofEntityNamed name: String) -> [EntityDescription] {
        guard entities.contains(where: { $0.parentName == name }) else { return entity(named: name).map { [$0] } ?? [] }
        var names: Set = [name]
        var count = 0
        while names.count > count {
            count = names.count
            for entity in entities where entity.parentName.map(names.contains) ?? false { names.insert(entity.name) }
        }
        return entities.filter { names.contains($0.name) }
    }
}
