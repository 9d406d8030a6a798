extension ManagedObjectModel {
    /// The model of one configuration: its entities, and the fetch requests for them.
    ///
    /// Abstract ancestors of its entities are included. Everything else that an entity needs must be in the configuration,
    /// because a store of that model has nothing else.
    ///
    /// - Parameter name: One of ``configurations``.
    /// - Throws: `unknownReference` if there is no such configuration, if it names an entity that the model does not have, or
    ///   if it lacks the parent of one of its entities (unless that is abstract) or the destination of a relationship.
    /// - Complexity: linear in the properties of the model, times the depth of inheritance.
    public func restricted(toConfiguration name: String) throws(ModelError) -> ManagedObjectModel {
        guard let configuration = configurations.first(where: { $0.name == name }) else {
            let names = configurations.map(\.name).sorted().joined(separator: ", ")
            throw ModelError(
                .unknownReference,
                "The model \(self.name) has no configuration \(name). \(names.isEmpty ? "It has none: add one." : "Use one of: \(names).")"
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
    private func members(of configuration: ModelConfiguration) throws(ModelError) -> Set<String> {
        let listed = Set(configuration.entityNames)
        var members = listed
        for entityName in configuration.entityNames {
            guard let entity = entity(named: entityName) else {
                throw ModelError(
                    .unknownReference, entity: entityName,
                    "The configuration \(configuration.name) has the entity \(entityName), which does not exist. Add it or leave it out."
                )
            }
            for ancestor in lineage(of: entity) where !listed.contains(ancestor.name) {
                guard ancestor.isAbstract else {
                    throw ModelError(
                        .unknownReference, entity: entityName,
                        "The configuration \(configuration.name) has \(entityName) but not its parent \(ancestor.name). Put both into it, or make the parent abstract."
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
                "The configuration \(name) has \(entity.name) but not \(relationship.destinationName), the destination of \(entity.name).\(relationship.name). Put both into it, because a relationship cannot lead from one store to another."
            )
        }
    }
}
