internal import ManagedModel

/// Makes a plan step by step.
struct MigrationPlanner {
    let old: MigrationSide
    let new: MigrationSide
    /// The old names of entities, by their new names. Abstract entities are included.
    private(set) var oldNames: [String: String] = [:]
    private(set) var newNames: [String: String] = [:]
    /// The old names, if they are known from the versions between the two models. If nil, elements are matched by the names
    /// and identifiers of the two models.
    let earlier: EarlierVersion?
    /// The old relationships for each new relationship. A new relationship has several old relationships if
    /// relationships of sub-entities became one relationship of their parent entity.
    var relationshipSources: [RelationshipName: [RelationshipName]] = [:]
    var plan = MigrationPlan()
    /// Returns how a migration can use the initial value of an attribute. Returns nil if this is unknown or if there is no such
    /// value; the model then decides.
    var initialValue: (_ entity: String, _ column: Int) -> InitialValue? = { _, _ in nil }
    /// The positions of the entities in the plan, by their old names.
    private(set) var migrationPositions: [String: Int] = [:]

    init(_ old: ManagedObjectModel, _ new: ManagedObjectModel, _ oldFormat: Int64) {
        self.old = MigrationSide(old, oldFormat)
        self.new = MigrationSide(new, ManagedObjectModel.storeFormat)
        earlier = new.earlierVersions.isEmpty ? nil : new.earlierVersions.version(withHash: old.hash.description)
        let matching = NameMatching(
            from: old.entities.map(\.named), to: new.entities.map(\.named), known: earlier?.entityNames)
        for (position, match) in matching.pairs {
            oldNames[new.entities[position].name] = old.entities[match].name
            newNames[old.entities[match].name] = new.entities[position].name
        }
        addObstacles(of: matching, new.entities.map { ($0.name, $0.renamingIdentifier) }, "entity")
    }

    /// Adds an obstacle for each pair of new elements that match the same old element, and for each new element whose
    /// old element is ambiguous.
    ///
    /// - Parameter elements: The names and the renaming identifiers of the new elements.
    mutating func addObstacles(
        of matching: NameMatching, _ elements: [(name: String, identifier: String?)], _ kind: String
    ) {
        for (one, other) in matching.conflicts {
            plan.obstacles.append(
                "\(elements[one].name) and \(elements[other].name) have the same renaming identifier. Remove the identifier from one of the two."
            )
        }
        for (name, identifier) in matching.ambiguous.map({ elements[$0] }) {
            plan.obstacles.append(
                "\(name): its renaming identifier is \(identifier ?? ""), which can mean more than one \(kind) of the old model. "
                    + "Keep the earlier versions of the model in the bundle or the lock file, or find the \(kind) that has "
                    + "the same name in both models, and set its renaming identifier to this name.")
        }
    }

    mutating func planEntities(_ isDropped: (String, String) -> Bool) {
        for entity in old.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) where !entity.isAbstract {
            guard let name = newNames[entity.name], let counterpart = new.lookup.entities[name] else {
                plan.removedEntities.append(entity.name)
                continue
            }
            if isDropped(entity.name, name) { continue }
            if counterpart.isAbstract {
                plan.conditions.append(
                    MigrationCondition(
                        kind: .isEmpty(entity.name),
                        problem: "\(name): the entity is abstract now, so its objects would have no entity. "
                            + "Keep the entity concrete, or remove the entity to drop the objects."))
                continue
            }
            plan.entities.append(EntityMigration(oldName: entity.name, newName: name))
        }
        plan.entities.sort { [$0.newName].precedes([$1.newName]) }
        migrationPositions = Dictionary(plan.entities.enumerated().map { ($1.oldName, $0) }) { first, _ in first }
    }

    /// Adds an obstacle if two hierarchies become one hierarchy. An entity that was alone in its hierarchy is allowed
    /// to join another hierarchy.
    mutating func checkHierarchies() {
        var seen: [String: String] = [:]
        let carried = Set(plan.entities.map(\.newName))
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            // Without carried-over objects, there are no hierarchies to merge.
            guard new.lookup.family(ofEntityNamed: entity.name).contains(where: { carried.contains($0.name) }),
                let oldName = oldNames[entity.name], let oldEntity = old.lookup.entities[oldName],
                let oldRoot = old.lookup.lineage(of: oldEntity).last, old.lookup.parentNames.contains(oldRoot.name),
                let root = new.lookup.lineage(of: entity).last
            else { continue }
            if let other = seen[root.name], other != oldRoot.name {
                plan.obstacles.append(
                    "\(entity.name): the hierarchies of \(other) and \(oldRoot.name) cannot both become the hierarchy of "
                        + "\(root.name). Keep the hierarchies separate.")
            }
            seen[root.name] = oldRoot.name
        }
    }
}

/// The old model or the new model, with its lookup.
struct MigrationSide {
    let model: ManagedObjectModel
    let lookup: ModelLookup
    private let format: Int64

