internal import ManagedModel

extension MigrationPlanner {
    /// Describes all changes between the models in words, including renamings, moves and losses.
    mutating func describe() {
        var changes: [ModelDifference.Change] = []
        for entity in old.model.entities where newNames[entity.name] == nil {
            var words = "removed"
            if !entity.isAbstract { words += "; its objects are lost" }
            if new.lookup.entities[entity.name] != nil { words += "; another entity has its name" }
            changes.append(.init(entityName: entity.name, words: words))
        }
        for entity in new.model.entities {
            if let oldEntity = oldNames[entity.name].flatMap({ old.lookup.entities[$0] }) {
                changes += self.changes(oldEntity, entity)
            } else {
                changes.append(.init(entityName: entity.name, words: "added"))
            }
        }
        // Keep the order of changes of the same element.
        plan.changes = changes.enumerated().sorted { lhs, rhs in
            let keys = [lhs, rhs].map { [$0.element.entityName, $0.element.propertyName ?? ""] }
            return keys[0].precedes(keys[1]) || (!keys[1].precedes(keys[0]) && lhs.offset < rhs.offset)
        }.map(\.element)
    }

    private func changes(_ oldEntity: EntityDescription, _ entity: EntityDescription) -> [ModelDifference.Change] {
        var words = entity.name == oldEntity.name ? [] : ["renamed from \(oldEntity.name)"]
        let oldShape = withNewNames(oldEntity, entity)
        let shape = EntityShape(of: entity, in: new.lookup)
        words += oldShape.changeDescriptions(to: shape)
        let known = earlier?.leafNames(in: entity.name)
        let attributes = PropertyPairs(
            oldNames: oldShape.attributes.map { old.named($0, in: oldEntity) },
            newNames: shape.attributes.map { new.named($0, in: entity) },
            old: oldShape.attributes, new: shape.attributes, known: known)
        let relationships = PropertyPairs(
            oldNames: oldEntity.storedRelationships.map { NameKey(path: $0.named) },
            newNames: entity.storedRelationships.map { NameKey(path: $0.named) },
            old: oldShape.relationships, new: shape.relationships, known: known)
        return words.map { .init(entityName: entity.name, words: $0) }
            + attributes.changes(of: entity.name) { removalDescription(of: $0, oldEntity) }
            + relationships.changes(of: entity.name) { removalDescription(of: $0, oldEntity) }
    }

    // MARK: Properties that an entity no longer has

    /// Returns words such as `moved to Item.pages`, or `removed (Integer 32, optional); its values are lost`.
    private func removalDescription(of attribute: AttributeShape, _ entity: EntityDescription) -> String {
        let loss = lossWords(entity.name, attribute.path.joined(separator: "."))
        let leaf = old.ownLeaves(of: entity).first { $0.named.name == attribute.path }
        var paths: Set<String> = []
        for migration in migrations(of: entity) {
            guard let position = leaf.flatMap({ migration.destination(of: $0.column) }),
                let newEntity = new.lookup.entities[migration.newName]
            else { continue }
            let name = new.columns(of: newEntity)[position].name
            let owner = new.lookup.lineage(of: newEntity).first { owner in
                new.ownLeaves(of: owner).contains { $0.path == name }
            }
            paths.insert("\(owner?.name ?? newEntity.name).\(name)")
        }
        return (paths.isEmpty ? attribute.words(afterVerb: "removed") : moved(to: paths)) + loss
    }

    private func removalDescription(of relationship: RelationshipShape, _ entity: EntityDescription) -> String {
        let name = RelationshipName(entity: entity.name, name: relationship.name)
        let inverse = old.relationship(name).flatMap(old.inverse)
        let loss =
            [name, inverse].compactMap(\.self).lazy.map { lossWords($0.entity, $0.name) }.first { !$0.isEmpty } ?? ""
        func paths(_ source: RelationshipName?) -> Set<String> {
            Set(plan.links.filter { $1.contains { $0.relationship == source } }.keys.map { "\($0.entity).\($0.name)" })
        }
        if !paths(name).isEmpty { return moved(to: paths(name)) + loss }
        let removed = relationship.words(afterVerb: "removed")
        guard loss.isEmpty, !paths(inverse).isEmpty else { return removed + loss }
        return "\(removed); its links stay in \(paths(inverse).sorted().joined(separator: ", "))"
    }

    private func moved(to paths: Set<String>) -> String { "moved to \(paths.sorted().joined(separator: ", "))" }

