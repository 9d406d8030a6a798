internal import ManagedModel

/// Identifiers of inherited properties that say nothing about the entity that inherits them.
///
/// A property that its own entity has had since an earlier version keeps its identifier. An entity that comes into that hierarchy may
/// have a property of its own that has this identifier as its name, and the two have nothing to do with each other.
extension MigrationSide {
    /// The leaves of an entity, to be matched with those that it had in an old model.
    ///
    /// - Parameter oldNames: The old names of entities by the new ones.
    func namedLeaves(of entity: EntityDescription, since old: MigrationSide, _ oldNames: [String: String]) -> [Named<
        [String]
    >] {
        let inherited = lookup.lineage(of: entity).dropFirst().reduce(into: [[String]: Named<[String]>]()) {
            names, owner in
            guard let before = oldNames[owner.name].flatMap({ old.lookup.entities[$0] }) else { return }
            let oldNames = Set(old.leaves(of: before).map(\.named))
            for leaf in ownLeaves(of: owner) where oldNames.contains(leaf.named) { names[leaf.named.name] = leaf.named }
        }
        return leaves(of: entity).map { leaf in
            inherited[leaf.named.name] == leaf.named ? leaf.named.withoutIdentifier : leaf.named
        }
    }

    /// The relationships of an entity in the order of ``relationships(of:)``, to be matched with those that it had in an old model.
    ///
    /// - Parameter oldNames: The old names of entities by the new ones.
    func namedRelationships(
        of entity: EntityDescription, since old: MigrationSide, _ oldNames: [String: String]
    ) -> [Named<String>] {
        relationships(of: entity).map { name, relationship in
            guard name.entity != entity.name, let before = oldNames[name.entity].flatMap({ old.lookup.entities[$0] }),
                old.relationships(of: before).contains(where: { $0.relationship.named == relationship.named })
            else { return relationship.named }
            return relationship.named.withoutIdentifier
        }
    }
}

extension Named {
    fileprivate var withoutIdentifier: Named { Named(name: name, identifier: nil) }
}
