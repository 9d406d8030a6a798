/// A fetch request stored with the model.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The name of the request in the model.
    public var name: String
    /// The name of the fetched entity.
    public var entityName: String
    /// A format string, which may contain `$VARIABLES`; nil for all objects.
    public var predicateFormat: String?
    /// The result type in the model. The generated function returns objects.
    public var resultType: ResultType
    /// The maximum number of results; 0 for no limit.
    public var fetchLimit: Int
    /// Whether the results include objects of sub-entities.
    public var includesSubentities: Bool

    /// Makes a request. Arguments that are left out have the defaults of a model file.
    ///
    /// ```swift
    /// let template = FetchRequestTemplate(
    ///     name: "Unread", entityName: "MessageEntity", predicateFormat: "isRead == NO"
    /// )
    /// ```
    public init(
        name: String,
        entityName: String,
        predicateFormat: String? = nil,
        resultType: ResultType = .objects,
        fetchLimit: Int = 0,
        includesSubentities: Bool = true
    ) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
        self.resultType = resultType
        self.fetchLimit = fetchLimit
        self.includesSubentities = includesSubentities
    }

    /// The kind of results of a fetch. The raw value is the number in the file.
    public enum ResultType: Int, Sendable, Hashable {
        /// The objects.
        case objects = 0
        /// The IDs of the objects.
        case objectIDs = 1
        /// The values of the objects, by property name.
        case dictionaries = 2
    }
}

/// A relationship whose value is the result of a fetch. It has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The name of the property.
    public var name: String
    /// A flag of the model file that the library ignores.
    public var isOptional: Bool
    /// The fetch. Its predicate may use `$FETCH_SOURCE`.
    public var fetchRequest: FetchRequestTemplate
    /// Notes of the model's author, by key.
    public var userInfo: [String: String]

    /// Makes a fetched property.
    ///
    /// ```swift
    /// let unread = FetchedPropertyDescription(name: "unread", fetchRequest: template)
    /// ```
    public init(
        name: String, isOptional: Bool = false, fetchRequest: FetchRequestTemplate, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.isOptional = isOptional
        self.fetchRequest = fetchRequest
        self.userInfo = userInfo
    }
}
