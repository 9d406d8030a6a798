/// One relationship of an entity.
public struct RelationshipDescription: Sendable, Hashable {
    public var name: String
    public var destinationName: String
    /// The relationship of the destination that points back; nil for none.
    public var inverseName: String?
    public var isToMany: Bool
    public var isOrdered: Bool
    public var isOptional: Bool
    public var isTransient: Bool
    /// The fewest destinations allowed. An optional relationship may be empty whatever this says.
    public var minimumCount: Int
    /// The most destinations allowed; 0 for no limit.
    public var maximumCount: Int
    public var deleteRule: DeleteRule
    public var versionHashModifier: String?
    /// The relationship's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    public var userInfo: [String: String]

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
        self.name = name
        self.destinationName = destinationName
        self.inverseName = inverseName
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount ?? (isToMany ? 0 : 1)
        self.deleteRule = deleteRule
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}

/// What happens to the destinations when the source of a relationship is deleted. The raw value is the word in the file.
public enum DeleteRule: String, Sendable, Hashable {
    case noAction = "No Action"
    case nullify = "Nullify"
    case cascade = "Cascade"
    case deny = "Deny"
}

/// A relationship whose value is the result of a fetch. It has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    public var name: String
    public var isOptional: Bool
    public var fetchRequest: FetchRequestTemplate
    public var userInfo: [String: String]

    public init(
        name: String, isOptional: Bool = false, fetchRequest: FetchRequestTemplate, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.isOptional = isOptional
        self.fetchRequest = fetchRequest
        self.userInfo = userInfo
    }
}

/// A fetch request stored with the model.
public struct FetchRequestTemplate: Sendable, Hashable {
    public var name: String
    public var entityName: String
    /// A format string that may hold `$VARIABLES`; nil for all objects.
    public var predicateFormat: String?
    public var resultType: ResultType
    /// The most results; 0 for no limit.
    public var fetchLimit: Int
    public var fetchBatchSize: Int
    public var includesSubentities: Bool
    public var includesPropertyValues: Bool
    public var includesPendingChanges: Bool
    public var returnsObjectsAsFaults: Bool
    public var returnsDistinctResults: Bool

    public init(
        name: String,
        entityName: String,
        predicateFormat: String? = nil,
        resultType: ResultType = .objects,
        fetchLimit: Int = 0,
        fetchBatchSize: Int = 0,
        includesSubentities: Bool = true,
        includesPropertyValues: Bool = true,
        includesPendingChanges: Bool = true,
        returnsObjectsAsFaults: Bool = true,
        returnsDistinctResults: Bool = false
    ) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
        self.resultType = resultType
        self.fetchLimit = fetchLimit
        self.fetchBatchSize = fetchBatchSize
        self.includesSubentities = includesSubentities
        self.includesPropertyValues = includesPropertyValues
        self.includesPendingChanges = includesPendingChanges
        self.returnsObjectsAsFaults = returnsObjectsAsFaults
        self.returnsDistinctResults = returnsDistinctResults
    }

    /// What a fetch returns. The raw value is the number in the file.
    public enum ResultType: Int, Sendable, Hashable {
        case objects = 0
        case objectIDs = 1
        case dictionaries = 2
    }
}
