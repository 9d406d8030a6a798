package import ManagedModel

extension ManagedObjectModel {
    /// Sets ``earlierVersions``. Follows the names of this model's elements through the earlier versions, and keeps the names
    /// that the models alone do not determine.
    ///
    /// - Parameter versions: The earlier versions, oldest first. If the step from a version to the next version is
    ///   ambiguous, that version and all older versions are left out.
    /// - Complexity: The cost of a migration plan for each version.
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
            // If several versions have the same shape, use only the newest of them.
            let hashes = version.hashes.subtracting(known)
            known.formUnion(hashes)
            guard !hashes.isEmpty, let earlier = names.earlierVersion(hashes, side, newest) else { continue }
            earlierVersions.append(earlier)
        }
    }

    /// The hashes of this version and of its configurations. A store of this version has one of these hashes.
    private var hashes: Set<String> {
        var hashes: Set = [hash.description]
        for configuration in configurations {
            if let part = try? restricted(toConfiguration: configuration.name) { hashes.insert(part.hash.description) }
        }
        return hashes
    }
}

extension NameTable {
    /// Returns the names in an earlier version; nil if the two models alone determine all these names.
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
    /// The older names of properties, including inherited properties. The outer keys are the newer names of entities.
    /// An entity is left out if its elements have the same names and identifiers in both models.
    var properties: [String: [String: String]] = [:]

    /// Finds the names that the two models alone determine. Returns nil if the names are ambiguous.
    init?(from old: MigrationSide, to new: MigrationSide) {
        guard let entities = NameTable.entities(old, new) else { return nil }
        self.entities = entities
        let hasSameComposites = old.model.composites == new.model.composites
        for (name, oldName) in entities {
            guard let newEntity = new.lookup.entities[name], let oldEntity = old.lookup.entities[oldName] else {
                continue
            }
            // Check this first, because most entities are the same in two versions.
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

    /// Combines two steps between three models. Returns the names in the oldest model, by the names in the newest model.
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

    /// Returns the old names of all entities, by their new names. Returns nil if the names are ambiguous.
    static func entities(_ old: MigrationSide, _ new: MigrationSide) -> [String: String]? {
        let matching = NameMatching(from: old.model.entities.map(\.named), to: new.model.entities.map(\.named))
        guard matching.isUnambiguous else { return nil }
        return matching.pairs.reduce(into: [:]) { names, pair in
            names[new.model.entities[pair.key].name] = old.model.entities[pair.value].name
        }
    }

    /// Returns the old names of an entity's attributes, composite leaves and relationships, by their new names. Returns nil if
    /// the names are ambiguous.
    ///
    /// - Parameter oldNames: The old names of all entities, by their new names.
    static func properties(
        from oldEntity: EntityDescription, in old: MigrationSide, to newEntity: EntityDescription,
        in new: MigrationSide, oldNames: [String: String]
    ) -> [String: String]? {
        Elements(from: oldEntity, in: old, to: newEntity, in: new, oldNames: oldNames).names
    }
}

/// The attributes, leaves and relationships of an entity in two models.
private struct Elements {
    private let kinds: [(old: [NameKey<[String]>], new: [NameKey<[String]>])]

    init(
        from oldEntity: EntityDescription, in old: MigrationSide, to newEntity: EntityDescription,
        in new: MigrationSide, oldNames: [String: String]
    ) {
        func attributes(_ entity: EntityDescription, _ side: MigrationSide) -> [NameKey<[String]>] {
            side.lookup.lineage(of: entity).flatMap(\.attributes).filter { !$0.isTransient }.map {
                NameKey(name: [$0.name], identifier: $0.renamingIdentifier.map { [$0] })
            }
        }
        kinds = [
            (attributes(oldEntity, old), attributes(newEntity, new)),
            (old.leaves(of: oldEntity).map(\.named), new.namedLeaves(of: newEntity, since: old, oldNames)),
            (
                old.relationships(of: oldEntity).map { NameKey(path: $0.relationship.named) },
                new.namedRelationships(of: newEntity, since: old, oldNames).map { NameKey(path: $0) }
            ),
        ]
    }

    /// Whether each element has the same name and the same identifier in both models.
    var areEqual: Bool { kinds.allSatisfy { Set($0.old) == Set($0.new) } }

    /// The old names, by the new names; nil if the names are ambiguous.
    var names: [String: String]? {
        var names: [String: String] = [:]
        for (old, new) in kinds {
            let matching = NameMatching(from: old, to: new)
            guard matching.isUnambiguous else { return nil }
            for (position, match) in matching.pairs {
                names[new[position].name.joined(separator: ".")] = old[match].name.joined(separator: ".")
            }
        }
        return names
    }
}
