import ManagedModel
import ModelMigration

/// What a migration plan says that becomes of links.
struct LinkOutcome {
    typealias Links = [Int64: [Int64]]

    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let plan: MigrationPlan
    private let before: [RelationshipName: Links]
    /// The new entity of each object that is carried over.
    let carried: [Int64: String]

    init(
        _ entities: [Int64: String], _ links: [RelationshipName: Links], _ plan: MigrationPlan,
        from old: ManagedObjectModel, to new: ManagedObjectModel
    ) {
        (self.old, self.new, self.plan, before) = (old, new, plan, links)
        let newNames = Dictionary(uniqueKeysWithValues: plan.entities.map { ($0.oldName, $0.newName) })
        carried = entities.compactMapValues { newNames[$0] }
    }

    /// The stored relationships of a model, where they are declared.
    static func relationships(_ model: ManagedObjectModel) -> [(RelationshipName, RelationshipDescription)] {
        model.entities.flatMap { entity in
            entity.relationships.map { (RelationshipName(entity: entity.name, name: $0.name), $0) }
        }.filter { model.linkStorage(of: $0.0) != .none }
    }

    /// The links that a relationship of the new model must have, and whether their order is known.
    func links(of name: RelationshipName, _ relationship: RelationshipDescription) -> (links: Links, isOrdered: Bool) {
        let sources = sources(of: name, relationship)
        var links: Links = [:]
        for source in sources {
            for (owner, ends) in linksBefore(source) { links[owner, default: []] += ends.filter { carried[$0] != nil } }
        }
        let owners = names(name.entity), ends = names(relationship.destinationName)
        links = links.filter { key, _ in carried[key].map(owners.contains) ?? false }
            .mapValues { $0.filter { carried[$0].map(ends.contains) ?? false } }
            .filter { !$0.value.isEmpty }
        let wasOrdered = sources.count == 1 && old.relationship(sources[0].forward ?? name)?.isOrdered == true
        return (links, wasOrdered && relationship.isOrdered)
    }

    private func names(_ entity: String) -> Set<String> { Set(new.family(ofEntityNamed: entity).map(\.name)) }

    /// An old relationship in the direction of a new one: itself, or the reverse of another one.
    private struct Source {
        let forward: RelationshipName?
        let backward: RelationshipName?
    }

    private func sources(of name: RelationshipName, _ relationship: RelationshipDescription) -> [Source] {
        let inverse = new.inverse(of: relationship)
        // The links of both sides are listed under one of them.
        let isListed = plan.links[name] != nil
        guard let listed = plan.links[name] ?? inverse.flatMap({ plan.links[$0] }) else { return [] }
        return listed.map { source in
            let other = old.relationship(source.relationship).flatMap { old.inverse(of: $0) }
            return source.isReversed == isListed
                ? Source(forward: other, backward: source.relationship)
                : Source(forward: source.relationship, backward: other)
        }
    }

    private func linksBefore(_ source: Source) -> Links {
        if let name = source.forward { return before[name] ?? [:] }
        var links: Links = [:]
        for (owner, ends) in source.backward.flatMap({ before[$0] }) ?? [:] {
            for end in ends { links[end, default: []].append(owner) }
        }
        return links
    }

    // MARK: Losses

    /// How many links a relationship of the old model had between objects that are carried over, and how many of them are left.
    func count(of name: RelationshipName) -> (before: Int, left: Int) {
        var pairs: Set<[Int64]> = []
        for (owner, ends) in before[name] ?? [:] where carried[owner] != nil {
            for end in ends where carried[end] != nil { pairs.insert([owner, end]) }
        }
        var left: Set<[Int64]> = []
        for (newName, relationship) in LinkOutcome.relationships(new) {
            let isSource = sources(of: newName, relationship).contains { $0.forward == name }
            guard isSource else { continue }
            for (owner, ends) in links(of: newName, relationship).links {
                for end in ends { left.insert([owner, end]) }
            }
        }
        return (pairs.count, left.intersection(pairs).count)
    }

    /// The loss that the plan lists for the links of an old relationship, under its own name or that of its inverse.
    func loss(of name: RelationshipName, _ relationship: RelationshipDescription) -> MigrationLoss? {
        let newNames = Dictionary(uniqueKeysWithValues: plan.entities.map { ($0.oldName, $0.newName) })
        let names = [name, old.inverse(of: relationship)].compactMap(\.self)
        return plan.losses.first { loss in
            loss.kind == .links
                && names.contains {
                    loss.propertyName == $0.name && [$0.entity, newNames[$0.entity]].contains(loss.entityName)
                }
        }
    }
}
