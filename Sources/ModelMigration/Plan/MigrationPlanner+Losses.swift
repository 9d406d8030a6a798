package import ManagedModel

extension MigrationPlanner {
    /// Finds the data of old rows that is not carried over to any new row.
    mutating func planLosses() {
        var losses = plan.removedEntities.map {
            MigrationLoss(kind: .objects, entityName: $0, origin: .objects(of: $0))
        }
        func isKnown(_ name: RelationshipName?) -> Bool {
            guard let name else { return false }
            return losses.contains {
                $0.kind == .links && $0.entityName == newNames[name.entity] && $0.propertyName == name.name
            }
        }
        for entity in old.model.entities {
            losses += old.ownLeaves(of: entity).compactMap { lossOfValues($0, entity) }
            for relationship in entity.relationships where !relationship.isTransient {
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                // A relationship and its inverse have separate orders.
                if let loss = lossOfOrder(relationship, name) { losses.append(loss) }
                guard let loss = lossOfLinks(relationship, name) else { continue }
                // A relationship and its inverse have the same links, so only one of the two is listed.
                if !isKnown(old.inverse(of: relationship)) { losses.append(loss) }
            }
        }
        plan.losses = losses.sorted {
            [$0.entityName, $0.propertyName ?? ""].precedes([$1.entityName, $1.propertyName ?? ""])
        }
    }

    /// Returns the carried-over entities that have the properties of an old entity: the entity itself and its
    /// sub-entities.
    func migrations(of entity: EntityDescription) -> [EntityMigration] {
        old.lookup.family(ofEntityNamed: entity.name).compactMap { migrationPositions[$0.name] }.sorted()
            .map { plan.entities[$0] }
    }

    private func lossOfValues(_ leaf: MigrationLeaf, _ entity: EntityDescription) -> MigrationLoss? {
        // A derived value is not lost, because it is calculated from other values.
        guard leaf.attribute.derivationExpression == nil else { return nil }
        let migrations = migrations(of: entity)
        let lossyMigrations = migrations.filter { $0.destination(of: leaf.column) == nil }
        guard !lossyMigrations.isEmpty else { return nil }
        return MigrationLoss(
            kind: .values, entityName: newNames[entity.name] ?? entity.name,
            origin: .values(of: lossyMigrations.map(\.oldName), column: leaf.column), propertyName: leaf.path,
            type: AttributeShape.leaf(leaf).summary,
            sources: lossyMigrations.count == migrations.count ? [] : lossyMigrations.map(\.newName).sortedByBytes)
    }

    private func lossOfLinks(_ relationship: RelationshipDescription, _ name: RelationshipName) -> MigrationLoss? {
        let sources = carriedNames(under: name.entity)
        let destinations = carriedNames(under: relationship.destinationName)
        // If no objects are carried over at one of the ends, lost links are not reported separately: there were no
        // links, or the links are lost together with the objects.
        guard !sources.isEmpty, !destinations.isEmpty else { return nil }
        let ends = ends(ofLinksOf: name, old.inverse(of: relationship))
        let lostSources = sources.filter { source in !ends.contains { $0.sources.contains(newNames[source] ?? "") } }
        let lostDestinations = destinations.filter { destination in
            !ends.contains { $0.destinations.contains(newNames[destination] ?? "") }
        }
        guard !lostSources.isEmpty || !lostDestinations.isEmpty else { return nil }
        let isWhole = lostSources.count == sources.count || lostDestinations.count == destinations.count
        func named(_ names: [String]) -> [String] { names.map { newNames[$0] ?? $0 }.sortedByBytes }
        let others = sources.filter { !lostSources.contains($0) }
        let origin = [
            MigrationLoss.Ends(sources: lostSources, destinations: destinations),
            MigrationLoss.Ends(sources: others, destinations: lostDestinations),
        ]
        return MigrationLoss(
            kind: .links, entityName: newNames[name.entity] ?? name.entity,
            origin: .links(of: name, origin), propertyName: name.name,
            type: RelationshipShape(relationship).summary, sources: isWhole ? [] : named(lostSources),
            destinations: isWhole || !lostSources.isEmpty ? [] : named(lostDestinations))
    }

    /// Finds the objects whose links are carried over without their order.
    private func lossOfOrder(_ relationship: RelationshipDescription, _ name: RelationshipName) -> MigrationLoss? {
        guard relationship.hasOrder else { return nil }
        let sources = carriedNames(under: name.entity)
        let ends = ends(ofLinksOf: name, old.inverse(of: relationship))
        let lossySources = sources.filter { source in
            let own = ends.filter { $0.sources.contains(newNames[source] ?? "") }
            return !own.isEmpty && !own.contains { $0.isOrdered }
        }
        guard !lossySources.isEmpty else { return nil }
        let origin = MigrationLoss.Ends(
            sources: lossySources, destinations: carriedNames(under: relationship.destinationName))
        return MigrationLoss(
            kind: .order, entityName: newNames[name.entity] ?? name.entity, origin: .order(of: name, origin),
            propertyName: name.name, type: RelationshipShape(relationship).summary,
            sources: lossySources.count == sources.count
                ? [] : lossySources.map { newNames[$0] ?? $0 }.sortedByBytes)
    }

