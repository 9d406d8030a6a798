internal import ManagedModel

/// The names that the elements of a model have in an older one, by their names in the newer one.
struct NameTable: Equatable {
    var entities: [String: String]
    /// By the newer name of the entity, inherited properties included.
    var properties: [String: [String: String]]

    /// The names as the two models say them themselves; nil if they do not say them clearly.
    init?(from old: MigrationSide, to new: MigrationSide) {
        let matching = NameMatching(from: old.model.entities.map(\.named), to: new.model.entities.map(\.named))
        guard matching.isClear else { return nil }
        entities = [:]
        properties = [:]
        for (position, match) in matching.pairs {
            entities[new.model.entities[position].name] = old.model.entities[match].name
        }
        for (position, match) in matching.pairs {
            let (newEntity, oldEntity) = (new.model.entities[position], old.model.entities[match])
            guard let names = NameTable.properties(oldEntity, old, newEntity, new, entities) else { return nil }
            properties[newEntity.name] = names
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
            guard let middle = entities[name], let names = properties[name], let olderNames = older.properties[middle]
            else { continue }
            table.properties[name] = names.compactMapValues { olderNames[$0] }
        }
        return table
    }

    /// The old names of an entity's attributes, of the leaves of its composites and of its relationships; nil if they are not
    /// clear.
    ///
    /// - Parameter oldNames: The old names of all entities by the new ones.
    static func properties(
        _ oldEntity: EntityDescription, _ old: MigrationSide, _ newEntity: EntityDescription, _ new: MigrationSide,
        _ oldNames: [String: String]
    ) -> [String: String]? {
        func attributes(_ entity: EntityDescription, _ side: MigrationSide) -> [Named<[String]>] {
            side.lookup.lineage(of: entity).flatMap(\.attributes).filter { !$0.isTransient }.map {
                Named(name: [$0.name], identifier: $0.renamingIdentifier.map { [$0] })
            }
        }
        let elements = [
            (attributes(oldEntity, old), attributes(newEntity, new)),
            (old.leaves(of: oldEntity).map(\.named), new.namedLeaves(of: newEntity, since: old, oldNames)),
            (
                old.relationships(of: oldEntity).map { Named(path: $0.relationship.named) },
                new.namedRelationships(of: newEntity, since: old, oldNames).map { Named(path: $0) }
            ),
        ]
        var names: [String: String] = [:]
        for (oldOnes, newOnes) in elements {
            let matching = NameMatching(from: oldOnes, to: newOnes)
            guard matching.isClear else { return nil }
            for (position, match) in matching.pairs {
                names[newOnes[position].name.joined(separator: ".")] = oldOnes[match].name.joined(separator: ".")
            }
        }
        return names
    }
}
