/// Names that a generated declaration may not have, because it would hide what generated code itself uses.
enum ReservedNames {
    /// What a property may not be called: words that have a meaning after a dot, and the members of `ManagedObject`.
    static let members: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "Generated", "objectID", "isInserted", "isUpdated",
        "isDeleted", "hasChanges", "entityName", "attributeKeyPaths", "attribute", "setAttribute",
        "transformable", "setTransformable", "changedAttributes", "description",
    ]

    /// What a class or a struct may not be called.
    static let types: Set<String> = [
        "Any", "AnyKeyPath", "AnyObject", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Foundation",
        "Hashable", "Int", "Int16", "Int32", "Int64", "Protocol", "Self", "Sendable", "String", "Swift",
        "Type", "URL", "UUID", "AttributeDescription", "CompositeDescription", "CoreDataSource",
        "EntityDescription", "FetchIndexDescription", "FetchPredicate", "FetchRequest", "FetchRequestTemplate",
        "FetchedPropertyDescription",
        "ManagedModel", "ManagedObject", "ManagedObjectModel", "ModelConfiguration",
        "RelationshipDescription",
    ]

    static func member(_ identifier: String) -> String {
        members.contains(identifier) ? identifier + "_" : identifier
    }

    static func type(_ identifier: String) -> String {
        types.contains(identifier) ? identifier + "_" : identifier
    }
}
