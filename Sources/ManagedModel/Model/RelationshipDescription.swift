/// One relationship of an entity.
public struct RelationshipDescription: Sendable, Hashable {
    /// The name of the relationship.
    public var name: String
    /// The name of the destination entity.
    public var destinationName: String
    /// The name of the destination's relationship that points back; nil for none.
    public var inverseName: String?
    /// Whether the relationship can have more than one destination.
    public var isToMany: Bool
    /// Whether the destinations have an order. Only a to-many relationship can be ordered.
    public var isOrdered: Bool
    /// Whether an object can be saved without a destination.
    public var isOptional: Bool
    /// Whether the links are kept in memory only.
    public var isTransient: Bool
    /// The minimum number of destinations. An optional relationship can also have no destination.
    public var minimumCount: Int
    /// The maximum number of destinations; 0 for no limit.
    public var maximumCount: Int
    /// What happens to the destinations when the source is deleted. The rule is not part of the hash.
    public var deleteRule: DeleteRule
    /// A string that is part of the model's hash, so a change of the string changes the hash; nil for none.
    public var versionHashModifier: String?
    /// The relationship's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    /// Notes of the model's author, by key. Notes are not part of the hash.
    public var userInfo: [String: String]

    /// Makes a relationship.
    ///
    /// ```swift
    /// let messages = RelationshipDescription(
    ///     name: "messages", destinationName: "MessageEntity", inverseName: "thread",
    ///     isToMany: true, deleteRule: .cascade)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the relationship.
    ///   - destinationName: The name of the destination entity.
    ///   - inverseName: The name of the destination's relationship that points back; nil for none.
    ///   - isToMany: Whether the relationship can have more than one destination.
    ///   - isOrdered: Whether the destinations have an order.
    ///   - isOptional: Whether an object can be saved without a destination.
    ///   - isTransient: Whether the links are kept in memory only.
    ///   - minimumCount: The minimum number of destinations; 0 by default.
    ///   - maximumCount: The maximum number of destinations; 0 for no limit. The default is nil, which means 1 for a to-one
    ///     relationship and no limit for a to-many relationship.
    ///   - deleteRule: What happens to the destinations when the source is deleted; `.nullify` by default.
    ///   - versionHashModifier: A string that is part of the model's hash; nil for none.
    ///   - renamingIdentifier: The relationship's name in an older version of the model; nil if the name has not changed.
    ///   - userInfo: Notes of the model's author, by key.
    public init(
        name: String,
        destinationName: String,
        inverseName: String? = nil,
        isToMany: Bool = false,
        isOrdered: Bool = false,
        isOptional: Bool = false,
        isTransient: Bool = false,
        minimumCount: Int = 0,
        maximumCount: Int? = nil,
        deleteRule: DeleteRule = .nullify,
        versionHashModifier: String? = nil,
        renamingIdentifier: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.maximumCount = maximumCount ?? (isToMany ? 0 : 1)
        self.name = name
        self.destinationName = destinationName
        self.inverseName = inverseName
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.minimumCount = minimumCount
        self.deleteRule = deleteRule
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}

/// What happens to the destinations when the source of a relationship is deleted. The raw value is the word in the model file.
public enum DeleteRule: String, Sendable, Hashable {
    /// Nothing happens. The destinations can then refer to a deleted object.
    case noAction = "No Action"
    /// The destinations lose their link to the source.
    case nullify = "Nullify"
    /// The destinations are deleted too.
    case cascade = "Cascade"
    /// The source cannot be deleted while it has a destination.
    case deny = "Deny"
}

/// The name of a relationship, with the entity that declares the relationship.
package struct RelationshipName: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}