    private func lossWords(_ entityName: String, _ propertyName: String) -> String {
        let owner = newNames[entityName] ?? entityName
        guard let loss = plan.losses.first(where: { $0.entityName == owner && $0.propertyName == propertyName }) else {
            return ""
        }
        let limit = loss.sources.isEmpty ? "" : " in \(loss.sources.joined(separator: ", "))"
        return "; its \(loss.kind.rawValue)\(limit) are lost"
    }

    // MARK: Names

    /// Returns the shape of an old entity with new names. Only its own properties keep their old names.
    private func withNewNames(_ oldEntity: EntityDescription, _ newEntity: EntityDescription) -> EntityShape {
        var entity = oldEntity
        entity.name = newEntity.name
        entity.parentName = entity.parentName.map { newNames[$0] ?? $0 }
        let names = propertyNames(old.lookup.lineage(of: oldEntity), new.lookup.lineage(of: newEntity))
        entity.uniquenessConstraints = entity.uniquenessConstraints.map { $0.map { names[$0] ?? $0 } }
        for (index, relationship) in oldEntity.relationships.enumerated() {
            entity.relationships[index].destinationName =
                newNames[relationship.destinationName] ?? relationship.destinationName
            entity.relationships[index].inverseName = newName(ofInverseOf: relationship)
        }
        return EntityShape(of: entity, in: old.lookup)
    }

    private func newName(ofInverseOf relationship: RelationshipDescription) -> String? {
        guard let inverse = old.inverse(of: relationship), let owner = old.lookup.entities[inverse.entity],
            let newOwner = newNames[inverse.entity].flatMap({ new.lookup.entities[$0] })
        else { return relationship.inverseName }
        return propertyNames([owner], [newOwner])[inverse.name] ?? inverse.name
    }

    /// Returns the new names of the properties of old entities, by their old names.
    private func propertyNames(_ oldLineage: [EntityDescription], _ newLineage: [EntityDescription]) -> [String: String]
    {
        var names: [String: String] = [:]
        func add(_ named: (EntityDescription) -> [NameKey<String>]) {
            let (old, new) = (oldLineage.flatMap(named), newLineage.flatMap(named))
            let known = newLineage.first.flatMap { earlier?.propertyNames[$0.name] }
            for (position, match) in NameMatching(from: old, to: new, known: known).pairs {
                names[old[match].name] = new[position].name
            }
        }
        add { $0.attributes.map { NameKey(name: $0.name, identifier: $0.renamingIdentifier) } }
        add { $0.relationships.map(\.named) }
        return names
    }
}

/// The old and new properties of an entity, matched in pairs.
private struct PropertyPairs<Shape: PropertyShape> {
    private let old: [Shape]
    private let new: [Shape]
    private let pairs: [Int: Int]

    /// The names and the shapes must have the same order.
    init(
        oldNames: [NameKey<[String]>], newNames: [NameKey<[String]>], old: [Shape], new: [Shape],
        known: [[String]: [String]]?
    ) {
        self.old = old
        self.new = new
        pairs = NameMatching(from: oldNames, to: newNames, known: known).pairs
    }

    /// - Parameter removalDescription: Returns the words for an old property that has no new property.
    func changes(of entityName: String, removalDescription: (Shape) -> String) -> [ModelDifference.Change] {
        let removed = old.indices.filter { !pairs.values.contains($0) }.map {
            (old[$0].path, removalDescription(old[$0]))
        }
        let others = new.enumerated().flatMap { index, shape in
            guard let oldShape = pairs[index].map({ old[$0] }) else {
                return [(shape.path, shape.words(afterVerb: "added"))]
            }
            let renamed = oldShape.path == shape.path ? [] : ["renamed from \(oldShape.path.joined(separator: "."))"]
            return (renamed + Shape.words(from: oldShape, to: shape)).map { (shape.path, $0) }
        }
        return (removed + others).map { path, words in
            .init(entityName: entityName, propertyName: path.joined(separator: "."), words: words)
        }
    }
}

extension MigrationSide {
    fileprivate func named(_ shape: AttributeShape, in entity: EntityDescription) -> NameKey<[String]> {
        NameKey(name: shape.path, identifier: identifier(of: shape.path[...], in: entity.attributes))
    }
}

extension NameKey where Name == [String] {
    init(path named: NameKey<String>) {
        self.init(name: [named.name], identifier: named.identifier.map { [$0] })
    }
}

extension EntityDescription {
    /// The stored relationships, in the same order as their shapes.
    fileprivate var storedRelationships: [RelationshipDescription] {
        relationships.filter { !$0.isTransient }.sorted { [$0.name].precedes([$1.name]) }
    }
}
