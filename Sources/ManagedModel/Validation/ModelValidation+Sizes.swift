extension ModelValidation {
    /// Every composite exists, composites have no cycles, and no entity has more properties than a table can have columns.
    ///
    /// Sizes are added up without expanding the composites, because nested composites can double at each level.
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
        guard total <= ModelLimits.propertiesInAll else {
            throw ModelError(
                .tooLarge,
                "The entities have more than \(ModelLimits.propertiesInAll) properties in total. Split the model.")
        }
    }

    private func ownSize(of entity: EntityDescription, sizes: inout [String: Int]) throws(ModelError) -> Int {
        var size = entity.fetchedProperties.count
        for attribute in entity.attributes {
            size += try self.size(of: attribute, owner: entity.name, within: [], sizes: &sizes)
        }
        // A to-one relationship whose destination can vary also has a column for the entity.
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
                "\(owner).\(attribute.name) is of the composite \(attribute.compositeName ?? "(none)"), "
                    + "which does not exist. Add it or name another.")
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
        guard outer.count < ModelLimits.nesting else {
            throw ModelError(
                .tooDeep, entity: composite.name,
                "Composites are nested more than \(ModelLimits.nesting) deep. Flatten them.")
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
            "\(name) has more than \(ModelLimits.properties) properties, including inherited ones and those of composites. "
                + "Split it.")
    }
}

/// Limits that no real model comes near, so that a hostile one costs little.
package enum ModelLimits {
    /// The most ancestors of an entity, and the deepest nesting of composites.
    package static let nesting = 64
    /// The most properties of an entity, including inherited ones and those of composites: as many as an SQLite table has
    /// columns.
    package static let properties = 2_000
    /// The most properties of all entities together, counted in the same way.
    package static let propertiesInAll = 500_000
    /// The most entities of a model that is read back from a store, and its longest text in bytes.
    package static let storedEntities = 2_000
    package static let textSize = 16 << 20
}
