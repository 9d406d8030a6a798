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