    /// - Parameter format: The format of the store, which determines the columns.
    init(_ model: ManagedObjectModel, _ format: Int64 = ManagedObjectModel.storeFormat) {
        self.model = model
        self.format = format
        lookup = ModelLookup(model)
    }

    /// Returns the columns of an entity's rows. The indexes in a plan are indexes in this list.
    func columns(of entity: EntityDescription) -> [ColumnDescription] {
        model.columns(of: entity, format: format, parentNames: lookup.parentNames)
    }

    /// Returns the stored attributes of an entity as leaves, including inherited attributes.
    func leaves(of entity: EntityDescription) -> [MigrationLeaf] {
        let attributes = lookup.lineage(of: entity).flatMap(\.attributes)
        return columns(of: entity).enumerated().compactMap { index, column in
            guard column.isStored, let attribute = column.attribute else { return nil }
            let path = column.name.parts(separatedBy: ".")
            return MigrationLeaf(
                column: index, named: NameKey(name: path, identifier: identifier(of: path[...], in: attributes)),
                attribute: attribute)
        }
    }

    /// Returns the old path of a leaf, from the renaming identifiers along its path. Returns nil if there are no identifiers.
    func identifier(of path: ArraySlice<String>, in attributes: [AttributeDescription]) -> [String]? {
        // A model that was read from its canonical form has an attribute for a whole path.
        if path.count > 1, let attribute = attributes.first(where: { $0.name == path.joined(separator: ".") }) {
            return attribute.renamingIdentifier?.split(separator: ".").map(String.init)
        }
        guard let name = path.first, let attribute = attributes.first(where: { $0.name == name }) else { return nil }
        let rest = path.dropFirst()
        let composite = attribute.compositeName.flatMap { lookup.composites[$0] }
        let restIdentifier = identifier(of: rest, in: composite?.attributes ?? [])
        if attribute.renamingIdentifier == nil, restIdentifier == nil { return nil }
        return [attribute.renamingIdentifier ?? name] + (restIdentifier ?? Array(rest))
    }

    /// Returns the description of a part of an optional composite, and the path of the innermost optional composite around the
    /// part. Returns nil for other attributes.
    func part(of entity: EntityDescription, at path: [String]) -> (part: AttributeDescription, composite: [String])? {
        var attributes = lookup.lineage(of: entity).flatMap(\.attributes)
        var composite: [String]?
        for (index, name) in path.enumerated() {
            guard let attribute = attributes.first(where: { $0.name == name }) else { return nil }
            if index == path.count - 1 { return composite.map { (attribute, $0) } }
            if attribute.isOptional { composite = Array(path[...index]) }
            attributes = attribute.compositeName.flatMap { lookup.composites[$0] }?.attributes ?? []
        }
        return nil
    }

    /// Returns whether the model was read from a file in which the initial value of the leaf is evaluated for each new object.
    func isEvaluated(_ path: [String], of entity: EntityDescription) -> Bool {
        if model.evaluatedAttributes.isEmpty { return false }
        var owners = lookup.lineage(of: entity).map { (name: $0.name, attributes: $0.attributes) }
        for (index, name) in path.enumerated() {
            guard let owner = owners.first(where: { $0.attributes.contains { $0.name == name } }) else { return false }
            if index == path.count - 1 { return model.evaluatedAttributes.contains("\(owner.name).\(name)") }
            let attribute = owner.attributes.first { $0.name == name }
            owners = attribute?.compositeName.flatMap { lookup.composites[$0] }.map { [($0.name, $0.attributes)] } ?? []
        }
        return false
    }

    /// Returns the stored relationships of an entity, including inherited ones, each with the entity that declares it.
    func relationships(of entity: EntityDescription) -> [(
        name: RelationshipName, relationship: RelationshipDescription
    )] {
        lookup.lineage(of: entity).flatMap { owner in
            owner.relationships.filter { !$0.isTransient }.map {
                (RelationshipName(entity: owner.name, name: $0.name), $0)
            }
        }
    }

    /// Returns a stored relationship of an entity, with the entity that declares it; nil if there is none with the name.
    func relationshipName(_ name: String, of entity: EntityDescription) -> RelationshipName? {
        relationships(of: entity).first { $0.relationship.name == name }?.name
    }

    func relationship(_ name: RelationshipName) -> RelationshipDescription? {
        lookup.entities[name.entity]?.relationships.first { $0.name == name.name }
    }

    /// Returns the stored inverse of a relationship, with the entity that declares the inverse; nil if there is no
    /// inverse.
    func inverse(of relationship: RelationshipDescription) -> RelationshipName? {
        guard let name = relationship.inverseName,
            let destination = lookup.entities[relationship.destinationName]
        else { return nil }
        return relationshipName(name, of: destination)
    }
}

/// A stored attribute, or a leaf of a composite.
struct MigrationLeaf {
    let column: Int
    let named: NameKey<[String]>
    let attribute: AttributeDescription

    var path: String { named.name.joined(separator: ".") }
}

extension EntityDescription {
    var named: NameKey<String> { NameKey(name: name, identifier: renamingIdentifier) }
}
