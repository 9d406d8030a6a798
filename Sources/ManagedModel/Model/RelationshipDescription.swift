/// One relationship of an entity.
public struct RelationshipDescription: Sendable, Hashable {
    /// The name of the relationship.
    public var name: String
    /// The name of the entity that it leads to.
    public var destinationName: String
    /// The relationship of the destination that points back; nil for none.
    public var inverseName: String?
    /// Whether it may have more than one destination.
    public var isToMany: Bool
    /// Whether its destinations have an order. Only to-many relationships can.
    public var isOrdered: Bool
    /// Whether it may be saved without a destination.
    public var isOptional: Bool
    /// Whether it is kept in memory only.
    public var isTransient: Bool
    /// The fewest destinations allowed. An optional relationship may be empty regardless of this.
    public var minimumCount: Int
    /// The most destinations allowed; 0 for no limit.
    public var maximumCount: Int
    /// What happens to the destinations when the source is deleted. It is not part of the hash.
    public var deleteRule: DeleteRule
    /// Part of the hash: changing it changes the model. Nil for none.
    public var versionHashModifier: String?
    /// The relationship's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    /// The author's notes, by keys of their own. They are not part of the hash.
    public var userInfo: [String: String]

    /// Makes a relationship.
    ///
    /// - Parameters:
    ///   - name: The name of the relationship.
    ///   - destinationName: The name of the entity that it leads to.
    ///   - inverseName: The relationship of the destination that points back; nil for none.
    ///   - isToMany: Whether it may have more than one destination.
    ///   - isOrdered: Whether its destinations have an order.
    ///   - isOptional: Whether it may be saved without a destination.
    ///   - isTransient: Whether it is kept in memory only.
    ///   - minimumCount: The fewest destinations; 0 by default.
    ///   - maximumCount: The most destinations; 0 for no limit. Nil, the default, means 1 for a to-one relationship and no
    ///     limit for a to-many one.
    ///   - deleteRule: What happens to the destinations when the source is deleted; `.nullify` by default.
    ///   - versionHashModifier: Part of the hash; nil for none.
    ///   - renamingIdentifier: The relationship's name in an older version of the model; nil if it has not changed.
    ///   - userInfo: The author's notes, by keys of their own.
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

/// What happens to the destinations when the source of a relationship is deleted. The raw value is the word in the file.
public enum DeleteRule: String, Sendable, Hashable {
    /// Nothing happens: their links to the source may then lead nowhere.
    case noAction = "No Action"
    /// They lose their link to the source.
    case nullify = "Nullify"
    /// They are deleted too.
    case cascade = "Cascade"
    /// The source cannot be deleted as long as there is a destination.
    case deny = "Deny"
}

/// A relationship where it is declared.
package struct RelationshipName: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}