    /// Returns the new source entities and the new destination entities of an old relationship's links, and whether the
    /// destinations of each source are still ordered.
    private func ends(
        ofLinksOf name: RelationshipName, _ inverse: RelationshipName?
    ) -> [(sources: Set<String>, destinations: Set<String>, isOrdered: Bool)] {
        plan.links.flatMap { newName, links in
            links.compactMap { link in
                guard link.relationship == name || link.relationship == inverse,
                    let relationship = new.relationship(newName)
                else { return nil }
                let sources = Set(new.lookup.family(ofEntityNamed: newName.entity).map(\.name))
                let destinations = Set(new.lookup.family(ofEntityNamed: relationship.destinationName).map(\.name))
                let newInverse = new.inverse(of: relationship).flatMap(new.relationship)
                return link.isReversed != (link.relationship == inverse && inverse != name)
                    ? (destinations, sources, newInverse?.hasOrder ?? false)
                    : (sources, destinations, relationship.hasOrder)
            }
        }
    }

    /// Returns the names of the entities whose objects are carried over, among the old entity and its sub-entities.
    func carriedNames(under name: String) -> [String] {
        old.lookup.family(ofEntityNamed: name).compactMap { migrationPositions[$0.name] }.sorted()
            .map { plan.entities[$0].oldName }
    }
}

extension RelationshipDescription {
    fileprivate var hasOrder: Bool { isToMany && isOrdered }
}

extension EntityMigration {
    /// Returns the index of the new column that gets the values of an old column; nil if there is none.
    func destination(of column: Int) -> Int? {
        attributes.keys.sorted().first { position in
            switch attributes[position] {
            case .column(column), .columnOrDefault(column), .widened(column, _), .widenedOrDefault(column, _): true
            default: false
            }
        }
    }
}

extension MigrationSide {
    /// Returns the stored attributes that an entity declares itself, as leaves.
    func ownLeaves(of entity: EntityDescription) -> [MigrationLeaf] {
        let own = Set(entity.attributes.map(\.name))
        return leaves(of: entity).filter { leaf in
            leaf.named.name.first.map(own.contains) ?? false || own.contains(leaf.path)
        }
    }
}

extension AttributeShape {
    static func leaf(_ leaf: MigrationLeaf) -> AttributeShape {
        AttributeShape(
            path: leaf.named.name, type: leaf.attribute.type, isOptional: leaf.attribute.isOptional,
            derivationExpression: leaf.attribute.derivationExpression, versionHashModifiers: [])
    }
}

extension [String] {
    /// The strings, sorted by their UTF-8 bytes. This order is the same on every machine.
    var sortedByBytes: [String] { sorted { [$0].precedes([$1]) } }
}

/// Data of a store that a migration does not carry over.
package struct MigrationLoss: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable {
        case objects, values, links, order
    }

    /// Where the old store has the data. All names are names of the old model.
    package enum Origin: Sendable, Hashable {
        case objects(of: String)
        /// The values in the column with this index.
        case values(of: [String], column: Int)
        /// The links between these objects.
        case links(of: RelationshipName, [Ends])
        /// The order of the links between these objects.
        case order(of: RelationshipName, Ends)
    }

    /// Links from the objects of some entities to the objects of other entities.
    package struct Ends: Sendable, Hashable {
        package let sources: [String]
        package let destinations: [String]
    }

    package let kind: Kind
    /// The name of the entity that declared the data in the old model: its name in the new model, or its old name if the
    /// entity is removed.
    package let entityName: String
    package let origin: Origin
    /// The path of the attribute, or the name of the relationship; nil for the entity itself.
    package internal(set) var propertyName: String?
    /// The type of the property, for example `Decimal, optional`.
    package internal(set) var type: String?
    /// The entities whose objects lose the data, sorted; empty if the objects of all entities lose it.
    package internal(set) var sources: [String] = []
    /// The destination entities of the lost links, sorted; empty if the links to all destinations are lost.
    package internal(set) var destinations: [String] = []

    /// The loss in words, for example `Item.price: the values (Decimal, optional)`.
    package var description: String {
        "\(entityName)\(propertyName.map { ".\($0)" } ?? ""): \(words)"
    }

    /// The loss in words, with the number of objects that have the data.
    package func words(objectCount count: Int) -> String {
        let objects = count == 1 ? "1 object" : "\(count) objects"
        return kind == .objects ? "\(entityName): \(objects)" : "\(description), in \(objects)"
    }

    private var words: String {
        var words = "the \(kind.rawValue)"
        if let type { words += " (\(type))" }
        if !sources.isEmpty { words += " of \(sources.joined(separator: ", "))" }
        if !destinations.isEmpty { words += " to \(destinations.joined(separator: ", "))" }
        return words
    }
}
