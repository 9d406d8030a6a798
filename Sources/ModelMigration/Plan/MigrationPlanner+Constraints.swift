internal import ManagedModel

extension MigrationPlanner {
    /// Adds a condition for each new constraint. The carried-over rows must meet the condition.
    mutating func planConstraints() {
        let migrations = Dictionary(plan.entities.map { ($0.newName, $0) }) { first, _ in first }
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            let family = new.lookup.family(ofEntityNamed: entity.name).filter { migrations[$0.name] != nil }
            for constraint in entity.uniquenessConstraints where !constraint.isEmpty {
                let columns = family.reduce(into: [:]) { $0[$1.name] = positions(constraint, of: $1) }
                // The links of a one-to-one relationship can be in the rows of the other side. Such links are checked
                // separately.
                if columns.isEmpty || columns.values.contains(where: { $0.count < constraint.count }) { continue }
                // A row with nil violates no constraint. So if a column of an entity stays nil in all rows, the entity needs
                // no check. But if the migration is impossible for another reason, the author must change the model again.
                // The column may then get values, so check the entity, too.
                let filled =
                    plan.isPossible
                    ? columns.filter { name, positions in !positions.contains { isNil($0, migrations[name]) } }
                    : columns
                if filled.isEmpty || wasGuaranteed(filled, migrations) { continue }
                plan.conditions.append(
                    MigrationCondition(
                        kind: .isUnique(columns),
                        problem: "\(entity.name): objects have the same \(constraint.joined(separator: ", ")), which "
                            + "must be unique now. Remove the constraint, or change these objects first."))
            }
        }
    }

    private func positions(_ constraint: [String], of entity: EntityDescription) -> [Int] {
        let columns = new.columns(of: entity)
        return constraint.compactMap { name in columns.firstIndex { $0.name == name && $0.isStored } }
    }

    /// Returns whether a constraint of the old model covered the same values of the same rows.
    private func wasGuaranteed(_ columns: [String: [Int]], _ migrations: [String: EntityMigration]) -> Bool {
        var before: [String: Set<String>] = [:]
        for (name, positions) in columns {
            guard let migration = migrations[name] else { return false }
            let names = positions.compactMap { oldName(ofColumn: $0, migration) }
            guard names.count == positions.count else { return false }
            before[migration.oldName] = Set(names)
        }
        // A constraint of an entity or of one of its ancestors covers the rows of the entity.
        let lineages = before.keys.compactMap { old.lookup.entities[$0] }.map(old.lookup.lineage)
        let others = lineages.dropFirst().map { Set($0.map(\.name)) }
        return (lineages.first ?? []).contains { owner in
            others.allSatisfy { $0.contains(owner.name) }
                && owner.uniquenessConstraints.contains { constraint in
                    before.values.allSatisfy { $0.isSuperset(of: constraint) }
                }
        }
    }

    /// Returns whether a column is nil in all migrated rows.
    private func isNil(_ position: Int, _ migration: EntityMigration?) -> Bool {
        guard let migration, let entity = new.lookup.entities[migration.newName] else { return false }
        if let source = migration.attributes[position] { return source == .nothing }
        let name = new.relationshipName(new.columns(of: entity)[position].name, of: entity)
        return name.map { plan.links[$0] == nil } ?? false
    }

    /// Returns the name of the column in the old rows from which a column of the new rows gets its values or links. Different
    /// values stay different, and so do links to different objects. Returns nil if there is no such column.
    private func oldName(ofColumn position: Int, _ migration: EntityMigration) -> String? {
        guard let oldEntity = old.lookup.entities[migration.oldName],
            let newEntity = new.lookup.entities[migration.newName]
        else { return nil }
        let oldColumns = old.columns(of: oldEntity)
        switch migration.attributes[position] {
        // Different numbers stay different in a wider type.
        case .column(let source), .widened(let source, _): return oldColumns[source].name
        case nil: break
        default: return nil
        }
        // A column without an attribute is the destination of a to-one relationship.
        guard let name = new.relationshipName(new.columns(of: newEntity)[position].name, of: newEntity),
            let sources = plan.links[name], !sources.contains(where: \.isReversed)
        else { return nil }
        let lineage = Set(old.lookup.lineage(of: oldEntity).map(\.name))
        let names = sources.map(\.relationship).filter { lineage.contains($0.entity) }.map(\.name)
        guard names.count == 1 else { return nil }
        return oldColumns.first { $0.name == names[0] && $0.isStored }?.name
    }
}

