/// A model's entities and composites by name. Make one lookup for each pass over a whole model.
package struct ModelLookup {
    package let entities: [String: EntityDescription]
    package let composites: [String: CompositeDescription]
    /// The names of the entities that have sub-entities.
    package let parentNames: Set<String>
    /// The names of the direct sub-entities, by the name of their parent.
    private let children: [String: [String]]
    /// The positions of the entities in the model, by their names.
    private let positions: [String: Int]
    /// The relationships by the names of entity and relationship.
    private let relationships: [String: [String: RelationshipDescription]]

    package init(_ model: ManagedObjectModel) {
        entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        composites = Dictionary(model.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        positions = Dictionary(
            model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var children: [String: [String]] = [:]
        for entity in model.entities {
            if let parent = entity.parentName { children[parent, default: []].append(entity.name) }
        }
        self.children = children
        parentNames = Set(children.keys)
        relationships = entities.mapValues { entity in
            Dictionary(entity.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The entity and its ancestors, nearest first, up to an unknown parent or the start of a cycle.
    package func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        var names: Set = [entity.name]
        while let name = lineage.last?.parentName, let parent = entities[name], names.insert(name).inserted {
            lineage.append(parent)
        }
        return lineage
    }

    /// The same as ``ManagedObjectModel/family(ofEntityNamed:)``, but the time depends only on the size of the family.
    package func family(ofEntityNamed name: String) -> [EntityDescription] {
        var names: Set = [name]
        var waiting = [name]
        while let next = waiting.popLast() {
            for child in children[next] ?? [] where names.insert(child).inserted { waiting.append(child) }
        }
        let family = names.compactMap { entities[$0] }
        return family.count < 2 ? family : family.sorted { positions[$0.name] ?? 0 < positions[$1.name] ?? 0 }
    }

    /// Whether the entities are equal, or one of the entities is an ancestor of the other.
    package func isRelated(_ one: EntityDescription, to other: EntityDescription) -> Bool {
        lineage(of: one).contains { $0.name == other.name } || lineage(of: other).contains { $0.name == one.name }
    }

    /// The entity's own or inherited relationship with that name.
    package func relationship(named name: String, of entity: EntityDescription) -> RelationshipDescription? {
        lineage(of: entity).lazy.compactMap { relationships[$0.name]?[name] }.first
    }

    /// The fault in the inverse of a relationship; nil if the inverse is valid or absent, or if the destination does
    /// not exist.
    ///
    /// An inverse is valid if it is an own or inherited relationship of the destination and points back.
    package func inverseError(
        of relationship: RelationshipDescription, in entity: EntityDescription
    ) -> (code: ModelError.Code, sentence: String)? {
        guard let inverseName = relationship.inverseName, let destination = entities[relationship.destinationName]
        else {
            return nil
        }
        let source = "\(entity.name).\(relationship.name)"
        let target = "\(destination.name).\(inverseName)"
        guard let inverse = self.relationship(named: inverseName, of: destination) else {
            return (.unknownReference, "The inverse of \(source) is \(target), which does not exist.")
        }
        guard inverse.inverseName == relationship.name, let back = entities[inverse.destinationName],
            isRelated(back, to: entity)
        else {
            return (.inverseMismatch, "The inverse of \(source) is \(target), which does not point back.")
        }
        return nil
    }
}

extension ManagedObjectModel {
    /// Returns the model of one configuration, with the entities of the configuration and their fetch requests.
    ///
    /// ```swift
    /// let cache = try model.restricted(toConfiguration: "Cache")
    /// ```
    ///
    /// The model also includes the abstract ancestors of the entities. The configuration must list every parent that is not
    /// abstract, and every destination of a relationship, because a store of the restricted model contains only the included
    /// entities.
    ///
    /// - Parameter name: The name of one of ``configurations``.
    /// - Throws: `unknownReference` if the configuration does not exist, lists an unknown entity, or does not list the
    ///   destination of a relationship or a parent that is not abstract.
    /// - Complexity: linear in the properties of the model, times the depth of inheritance.
    public func restricted(toConfiguration name: String) throws(ModelError) -> ManagedObjectModel {
        guard let configuration = configurations.first(where: { $0.name == name }) else {
            let names = configurations.map(\.name).sorted().joined(separator: ", ")
            throw ModelError(
                .unknownReference,
                "The model \(self.name) has no configuration \(name). \(names.isEmpty ? "Add a configuration to the model." : "Use one of: \(names).")"
            )
        }
        let members = try members(of: configuration)
        var model = self
        model.entities = entities.filter { members.contains($0.name) }
        for entity in model.entities { try checkDestinations(of: entity, members, name) }
        model.fetchRequests = fetchRequests.filter { members.contains($0.entityName) }
        model.configurations = [configuration]
        model.configurationName = name
        model.classes = classes.filter { members.contains($0.key) }
        return model
    }

    /// The names of a configuration's entities and of their abstract ancestors.
    private func members(of configuration: EntityConfiguration) throws(ModelError) -> Set<String> {
        let listed = Set(configuration.entityNames)
        var members = listed
        for entityName in configuration.entityNames {
            guard let entity = entity(named: entityName) else {
                throw ModelError(
                    .unknownReference, entity: entityName,
                    "The configuration \(configuration.name) has the entity \(entityName), which does not exist. Add the entity to the model, or remove the name from the configuration."
                )
            }
            for ancestor in lineage(of: entity) where !listed.contains(ancestor.name) {
                guard ancestor.isAbstract else {
                    throw ModelError(
                        .unknownReference, entity: entityName,
                        "The configuration \(configuration.name) has \(entityName) but not its ancestor \(ancestor.name). Put both entities into the configuration, or make \(ancestor.name) abstract."
                    )
                }
                members.insert(ancestor.name)
            }
        }
        return members
    }

    private func checkDestinations(
        of entity: EntityDescription, _ members: Set<String>, _ name: String
    ) throws(ModelError) {
        for relationship in entity.relationships where !members.contains(relationship.destinationName) {
            throw ModelError(
                .unknownReference, entity: entity.name, property: relationship.name,
                "The configuration \(name) has \(entity.name) but not \(relationship.destinationName), the destination of \(entity.name).\(relationship.name). Put both entities into the configuration, because a relationship cannot lead from one store to another."
            )
        }
    }
}

extension ManagedObjectModel {
    /// The names that an index of an entity can list: the names of its own and inherited attributes and to-one relationships,
    /// and the paths of the leaves of composites, such as `place.city`. An attribute that is derived from other objects is
    /// left out, because its value is calculated when it is read, and is not stored.
    package func namesWithStoredValues(of entity: EntityDescription, _ lookup: ModelLookup) -> Set<String> {
        let lineage = lookup.lineage(of: entity)
        let attributes = lineage.flatMap(\.attributes).filter { !$0.isTransient }
        var names = Set(
            attributes.filter { attribute in
                attribute.type != .composite
                    && !attribute.isDerivedFromOtherObjects { lookup.relationship(named: $0, of: entity) != nil }
            }.map(\.name))
        names.formUnion(lineage.flatMap(\.relationships).filter { !$0.isTransient && !$0.isToMany }.map(\.name))
        guard attributes.contains(where: { $0.type == .composite }) else { return names }
        let columns = columns(of: entity, format: Self.storeFormat, parentNames: lookup.parentNames)
        let parts = columns.filter { $0.isStored && $0.attribute != nil && $0.name.contains(".") }
        return names.union(parts.map(\.name))
    }
}

extension AttributeDescription {
    /// Whether the value is derived from related objects.
    fileprivate func isDerivedFromOtherObjects(_ isRelationship: (String) -> Bool) -> Bool {
        guard let derivationExpression, case .path(let path) = DerivationExpression(derivationExpression) else {
            return false
        }
        return path.first.map(isRelationship) ?? false
    }
}
