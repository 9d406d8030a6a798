/// One column of an entity's rows: an attribute, a leaf of a composite, or a part of a to-one relationship.
///
/// The position of a column in ``ManagedObjectModel/columns(of:)`` is the index that generated properties use.
public struct ColumnDescription: Sendable, Hashable {
    /// The property's name; `property.leaf` for the leaf of a composite; `property.entity` for the entity of a to-one
    /// relationship whose destination can vary; `property.position` for its place if the inverse is ordered.
    public var name: String
    /// What the column holds.
    public var role: Role
    /// False for transient attributes: they are kept in memory, are part of a save, and have no column in the store.
    public var isStored: Bool

    /// Makes a column.
    public init(name: String, role: Role, isStored: Bool) {
        self.name = name
        self.role = role
        self.isStored = isStored
    }

    /// What a column holds.
    public enum Role: Sendable, Hashable {
        /// An attribute, or a leaf of a composite; the description is then the leaf's.
        case attribute(AttributeDescription)
        /// The key of a to-one relationship's destination.
        case destinationKey(RelationshipDescription)
        /// The number of the destination's entity, if the destination has sub-entities.
        case destinationEntity(RelationshipDescription)
        /// The place of the row's object among the others of an ordered to-many relationship, whose inverse has the previous
        /// column.
        case position(RelationshipDescription)
    }

    /// The attribute's description, or nil for a relationship.
    public var attribute: AttributeDescription? {
        if case .attribute(let attribute) = role { attribute } else { nil }
    }
}

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

/// Where a store keeps the links of a relationship.
package enum LinkStorage: Sendable, Hashable {
    /// In a column of the source's own row.
    case column
    /// In the column of the inverse, in the destinations' rows.
    case inverseColumn(RelationshipName)
    /// In rows of their own, each with a source and a destination, made for the relationship with that name: this one, or its
    /// inverse, whose sources are this one's destinations.
    case pairs(RelationshipName, isReversed: Bool)
    /// Nowhere: a transient to-many relationship.
    case none
}

extension ManagedObjectModel {
    /// Where the links of a relationship are kept.
    ///
    /// Links of a one-to-one relationship are in the column of the side whose entity and name come first. Links of a
    /// relationship that is its own inverse are in the rows of both ends.
    package func linkStorage(of name: RelationshipName) -> LinkStorage {
        guard let relationship = relationship(name) else { return .none }
        guard !relationship.isTransient else { return relationship.isToMany ? .none : .column }
        guard let inverseName = inverse(of: relationship), let inverse = storedInverse(of: relationship) else {
            return relationship.isToMany ? .pairs(name, isReversed: false) : .column
        }
        switch (relationship.isToMany, inverse.isToMany) {
        case (false, true): return .column
        case (true, false): return .inverseColumn(inverseName)
        case (false, false): return name.precedes(inverseName) ? .column : .inverseColumn(inverseName)
        case (true, true):
            return name.precedes(inverseName)
                ? .pairs(name, isReversed: false) : .pairs(inverseName, isReversed: true)
        }
    }

    /// The relationship with that name that an entity declares.
    package func relationship(_ name: RelationshipName) -> RelationshipDescription? {
        entity(named: name.entity)?.relationships.first { $0.name == name.name }
    }

    /// The inverse of a relationship, where it is declared; nil if there is none.
    package func inverse(of relationship: RelationshipDescription) -> RelationshipName? {
        guard let name = relationship.inverseName, let destination = entity(named: relationship.destinationName) else {
            return nil
        }
        return lineage(of: destination).first { owner in owner.relationships.contains { $0.name == name } }
            .map { RelationshipName(entity: $0.name, name: name) }
    }

    /// The inverse of a relationship; nil if there is none, or if it is transient, so that no store has it.
    package func storedInverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let inverse = inverse(of: relationship).flatMap(self.relationship), !inverse.isTransient else {
            return nil
        }
        return inverse
    }
}

extension RelationshipName {
    /// Whether it is the side of a pair that stores the links. A relationship that is its own inverse does.
    fileprivate func precedes(_ inverse: RelationshipName) -> Bool {
        !((inverse.entity, inverse.name) < (entity, name))
    }
}
