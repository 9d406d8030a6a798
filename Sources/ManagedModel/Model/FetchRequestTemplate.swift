/// A fetch request stored with the model.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The name of the request in the model.
    public var name: String
    /// The name of the fetched entity.
    public var entityName: String
    /// The format string of the predicate, which can contain `$VARIABLES`; nil to fetch all objects.
    public var predicateFormat: String?
    /// The result type in the model. The generated function always returns objects.
    public var resultType: ResultType
    /// The maximum number of results; 0 for no limit.
    public var fetchLimit: Int
    /// Whether the results include objects of sub-entities.
    public var includesSubentities: Bool

    /// Makes a request. An omitted argument has the same default as in a model file.
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

    /// The kind of results of a fetch. The raw value is the number in the model file.
    public enum ResultType: Int, Sendable, Hashable {
        /// The objects.
        case objects = 0
        /// The IDs of the objects.
        case objectIDs = 1
        /// The values of the objects, by property name.
        case dictionaries = 2
    }
}

/// A property whose value is the result of a fetch. No column stores the value.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The name of the property.
    public var name: String
    /// A flag in the model file, which the library ignores.
    public var isOptional: Bool
    /// The fetch request. Its predicate can use `$FETCH_SOURCE`.
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
