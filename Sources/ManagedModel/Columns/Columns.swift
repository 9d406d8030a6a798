extension ManagedObjectModel {
    /// The columns of an entity's rows: inherited ones first, so that a property has the same index in every sub-entity; then
    /// its own attributes in the order of the model, composites as their leaves; then the to-one relationships whose links are
    /// stored in the row.
    public func columns(of entity: EntityDescription) -> [ColumnDescription] {
        columns(of: entity, format: ManagedObjectModel.storeFormat)
    }

    /// The columns in a store of that format.
    package func columns(of entity: EntityDescription, format: Int64) -> [ColumnDescription] {
        lineage(of: entity).reversed().flatMap { ownColumns(of: $0, format) }
    }

    /// The format of a store in which both sides of a one-to-one relationship have a column, and ordered one-to-many
    /// relationships have no places.
    package static let firstStoreFormat: Int64 = 1

    /// The format of new stores: see ``linkStorage(of:)``.
    package static let storeFormat: Int64 = 2

    private func ownColumns(of entity: EntityDescription, _ format: Int64) -> [ColumnDescription] {
        entity.attributes.flatMap { leaves(of: $0, named: $0.name, isStored: true, insideComposites: []) }
            + entity.relationships.filter { !$0.isToMany }.flatMap { relationship in
                if format == ManagedObjectModel.firstStoreFormat { return destinationColumns(of: relationship) }
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                guard linkStorage(of: name) == .column else { return [] }
                return destinationColumns(of: relationship) + positionColumn(of: relationship)
            }
    }

    private func leaves(
        of attribute: AttributeDescription, named name: String, isStored: Bool, insideComposites outer: [String]
    ) -> [ColumnDescription] {
        let isStored = isStored && !attribute.isTransient
        guard attribute.type == .composite else {
            return [ColumnDescription(name: name, role: .attribute(attribute), isStored: isStored)]
        }
        guard let compositeName = attribute.compositeName, !outer.contains(compositeName),
            let composite = composites.first(where: { $0.name == compositeName })
        else { return [] }
        return composite.attributes.flatMap { leaf in
            var leaf = leaf
            // A composite that is absent has no leaves, so nothing inside an optional composite can be required.
            leaf.isOptional = leaf.isOptional || attribute.isOptional
            // And nothing in it can have a default value, or it would never be absent.
            if attribute.isOptional { leaf.defaultValue = nil }
            return leaves(
                of: leaf, named: "\(name).\(leaf.name)", isStored: isStored, insideComposites: outer + [compositeName])
        }
    }

    private func destinationColumns(of relationship: RelationshipDescription) -> [ColumnDescription] {
        let key = ColumnDescription(
            name: relationship.name, role: .destinationKey(relationship), isStored: !relationship.isTransient)
        guard family(ofEntityNamed: relationship.destinationName).count > 1 else { return [key] }
        let entity = ColumnDescription(
            name: "\(relationship.name).entity", role: .destinationEntity(relationship),
            isStored: !relationship.isTransient)
        return [key, entity]
    }

    private func positionColumn(of relationship: RelationshipDescription) -> [ColumnDescription] {
        guard let inverse = storedInverse(of: relationship), inverse.isToMany, inverse.isOrdered else { return [] }
        return [
            ColumnDescription(
                name: "\(relationship.name).position", role: .position(inverse), isStored: !relationship.isTransient)
        ]
    }
}
