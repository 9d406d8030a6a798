extension ModelValidation {
    /// Checks that every composite exists, that composites have no cycles, and that no entity has more properties than a table
    /// can have columns.
    ///
    /// Adds up the sizes without expanding the composites, because the number of leaves can double at each level of nesting.
    func checkSizes() throws(ModelError) {
        var sizes: [String: Int] = [:]
        for composite in model.composites {
            _ = try size(of: composite, within: [], sizes: &sizes)
        }
        var ownSizes: [String: Int] = [:]
        for entity in model.entities {
            ownSizes[entity.name] = try ownSize(of: entity, sizes: &sizes)
        }
        var total = 0
        for entity in model.entities {
            let size = lookup.lineage(of: entity).reduce(0) { $0 + (ownSizes[$1.name] ?? 0) }
            guard size <= ModelLimits.properties else { throw tooLarge(entity.name) }
            total += size
        }
        guard total <= ModelLimits.totalProperties else {
            throw ModelError(
                .tooLarge,
                "The entities have more than \(ModelLimits.totalProperties) properties in total. Split the model.")
        }
    }

    private func ownSize(of entity: EntityDescription, sizes: inout [String: Int]) throws(ModelError) -> Int {
        var size = entity.fetchedProperties.count
        for attribute in entity.attributes {
            size += try self.size(of: attribute, owner: entity.name, within: [], sizes: &sizes)
        }
        // If the destination has sub-entities, a to-one relationship has a second column, for the entity of the
        // destination object. To-many relationships are counted in the same way.
        for relationship in entity.relationships {
            size += lookup.parentNames.contains(relationship.destinationName) ? 2 : 1
        }
        return size
    }

    private func size(
        of attribute: AttributeDescription, owner: String, within outer: [String], sizes: inout [String: Int]
    ) throws(ModelError) -> Int {
        guard attribute.type == .composite else { return 1 }
        guard let name = attribute.compositeName, let composite = lookup.composites[name] else {
            throw ModelError(
                .unknownReference, entity: owner, property: attribute.name,
                "\(owner).\(attribute.name) has the composite type \(attribute.compositeName ?? "(none)"), "
                    + "which does not exist. Add the composite, or name an existing composite.")
        }
        return try 1 + size(of: composite, within: outer, sizes: &sizes)
    }

    private func size(
        of composite: CompositeDescription, within outer: [String], sizes: inout [String: Int]
    ) throws(ModelError) -> Int {
        if let size = sizes[composite.name] { return size }
        guard !outer.contains(composite.name) else {
            throw ModelError(
                .inheritanceCycle, entity: composite.name,
                "The composite \(composite.name) contains itself. Remove the attribute that closes the cycle.")
        }
        guard outer.count < ModelLimits.nestingLimit else {
            throw ModelError(
                .tooDeep, entity: composite.name,
                "Composites are nested more than \(ModelLimits.nestingLimit) deep. Flatten the composites.")
        }
        var size = 0
        for attribute in composite.attributes {
            size += try self.size(
                of: attribute, owner: composite.name, within: outer + [composite.name], sizes: &sizes)
            guard size <= ModelLimits.properties else { throw tooLarge(composite.name) }
        }
        sizes[composite.name] = size
        return size
    }

    private func tooLarge(_ name: String) -> ModelError {
        ModelError(
            .tooLarge, entity: name,
            "\(name) has more than \(ModelLimits.properties) properties, including the inherited properties and the attributes of "
                + "composites. Split \(name).")
    }
}

/// Limits on the cost of a hostile model. Real models are far below the limits.
package enum ModelLimits {
    /// The maximum number of ancestors of an entity, and the maximum depth of nested composites.
    package static let nestingLimit = 64
    /// The maximum number of properties of an entity, including inherited properties and attributes of composites. SQLite has
    /// the same limit for the columns of a table.
    package static let properties = 2_000
    /// The maximum number of properties of all entities together, including inherited properties and attributes of composites.
    package static let totalProperties = 500_000
    /// The maximum number of entities of a model that is read back from a store.
    package static let storedEntities = 2_000
    /// The maximum size of a model that is read back from a store, in bytes.
    package static let storedModelSize = 16 << 20
}
