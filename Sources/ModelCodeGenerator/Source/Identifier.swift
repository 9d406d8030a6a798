internal import DeclarationRules

/// Makes Swift identifiers from names in a model, which can contain any character.
enum Identifier {
    /// Replaces each invalid character with an underscore.
    ///
    /// The result is never empty and never starts with a digit. A keyword is not escaped: see ``escaped(_:)``.
    static func sanitized(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            scalars.append(scalar.properties.isXIDContinue ? scalar : "_")
        }
        let identifier = String(scalars)
        guard let first = identifier.unicodeScalars.first else { return "unnamed" }
        if identifier == "_" { return "__" }
        return first == "_" || first.properties.isXIDStart ? identifier : "_" + identifier
    }

    /// Puts the identifier in backticks if it is a keyword.
    static func escaped(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    /// Returns the name as a member name: `MyApp Model` becomes `myAppModel`, and `URLCache` becomes `urlCache`.
    static func lowerCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        guard let first = words.first else { return sanitized(name) }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return sanitized(lowercasedStart(of: String(first)) + rest.joined())
    }

    /// Returns the name as a type name: `my model` becomes `MyModel`.
    static func upperCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        return sanitized(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
    }

    /// Lowercases the capitals at the start of a word, but not a capital that starts the next word.
    private static func lowercasedStart(of word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        let rest = word.dropFirst(capitals.count)
        guard capitals.count > 1, rest.first?.isLetter == true else { return capitals.lowercased() + rest }
        return capitals.dropLast().lowercased() + word.dropFirst(capitals.count - 1)
    }

    private static let keywords: Set<String> = [
        "Any", "Self", "any", "as", "associatedtype", "await", "borrowing", "break", "case", "catch", "class",
        "consuming", "continue",
        "default", "defer", "deinit", "do", "each", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "isolated",
        "let",
        "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
        "self", "sending", "some", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var", "where", "while",
    ]
}

/// Names that generated declarations must not have. A declaration with such a name would hide another declaration, which
/// generated code uses.
enum ReservedNames {
    /// Names that a property must not have: words that mean something else after a dot, such as `self`; the members of
    /// `ManagedObject`; and the modules, whose names precede names of types.
    static let members: Set<String> = SourceNames.modules.union([
        "self", "Self", "init", "Type", "Protocol", "Generated", "objectID", "isInserted", "isUpdated",
        "isDeleted", "hasChanges", "entityName", "attributeKeyPaths", "propertyNames", "attribute",
        "calculatedAttribute",
        "setAttribute", "isNil", "setNil",
        "transformable", "setTransformable", "changedAttributes", "description", "context",
        "relatedObject", "setRelatedObject", "relatedObjects", "relatedList", "setRelatedList", "relationshipKeyPaths",
        "optionalKeyPaths", "hash", "hashValue", "editTogether", "declaredEntity", "derivedAttribute", "StoredLayout",
        "setInitialValues", "firstColumn", "groupKey", "groupKeyIfPresent",
    ])

    /// Names that a class or struct must not have: words of Swift, and types that generated code or the app uses.
    static let types: Set<String> = words.union(systemTypes).union(libraryTypes).union(LayoutNames.added)
        .union(SourceNames.modules)

    /// Words that Swift does not accept as names of types, even in backticks.
    private static let words: Set<String> = ["Any", "Protocol", "Self", "Type", "init", "self"]

    private static let systemTypes: Set<String> = [
        "AnyKeyPath", "AnyObject", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Hashable",
        "Int", "Int16", "Int32", "Int64", "Sendable", "Set", "String", "URL", "UUID",
    ]

