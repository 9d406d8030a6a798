package import ManagedModel

extension ManagedObjectModel {
    /// Follows the names of this model's elements through the versions before it, and keeps those that this model alone would not
    /// find: see ``earlierVersions``.
    ///
    /// - Parameter versions: The versions before this one, oldest first. A version whose step to the next one is not clear is left
    ///   out, as are all that are older.
    /// - Complexity: that of a migration's plan, for each version.
    package mutating func follow(_ versions: [ManagedObjectModel]) {
        earlierVersions = []
        let own = hash
        let newest = MigrationSide(self)
        var (next, table) = (newest, NameTable?.none)
        var known: Set<String> = [own.description]
        for version in versions.reversed() {
            let side = MigrationSide(version)
            guard let step = NameTable(from: side, to: next) else { return }
            let names = table.map { $0.followed(by: step) } ?? step
            (next, table) = (side, names)
            // A newer version of the same shape is nearer.
            let hashes = version.hashes.subtracting(known)
            known.formUnion(hashes)
            guard !hashes.isEmpty, let earlier = names.earlierVersion(hashes, side, newest) else { continue }
            earlierVersions.append(earlier)
        }
    }

    /// The hashes of the models that a store of this version can be made for.
    private var hashes: Set<String> {
        var hashes: Set = [hash.description]
        for configuration in configurations {
            if let part = try? restricted(toConfiguration: configuration.name) { hashes.insert(part.hash.description) }
        }
        return hashes
    }
}

extension NameTable {
    /// What the names say that the two models do not; nil if that is nothing.
    fileprivate func earlierVersion(_ hashes: Set<String>, _ old: MigrationSide, _ new: MigrationSide)
        -> EarlierVersion?
    {
        var earlier = EarlierVersion(hashes: hashes, entityNames: entities)
        for (name, oldName) in entities {
            guard let entity = new.lookup.entities[name], let oldEntity = old.lookup.entities[oldName],
                let names = properties[name],
                names != NameTable.properties(from: oldEntity, in: old, to: entity, in: new, oldNames: entities)
            else { continue }
            earlier.propertyNames[name] = names
        }
        let isAsItSeems = NameTable.entities(old, new) == entities && earlier.propertyNames.isEmpty
        return isAsItSeems ? nil : earlier
    }
}

/// The names that the elements of a model have in an older one, by their names in the newer one.
struct NameTable: Equatable {
    var entities: [String: String]
    /// By the newer name of the entity, inherited properties included. An entity that is not listed has the same names and identifiers
    /// in both models.
    var properties: [String: [String: String]] = [:]

    /// The names as the two models say them themselves; nil if they do not say them clearly.
    init?(from old: MigrationSide, to new: MigrationSide) {
        guard let entities = NameTable.entities(old, new) else { return nil }
        self.entities = entities
        let hasSameComposites = old.model.composites == new.model.composites
        for (name, oldName) in entities {
            guard let newEntity = new.lookup.entities[name], let oldEntity = old.lookup.entities[oldName] else {
                continue
            }
            // Most entities of two versions are equal, which is found out soon.
            let lineage = new.lookup.lineage(of: newEntity)
            if hasSameComposites, lineage == old.lookup.lineage(of: oldEntity),
                lineage.allSatisfy({ entities[$0.name] == $0.name })
            {
                continue
            }
            let elements = Elements(from: oldEntity, in: old, to: newEntity, in: new, oldNames: entities)
            guard let names = elements.names else { return nil }
            if !elements.areEqual { properties[name] = names }
        }
    }

    /// The names in a model that is older still.
    ///
    /// - Parameter older: Those of the older model's elements in that one.
    func followed(by older: NameTable) -> NameTable {
        var table = self
        table.entities = entities.compactMapValues { older.entities[$0] }
        table.properties = [:]
        for name in table.entities.keys {
            guard let middle = entities[name] else { continue }
            switch (properties[name], older.properties[middle]) {
            case (let names?, let olderNames?): table.properties[name] = names.compactMapValues { olderNames[$0] }
            case (let names, let olderNames): table.properties[name] = names ?? olderNames
            }
        }
        return table
    }

    /// The old names of all entities by the new ones; nil if they are not clear.
    static func entities(_ old: MigrationSide, _ new: MigrationSide) -> [String: String]? {
        let matching = NameMatching(from: old.model.entities.map(\.named), to: new.model.entities.map(\.named))
        guard matching.isClear else { return nil }
        return matching.pairs.reduce(into: [:]) { names, pair in
            names[new.model.entities[pair.key].name] = old.model.entities[pair.value].name
        }
    }

    /// The old names of an entity's attributes, of the leaves of its composites and of its relationships; nil if they are not
    /// clear.
    ///
    /// - Parameter oldNames: The old names of all entities by the new ones.
    static func properties(
        from oldEntity: EntityDescription, in old: MigrationSide, to newEntity: EntityDescription,
        in new: MigrationSide, oldNames: [String: String]
    ) -> [String: String]? {
        Elements(from: oldEntity, in: old, to: newEntity, in: new, oldNames: oldNames).names
    }
}

/// The attributes, the leaves and the relationships of an entity in two models.
private struct Elements {
    private let kinds: [(old: [Named<[String]>], new: [Named<[String]>])]

    init(
        from oldEntity: EntityDescription, in old: MigrationSide, to newEntity: EntityDescription,
        in new: MigrationSide, oldNames: [String: String]
    ) {
        func attributes(_ entity: EntityDescription, _ side: MigrationSide) -> [Named<[String]>] {
            side.lookup.lineage(of: entity).flatMap(\.attributes).filter { !$0.isTransient }.map {
                Named(name: [$0.name], identifier: $0.renamingIdentifier.map { [$0] })
            }
        }
        kinds = [
            (attributes(oldEntity, old), attributes(newEntity, new)),
            (old.leaves(of: oldEntity).map(\.named), new.namedLeaves(of: newEntity, since: old, oldNames)),
            (
                old.relationships(of: oldEntity).map { Named(path: $0.relationship.named) },
                new.namedRelationships(of: newEntity, since: old, oldNames).map { Named(path: $0) }
            ),
        ]
    }

    /// Whether each of them has the same name and the same identifier in both models.
    var areEqual: Bool { kinds.allSatisfy { Set($0.old) == Set($0.new) } }

    /// The old names by the new ones; nil if they are not clear.
    var names: [String: String]? {
        var names: [String: String] = [:]
        for (old, new) in kinds {
            let matching = NameMatching(from: old, to: new)
            guard matching.isClear else { return nil }
            for (position, match) in matching.pairs {
                names[new[position].name.joined(separator: ".")] = old[match].name.joined(separator: ".")
            }
        }
        return names
    }
}
