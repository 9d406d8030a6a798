package import ManagedModel

/// What a model says about the names that its entities had before.
package struct EntityNames: Sendable, Hashable {
    private let identifiers: [String: String]
    private let earlierVersions: [EarlierVersion]

    package init(of model: ManagedObjectModel) {
        identifiers = model.entities.reduce(into: [:]) { $0[$1.name] = $1.renamingIdentifier }
        earlierVersions = model.earlierVersions
    }

    /// The names are all that is known.
    package init() {
        identifiers = [:]
        earlierVersions = []
    }

    /// The new names of the entities of an old model, by their old ones, without those that are gone.
    ///
    /// - Parameter new: The names of the new entities, in a fixed order.
    package func matches(from old: ManagedObjectModel, to new: [String]) -> [String: String] {
        let hash = old.hash.description
        let matching = NameMatching(
            from: old.entities.map(\.named), to: new.map { Named(name: $0, identifier: identifiers[$0]) },
            known: earlierVersions.version(withHash: hash)?.entityNames)
        return matching.pairs.reduce(into: [:]) { $0[old.entities[$1.value].name] = new[$1.key] }
    }
}

extension [EarlierVersion] {
    /// What the versions between two models say about the older one; nil if they say nothing.
    func version(withHash hash: String) -> EarlierVersion? { first { $0.hashes.contains(hash) } }
}

extension EarlierVersion {
    /// The old paths of an entity's leaves by the new ones; nil if names and identifiers decide.
    func leafNames(in entityName: String) -> [[String]: [String]]? {
        propertyNames[entityName].map { names in
            names.reduce(into: [:]) { $0[$1.key.parts(separatedBy: ".")] = $1.value.parts(separatedBy: ".") }
        }
    }
}

extension ManagedObjectModel {
    /// The model as one that has no predecessor.
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