extension MigrationPlanner {
    /// Adds a condition for each relationship whose new bounds are stricter than its old bounds. If a violation
    /// prevents the migration, every carried-over object must meet the condition. Otherwise, violations are only
    /// reported.
    mutating func planCounts() {
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            for relationship in entity.relationships.filter({ !$0.isTransient }) {
                planCount(of: relationship, RelationshipName(entity: entity.name, name: relationship.name))
            }
        }
    }

    private mutating func planCount(of relationship: RelationshipDescription, _ name: RelationshipName) {
        // A to-one relationship needs no maximum.
        let bounds = relationship.bounds(maximum: relationship.isToMany ? relationship.maximumCount : 0)
        let family = Set(new.lookup.family(ofEntityNamed: name.entity).map(\.name))
        let owners = plan.entities.filter { family.contains($0.newName) }
        guard bounds.canFail, owners.contains(where: { !wasGuaranteed(bounds, relationship, name, for: $0) }) else {
            return
        }
        let path = "\(name.entity).\(name.name)"
        // Violations of a to-many relationship are only reported: if the relationship is new, existing objects have no
        // links, even if the new model requires links.
        let preventsMigration = !relationship.isToMany
        let advice =
            preventsMigration
            ? "Make the relationship optional, or link these objects first."
            : "Correct the links of these objects when the app runs."
        plan.conditions.append(
            MigrationCondition(
                kind: .hasCount(name, bounds),
                problem:
                    "\(path): the relationship leads to \(bounds.words) now, and some objects have \(bounds.failure). \(advice)",
                preventsMigration: preventsMigration))
    }

    /// Returns true if the old model kept the number of links within these bounds for the objects of an entity, and all these
    /// links are carried over.
    private func wasGuaranteed(
        _ bounds: LinkBounds, _ relationship: RelationshipDescription, _ name: RelationshipName,
        for owner: EntityMigration
    ) -> Bool {
        guard let entity = old.lookup.entities[owner.oldName] else { return false }
        let lineage = Set(old.lookup.lineage(of: entity).map(\.name))
        let matches = (relationshipSources[name] ?? []).filter { lineage.contains($0.entity) }
        guard matches.count == 1, let before = matches.first.flatMap(old.relationship),
            before.bounds(maximum: before.isToMany ? before.maximumCount : 1).isWithin(bounds)
        else { return false }
        if bounds.minimum == 0 { return true }
        let destinations = Set(new.lookup.family(ofEntityNamed: relationship.destinationName).map(\.name))
        return old.lookup.family(ofEntityNamed: before.destinationName).allSatisfy { destination in
            destination.isAbstract || newNames[destination.name].map(destinations.contains) ?? false
        }
    }
}

/// The allowed number of destinations of a relationship.
package struct LinkBounds: Sendable, Equatable {
    /// The minimum, which does not apply to an optional relationship without destinations.
    package let minimum: Int
    /// The maximum; 0 for no limit.
    package let maximum: Int
    /// Whether the relationship is allowed to have no destinations, even if the minimum is greater than 0.
    package let isOptional: Bool

    fileprivate var canFail: Bool { !isOptional || minimum > 1 || maximum > 0 }

    /// Returns whether every number within these bounds is also within the other bounds.
    fileprivate func isWithin(_ other: LinkBounds) -> Bool {
        (other.isOptional || !isOptional) && minimum >= other.minimum
            && (other.maximum == 0 || maximum > 0 && maximum <= other.maximum)
    }

    fileprivate var words: String {
        var parts: [String] = []
        if minimum > 0 { parts.append("at least \(minimum)") }
        if maximum > 0 { parts.append("at most \(maximum)") }
        let counts = parts.joined(separator: " and ")
        return (isOptional && minimum > 0 ? "no object, or " : "") + counts + " object"
            + (parts.last?.hasSuffix(" 1") == true ? "" : "s")
    }

    fileprivate var failure: String {
        minimum > 0 ? (maximum > 0 ? "fewer or more links" : minimum > 1 ? "fewer links" : "no link") : "more links"
    }
}

extension RelationshipDescription {
    fileprivate func bounds(maximum: Int) -> LinkBounds {
        let fewest = isToMany ? minimumCount : 0
        return LinkBounds(minimum: max(fewest, isOptional ? 0 : 1), maximum: maximum, isOptional: isOptional)
    }
}
