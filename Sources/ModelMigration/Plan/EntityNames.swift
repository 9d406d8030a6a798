package import ManagedModel

/// Finds the names that the entities of earlier models have in a model.
package struct EntityNames: Sendable, Hashable {
    private let identifiers: [String: String]
    private let earlierVersions: [EarlierVersion]

    package init(of model: ManagedObjectModel) {
        identifiers = model.entities.reduce(into: [:]) { $0[$1.name] = $1.renamingIdentifier }
        earlierVersions = model.earlierVersions
    }

    /// Makes a value with no earlier names. Entities are then matched by name.
    package init() {
        identifiers = [:]
        earlierVersions = []
    }

    /// Returns the new names of an old model's entities, by their old names. Removed entities are left out.
    ///
    /// - Parameter new: The names of the new entities, in a fixed order.
    package func matches(from old: ManagedObjectModel, to new: [String]) -> [String: String] {
        let hash = old.hash.description
        let matching = NameMatching(
            from: old.entities.map(\.named), to: new.map { NameKey(name: $0, identifier: identifiers[$0]) },
            known: earlierVersions.version(withHash: hash)?.entityNames)
        return matching.pairs.reduce(into: [:]) { $0[old.entities[$1.value].name] = new[$1.key] }
    }
}

extension [EarlierVersion] {
    /// Returns the version with the hash. Returns nil if there is no such version; entities are then matched by their names
    /// and renaming identifiers.
    func version(withHash hash: String) -> EarlierVersion? { first { $0.hashes.contains(hash) } }
}

extension EarlierVersion {
    /// Returns the old paths of an entity's leaves, by their new paths. Returns nil if the version does not list the
    /// entity; leaves are then matched by their names and renaming identifiers.
    func leafNames(in entityName: String) -> [[String]: [String]]? {
        propertyNames[entityName].map { names in
            names.reduce(into: [:]) { $0[$1.key.parts(separatedBy: ".")] = $1.value.parts(separatedBy: ".") }
        }
    }
}

extension ManagedObjectModel {
    var withoutRenamingIdentifiers: ManagedObjectModel {
        var model = self
        model.earlierVersions = []
        for entity in model.entities.indices {
            model.entities[entity].renamingIdentifier = nil
            for index in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[index].renamingIdentifier = nil
            }
            for index in model.entities[entity].relationships.indices {
                model.entities[entity].relationships[index].renamingIdentifier = nil
            }
        }
        for composite in model.composites.indices {
            for index in model.composites[composite].attributes.indices {
                model.composites[composite].attributes[index].renamingIdentifier = nil
            }
        }
        return model
    }
}

/// Properties that are matched with the properties of an old model. Misleading identifiers of inherited properties are left
/// out.
///
/// For example, the inherited property `b` was called `a` in a version before the old model, and still has the identifier
/// `a`. In the old model, an entity outside of the hierarchy has another property `a`. If this entity becomes a
/// sub-entity, its `a` must not be matched with `b`, so the identifier of `b` is left out.
extension MigrationSide {
    /// Returns the leaves of an entity, for matching with its leaves in an old model.
    ///
    /// - Parameter oldNames: The old names of entities, by their new names.
    func namedLeaves(of entity: EntityDescription, since old: MigrationSide, _ oldNames: [String: String]) -> [NameKey<
        [String]
    >] {
        let inherited = lookup.lineage(of: entity).dropFirst().reduce(into: [[String]: NameKey<[String]>]()) {
            names, owner in
            guard let before = oldNames[owner.name].flatMap({ old.lookup.entities[$0] }) else { return }
            let oldNames = Set(old.leaves(of: before).map(\.named))
            for leaf in ownLeaves(of: owner) where oldNames.contains(leaf.named) { names[leaf.named.name] = leaf.named }
        }
        return leaves(of: entity).map { leaf in
            inherited[leaf.named.name] == leaf.named ? leaf.named.withoutIdentifier : leaf.named
        }
    }

    /// Returns the relationships of an entity, for matching with its relationships in an old model. The result has the
    /// order of ``relationships(of:)``.
    ///
    /// - Parameter oldNames: The old names of entities, by their new names.
    func namedRelationships(
        of entity: EntityDescription, since old: MigrationSide, _ oldNames: [String: String]
    ) -> [NameKey<String>] {
        relationships(of: entity).map { name, relationship in
            guard name.entity != entity.name, let before = oldNames[name.entity].flatMap({ old.lookup.entities[$0] }),
                old.relationships(of: before).contains(where: { $0.relationship.named == relationship.named })
            else { return relationship.named }
            return relationship.named.withoutIdentifier
        }
    }
}

extension NameKey {
    fileprivate var withoutIdentifier: NameKey { NameKey(name: name, identifier: nil) }
}
