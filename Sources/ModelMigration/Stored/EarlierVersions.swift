package import ManagedModel

extension ManagedObjectModel {
    /// Sets ``earlierVersions``: follows the names of this model's elements through the earlier versions, and keeps the names
    /// that this model alone does not determine.
    ///
    /// - Parameter versions: The earlier versions, oldest first. A version with an ambiguous step to the next version is left
    ///   out, and so are all older versions.
    /// - Complexity: the cost of a migration plan for each version.
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
            // Of several versions with the same shape, the newest version is used.
            let hashes = version.hashes.subtracting(known)
            known.formUnion(hashes)
            guard !hashes.isEmpty, let earlier = names.earlierVersion(hashes, side, newest) else { continue }
            earlierVersions.append(earlier)
        }
    }

    /// The hashes of the models for which a store of this version can be made.
    private var hashes: Set<String> {
        var hashes: Set = [hash.description]
        for configuration in configurations {
            if let part = try? restricted(toConfiguration: configuration.name) { hashes.insert(part.hash.description) }
        }
        return hashes
    }
}

extension NameTable {
    /// The names that the two models alone do not determine; nil if there are none.
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
        let isImpliedByModels = NameTable.entities(old, new) == entities && earlier.propertyNames.isEmpty
        return isImpliedByModels ? nil : earlier
    }
}

/// The older names of a model's elements, by their newer names.
struct NameTable: Equatable {
    var entities: [String: String]
    /// By the newer name of the entity, with inherited properties. An entity that is not listed has the same names and
    /// identifiers in both models.
    var properties: [String: [String: String]] = [:]

    /// The names that the two models alone determine; nil if the names are ambiguous.
    init?(from old: MigrationSide, to new: MigrationSide) {
        guard let entities = NameTable.entities(old, new) else { return nil }
        self.entities = entities
        let hasSameComposites = old.model.composites == new.model.composites
        for (name, oldName) in entities {
            guard let newEntity = new.lookup.entities[name], let oldEntity = old.lookup.entities[oldName] else {
                continue
            }
            // A quick check, because most entities are equal in two versions.
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

    /// Combines two steps: the names in the oldest of three models, by the names in the newest.
    ///
    /// - Parameter older: The names in the oldest model, by the names in the middle model.
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

    /// The old names of all entities by their new names; nil if the names are ambiguous.
    static func entities(_ old: MigrationSide, _ new: MigrationSide) -> [String: String]? {
        let matching = NameMatching(from: old.model.entities.map(\.named), to: new.model.entities.map(\.named))
        guard matching.isClear else { return nil }
        return matching.pairs.reduce(into: [:]) { names, pair in
            names[new.model.entities[pair.key].name] = old.model.entities[pair.value].name
        }
    }

    /// The old names of an entity's attributes, leaves of composites and relationships; nil if the names are ambiguous.
    ///
    /// - Parameter oldNames: The old names of all entities by their new names.
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

    /// Whether each element has the same name and the same identifier in both models.
    var areEqual: Bool { kinds.allSatisfy { Set($0.old) == Set($0.new) } }

    /// The old names by the new names; nil if the names are ambiguous.
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
