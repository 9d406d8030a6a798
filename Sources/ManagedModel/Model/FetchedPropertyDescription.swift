/// A relationship whose value is the result of a fetch. It has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The name of the property.
    public var name: String
    /// A flag of the model that is not used.
    public var isOptional: Bool
    /// The fetch. Its predicate may use `$FETCH_SOURCE`.
    public var fetchRequest: FetchRequestTemplate
    /// The author's notes, by keys of their own.
    public var userInfo: [String: String]

    /// Makes a fetched property.
    public init(
        name: String, isOptional: Bool = false, fetchRequest: FetchRequestTemplate, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.isOptional = isOptional
        self.fetchRequest = fetchRequest
        self.userInfo = userInfo
    }
}