    /// Every public type that `import CoreDataSource` imports. A test compares this list with the sources.
    private static let libraryTypes: Set<String> = [
        "ActiveRecord", "EntityDataSource", "AttributeBounds", "AttributeDescription", "AttributeRange",
        "AttributeStorable", "AttributeType", "AttributeValue", "BatchProgress", "ContextHandle", "ChangeSet",
        "CodableRecord", "CodableRow",
        "CodeGeneration", "ColumnDescription", "ColumnLayout", "ColumnSet", "ColumnStorage", "CommitOutcome",
        "CompositeDescription", "CompositeValue",
        "DataSource", "DataSourceBinding", "DataSourceDelegate", "DataSourceDiagnostic",
        "DataSourceError", "DataSourceKeys", "DataSourceProtocol", "DeclaredEntity", "DeleteRule",
        "DiffableListSnapshot", "Draft", "DraftChange", "DraftContext", "DraftReport", "DraftResolution",
        "EarlierVersion", "EditingContext", "EntityChanges", "EntityDescription",
        "EntityLayout", "FeedEvent", "FetchAggregate", "FetchAssignment", "FetchCollation", "FetchCursor",
        "FetchExplanation", "FetchIndexDescription", "FetchOrder", "FetchPredicate", "ObjectPages", "ObjectRequest",
        "FetchRequestTemplate", "FetchedPropertyDescription", "GeneratedModel", "GraphLinks", "GroupValue",
        "GroupableProperty", "StoredHistoryChange", "HistoryConsumer",
        "HistoryFilter",
        "HistoryKind", "HistoryPosition", "HistoryRecord", "HistoryRecords", "HistoryStore", "InMemoryHistory",
        "InMemoryRows", "KeptHistory",
        "KeyedDataSource",
        "LeaseEpoch", "LeaseTable", "LeaseTimes", "LeaseTrust", "ListBuffering", "ListChangeType", "ListDifference",
        "ListReason",
        "ListRow", "ListSection", "ListSections", "ListSnapshot", "ListUpdate", "ListUpdates", "LiveAggregate",
        "LiveList", "LoadPauses", "MainContext",
        "ManagedModel", "ManagedObject", "ManagedObjectContext", "ManagedObjectConvertible", "ManagedObjectID",
        "ManagedObjectModel", "ManagedObjectSeed", "MigrationProgress", "MigrationReport", "EntityConfiguration",
        "CommittedSave", "CommittedSaves", "ModelDifference", "ModelError", "ModelHash", "ModelLayout", "ObjectGraph",
        "ObjectKey", "ObservedList",
        "OpenedStores", "PendingChanges", "PinState",
        "PersistentContainer", "PersistentStore", "PrivateContext", "QueriedComposite", "QueryExplanation",
        "ReadContext", "ReadIsolation",
        "RelatedObjects", "RelationshipDescription", "ResetPolicy", "RowQuery", "RowSnapshot", "RowValue",
        "SaveCompleting", "SaveEvent",
        "SaveLevel", "SavedChange", "SavedLink", "SaveReport", "FeedPage", "StartupPlan", "StatementTrace",
        "StoreDescription",
        "StoreFailure", "StoreLease", "RetryAfterError", "ScopeEviction", "ScopeFreshness", "ScopeReader",
        "ScopeRequest", "ScopeStore", "ServerAnswer", "StalePolicy", "StoredScope",
        "StoreLocation", "StoreMember", "StoreMetadata", "StoreOptions", "StoreReader", "StoreSharing",
        "StoreSharingMode", "StoreStartup", "StoredCompositeValue", "StoredForm", "StoredHistory", "StoredRow",
        "StoredTypes",
        "StoredValue", "StoredValueConvertible", "StringAttribute",
        "StringMatching", "StringSorting", "SummableAttribute", "SyncDeletion", "SyncOperations", "SyncOptions",
        "SyncScope",
        "SyncReport",
        "SynchronousLevel", "UnknownChanges", "UpdatedRow",
    ]

    static func member(_ identifier: String) -> String {
        members.contains(identifier) ? identifier + "_" : identifier
    }

    static func type(_ identifier: String) -> String {
        if LayoutNames.prefixes.contains(where: identifier.hasPrefix) { return "_" + identifier }
        return types.contains(identifier) ? identifier + "_" : identifier
    }

    /// Whether the name is a word that Swift refuses as the name of a class, even in backticks.
    static func cannotBeEscaped(_ identifier: String) -> Bool { words.contains(identifier) }
}
