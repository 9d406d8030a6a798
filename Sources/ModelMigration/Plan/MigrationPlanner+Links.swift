internal import ManagedModel

extension MigrationPlanner {
    mutating func planLinks() {
        relationshipSources = relationshipMatches()
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            for relationship in entity.relationships.filter({ !$0.isTransient }) {
                planLinks(of: relationship, RelationshipName(entity: entity.name, name: relationship.name))
            }
        }
    }

    private mutating func relationshipMatches() -> [RelationshipName: [RelationshipName]] {
        var matches: [RelationshipName: [RelationshipName]] = [:]
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            guard let oldEntity = oldNames[entity.name].flatMap({ old.lookup.entities[$0] }) else { continue }
            let oldRelationships = old.relationships(of: oldEntity)
            let newRelationships = new.relationships(of: entity)
            let matching = NameMatching(
                from: oldRelationships.map { $0.relationship.named },
                to: new.namedRelationships(of: entity, since: old, oldNames),
                known: earlier?.propertyNames[entity.name])
            for (position, match) in matching.pairs
            where matches[newRelationships[position].name]?.contains(oldRelationships[match].name) != true {
                matches[newRelationships[position].name, default: []].append(oldRelationships[match].name)
            }
            addObstacles(
                of: matching,
                newRelationships.map { ("\(entity.name).\($0.name.name)", $0.relationship.renamingIdentifier) },
                "relationship")
        }
        return matches
    }

    private mutating func planLinks(
        of relationship: RelationshipDescription, _ name: RelationshipName
    ) {
        let path = "\(name.entity).\(name.name)"
        let inverse = new.inverse(of: relationship)
        let isInverseToMany = inverse.flatMap(new.relationship)?.isToMany
        let sources = (relationshipSources[name] ?? []).filter(hasLinks)
        let inverseSources = (inverse.flatMap { relationshipSources[$0] } ?? []).filter(hasLinks)
        // Check every source, even after one has failed, so that all obstacles are found.
        guard !sources.compactMap(old.relationship).map({ check($0, relationship, path) }).contains(false) else {
            return
        }
        if !sources.isEmpty, !hasSameLinks(sources, inverseSources) {
            plan.obstacles.append(
                "\(path): the relationship and \(inverse.map { "\($0.entity).\($0.name)" } ?? "its inverse") had separate "
                    + "links, which cannot be matched. Give one of the two relationships another name.")
            return
        }
        // If the column of the inverse stores the links of both relationships, the links are planned for the inverse.
        if case .inverseColumn = new.model.linkStorage(of: name) { return }
        if !sources.isEmpty {
            plan.links[name] = sources.map { LinkSource(relationship: $0, isReversed: false) }
            if let inverse, !relationship.isToMany, isInverseToMany == false, !hadUniqueDestinations(sources) {
                plan.conditions.append(
                    MigrationCondition(
                        kind: .hasDistinctDestinations(name),
                        problem:
                            "\(path): the relationship and \(inverse.entity).\(inverse.name) are one-to-one now, and "
                            + "several objects would be linked to the same object. Make \(inverse.name) to-many."))
            }
        } else if let inverseSource = inverseSources.first {
            plan.links[name] = inverseSources.map { LinkSource(relationship: $0, isReversed: true) }
            if !relationship.isToMany {
                plan.conditions.append(
                    MigrationCondition(
                        kind: .hasAtMostOneDestination(name),
                        problem:
                            "\(path): the relationship is to-one, and objects would have more than one link from "
                            + "\(inverseSource.entity).\(inverseSource.name). Make the relationship to-many."))
            }
        }
    }

    /// Returns whether a relationship of the old model has carried-over objects at both ends.
    private func hasLinks(_ name: RelationshipName) -> Bool {
        guard let destination = old.relationship(name)?.destinationName else { return false }
        return !carriedNames(under: name.entity).isEmpty && !carriedNames(under: destination).isEmpty
    }

    /// Returns whether the links of an old relationship can become links of a new relationship. Adds an obstacle if the
    /// links cannot be carried over.
    private mutating func check(
        _ oldRelationship: RelationshipDescription, _ newRelationship: RelationshipDescription, _ path: String
    ) -> Bool {
        let narrows = oldRelationship.isToMany && !newRelationship.isToMany
        if narrows {
            plan.obstacles.append(
                "\(path): to-many -> to-one cannot be carried over. Keep to-many, or give the new relationship another "
                    + "name.")
        }
        guard leads(oldRelationship, to: newRelationship) else {
            let isSame = newNames[oldRelationship.destinationName] == newRelationship.destinationName
            let what =
                isSame
                ? "its old destination is no longer \(newRelationship.destinationName) or a sub-entity, so its links cannot be"
                : "destination \(oldRelationship.destinationName) -> \(newRelationship.destinationName) cannot be"
            plan.obstacles.append("\(path): \(what) carried over. Give the new relationship another name.")
            return false
        }
        return !narrows
    }

    /// Returns whether the inverse has only links that the relationship also has.
    private func hasSameLinks(_ sources: [RelationshipName], _ inverseSources: [RelationshipName]) -> Bool {
        inverseSources.allSatisfy { inverse in
            sources.contains { $0 == inverse || old.relationship($0).flatMap(old.inverse) == inverse }
        }
    }

    /// Returns whether each destination had at most one source.
    private func hadUniqueDestinations(_ sources: [RelationshipName]) -> Bool {
        guard sources.count == 1, let source = sources.first, let oldRelationship = old.relationship(source),
            let inverse = old.inverse(of: oldRelationship)
        else { return false }
        return !oldRelationship.isToMany && old.relationship(inverse)?.isToMany == false
    }

    /// Returns whether at least one destination entity of the old relationship is a destination entity of the new relationship.
    /// Entities whose objects are dropped count, too.
    private func leads(_ oldRelationship: RelationshipDescription, to newRelationship: RelationshipDescription) -> Bool
    {
        let family = Set(new.lookup.family(ofEntityNamed: newRelationship.destinationName).map(\.name))
        let destinations = old.lookup.family(ofEntityNamed: oldRelationship.destinationName).filter { !$0.isAbstract }
            .map(\.name)
        return destinations.contains { newNames[$0].map(family.contains) ?? false }
    }
}

extension RelationshipDescription {
    var named: NameKey<String> { NameKey(name: name, identifier: renamingIdentifier) }
}
