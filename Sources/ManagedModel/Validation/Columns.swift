/// One column of an entity's rows: an attribute, a leaf of a composite, or a part of a to-one relationship.
///
/// A generated property uses the position of its column in ``ManagedObjectModel/columns(of:)``.
public struct ColumnDescription: Sendable, Hashable {
    /// The name of the property. Three kinds of columns have a longer name. `property.leaf` is a leaf of a composite.
    /// `property.entity` is the entity of a destination; a relationship has this column only if its destination entity has
    /// sub-entities. `property.position` is the position of the row's object among the destinations of an ordered inverse.
    public var name: String
    /// The contents of the column.
    public var role: Role
    /// Whether the store has the column. False for a transient property: its value is part of a save, but is not stored.
    public var isStored: Bool

    /// Makes a column.
    ///
    /// ```swift
    /// let column = ColumnDescription(
    ///     name: "subject", role: .attribute(subject), isStored: true)
    /// ```
    public init(name: String, role: Role, isStored: Bool) {
        self.name = name
        self.role = role
        self.isStored = isStored
    }

    /// The contents of a column.
    public enum Role: Sendable, Hashable {
        /// An attribute or a leaf of a composite, with its description.
        case attribute(AttributeDescription)
        /// The key of a to-one relationship's destination.
        case destinationKey(RelationshipDescription)
        /// The number of the destination's entity, if the relationship's destination entity has sub-entities.
        case destinationEntity(RelationshipDescription)
        /// The position of the row's object in an ordered to-many relationship. The columns of the inverse, which hold
        /// the link itself, come directly before this column.
        case position(RelationshipDescription)
    }

    /// The attribute's description; nil for a relationship.
    public var attribute: AttributeDescription? {
        if case .attribute(let attribute) = role { attribute } else { nil }
    }
}

extension ManagedObjectModel {
    /// Returns the columns of an entity's rows.
    ///
    /// ```swift
    /// let names = model.columns(of: group).map(\.name)
    /// // ["syncFlag", "gid", "memberCount", "name"]
    /// ```
    ///
    /// - Complexity: linear in the properties of the entity and its ancestors, plus a look-up by name for each relationship.
    ///
    /// Inherited columns come first, so that a property has the same index in every sub-entity. Next come the entity's
    /// own attributes in the order of the model. A composite has a column for each leaf. The to-one relationships whose
    /// links are in the row come last.
    public func columns(of entity: EntityDescription) -> [ColumnDescription] {
        columns(of: entity, format: ManagedObjectModel.storeFormat)
    }

    /// - Parameter parentNames: The names of the entities that have sub-entities (see ``ModelLookup/parentNames``), for callers
    ///   that need the columns of many entities; nil to search the model.
    package func columns(
        of entity: EntityDescription, format: Int64, parentNames: Set<String>? = nil
    ) -> [ColumnDescription] {
        lineage(of: entity).reversed().flatMap { ownColumns(of: $0, format, parentNames) }
    }

    /// The format of a store in which each side of a one-to-one relationship has a column, and an ordered one-to-many
    /// relationship has no position column.
    package static let firstStoreFormat: Int64 = 1

    /// The format of new stores. ``linkStorage(of:)`` describes where this format keeps links.
    package static let storeFormat: Int64 = 2

    private func ownColumns(
        of entity: EntityDescription, _ format: Int64, _ parentNames: Set<String>?
    ) -> [ColumnDescription] {
        entity.attributes.flatMap { leaves(of: $0, named: $0.name, isStored: true, insideComposites: []) }
            + entity.relationships.filter { !$0.isToMany }.flatMap { relationship in
                if format == ManagedObjectModel.firstStoreFormat {
                    return destinationColumns(of: relationship, parentNames)
                }
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                guard linkStorage(of: name) == .column else { return [] }
                return destinationColumns(of: relationship, parentNames) + positionColumn(of: relationship)
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
            // An absent composite has no leaf values, so every leaf of an optional composite is optional.
            leaf.isOptional = leaf.isOptional || attribute.isOptional
            // A default value of a leaf would make the composite present in every new object.
            if attribute.isOptional { leaf.defaultValue = nil }
            return leaves(
                of: leaf, named: "\(name).\(leaf.name)", isStored: isStored, insideComposites: outer + [compositeName])
        }
    }

    private func destinationColumns(
        of relationship: RelationshipDescription, _ parentNames: Set<String>?
    ) -> [ColumnDescription] {
        let key = ColumnDescription(
            name: relationship.name, role: .destinationKey(relationship), isStored: !relationship.isTransient)
        let destination = relationship.destinationName
        guard
            parentNames?.contains(destination)
                ?? entities.contains(where: { $0.parentName == destination && $0.name != destination })
        else { return [key] }
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

/// The location of a relationship's links in a store.
package enum LinkStorage: Sendable, Hashable {
    /// In a column of the source's own row.
    case column
    /// In the column of the inverse, in the destinations' rows.
    case inverseColumn(RelationshipName)
    /// In separate rows with a source and a destination. The rows belong to the relationship or to its inverse. Rows of the
    /// inverse are reversed: their sources are the destinations of the relationship.
    case pairs(RelationshipName, isReversed: Bool)
    /// Nowhere: the relationship is transient and to-many, or the entity does not declare it.
    case none
}

extension ManagedObjectModel {
    /// Returns the location of a relationship's links in a store of the current format.
    ///
    /// A one-to-one relationship uses the column of the side that sorts first by entity and name. If the relationship is its
    /// own inverse, the rows of both ends use the column.
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

    /// The relationship with a name. Nil if the entity only inherits the relationship.
    package func relationship(_ name: RelationshipName) -> RelationshipDescription? {
        entity(named: name.entity)?.relationships.first { $0.name == name.name }
    }

    /// The name of the inverse and the entity that declares the inverse; nil if the relationship has no inverse.
    package func inverse(of relationship: RelationshipDescription) -> RelationshipName? {
        guard let name = relationship.inverseName, let destination = entity(named: relationship.destinationName) else {
            return nil
        }
        return lineage(of: destination).first { owner in owner.relationships.contains { $0.name == name } }
            .map { RelationshipName(entity: $0.name, name: name) }
    }

    /// The stored inverse of a relationship; nil if there is no inverse, or if the inverse is transient.
    package func storedInverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let inverse = inverse(of: relationship).flatMap(self.relationship), !inverse.isTransient else {
            return nil
        }
        return inverse
    }
}

extension RelationshipName {
    /// Whether this side of the relationship stores the links. True for a relationship that is its own inverse.
    fileprivate func precedes(_ inverse: RelationshipName) -> Bool {
        !((inverse.entity, inverse.name) < (entity, name))
    }
}
