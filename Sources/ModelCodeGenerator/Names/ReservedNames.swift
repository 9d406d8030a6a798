/// Names that generated declarations cannot have, because they would hide what generated code uses.
enum ReservedNames {
    /// Names that a property cannot have: words with a meaning after a dot, and the members of `ManagedObject`.
    static let members: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "Generated", "objectID", "isInserted", "isUpdated",
        "isDeleted", "hasChanges", "entityName", "attributeKeyPaths", "attribute", "calculatedAttribute",
        "setAttribute", "isNil", "setNil",
        "transformable", "setTransformable", "changedAttributes", "description", "context",
        "relatedObject", "setRelatedObject", "relatedObjects", "relatedList", "setRelatedList", "relationshipKeyPaths",
        "optionalKeyPaths", "hash", "hashValue", "editTogether",
    ]

    /// Names that a class or a struct cannot have: words of Swift, and the types that generated code or the app uses.
    static let types: Set<String> = words.union(systemTypes).union(libraryTypes)

    /// Words that are not allowed as names, not even in backticks.
    private static let words: Set<String> = ["Any", "Protocol", "Self", "Type", "init", "self"]

    private static let systemTypes: Set<String> = [
        "AnyKeyPath", "AnyObject", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Foundation", "Hashable",
        "Int", "Int16", "Int32", "Int64", "Sendable", "String", "Swift", "URL", "UUID",
    ]

    /// Every public type that `import CoreDataSource` brings, and the modules. A test compares them with the sources.
    private static let libraryTypes: Set<String> = [
        "ActiveRecord", "AnyDataSource", "AttributeBounds", "AttributeDescription", "AttributeRange",
        "AttributeStorable", "AttributeType", "AttributeValue", "BackgroundContext", "ChangeSet", "CodableRow",
        "CodeGeneration", "ColumnDescription", "ColumnLayout", "ColumnSet", "ColumnStorage", "CommitOutcome",
        "CompositeDescription",
        "CoreDataSource", "DataSource", "DataSourceBinding", "DataSourceDelegate", "DataSourceDiagnostic",
        "DataSourceError", "DataSourceKeys", "DataSourceProtocol", "DeleteRule",
        "DiffableListSnapshot", "Draft", "DraftChange", "DraftContext", "DraftReport", "DraftResolution",
        "EarlierVersion", "EditingContext", "EntityChanges", "EntityDescription",
        "EntityLayout", "FeedEvent", "FetchAggregate", "FetchAssignment", "FetchCollation", "FetchCursor",
        "FetchExplanation", "FetchIndexDescription", "FetchOrder", "FetchPredicate", "FetchRequest",
        "FetchRequestTemplate", "FetchedPropertyDescription", "GeneratedModel", "GraphLinks", "InMemoryRows",
        "KeyedDataSource",
        "LeaseEpoch", "LeaseTable", "LeaseTimes", "LeaseTrust", "ListBuffering", "ListChangeType", "ListDifference",
        "ListReason",
        "ListRow", "ListSection", "ListSnapshot", "ListUpdate", "ListUpdates", "LiveList", "MainContext",
        "ManagedModel", "ManagedObject", "ManagedObjectContext", "ManagedObjectConvertible", "ManagedObjectID",
        "ManagedObjectModel", "ManagedObjectSeed", "MigrationProgress", "MigrationReport", "ModelConfiguration",
        "ModelDifference", "ModelError", "ModelHash", "ModelLayout", "ObjectGraph", "ObjectKey", "OpenedStores",
        "PersistentContainer", "PersistentStore", "PrivateContext", "QueryExplanation", "ReadContext", "ReadIsolation",
        "RelatedObjects", "RelationshipDescription", "ResetPolicy", "RowQuery", "RowSnapshot", "RowValue", "SaveLevel",
        "SaveReport", "SharedNews", "StartupPlan", "StatementTrace", "StoreDescription", "StoreFailure", "StoreLease",
        "StoreLocation", "StoreMember", "StoreMetadata", "StoreOptions", "StoreReader", "StoreSharing",
        "StoreSharingMode", "StoreStartup", "StoredRow", "StoredValue", "StoredValueConvertible", "StringAttribute",
        "StringMatching", "StringSorting", "SummableAttribute", "SyncDeletion", "SyncOperations", "SyncOptions",
        "SyncReport",
        "SynchronousLevel", "UpdatedRow",
    ]

    static func member(_ identifier: String) -> String {
        members.contains(identifier) ? identifier + "_" : identifier
    }

    static func type(_ identifier: String) -> String {
        types.contains(identifier) ? identifier + "_" : identifier
    }

    /// Whether not even an author can write a class with that name.
    static func isImpossible(_ identifier: String) -> Bool { words.contains(identifier) }
}
