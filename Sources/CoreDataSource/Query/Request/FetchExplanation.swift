/// How the store would find the objects of a request.
public struct FetchExplanation: Sendable, Hashable {
    /// The SQL, one statement for each entity, with placeholders for the values; empty for a store in memory.
    public var sql: [String]
    /// What the store does, in its own words.
    public var steps: [String]
    /// What is slow about it, and what to do.
    public var warnings: [String]
    /// The relationships that are read with the objects (``FetchRequest/prefetch``). Other relationships are read for all
    /// objects of the fetch at once, when the first object needs them.
    public var prefetched: [String] = []
    /// The relationships of the entity, and the attributes with large values that lie apart, that this context has read for one
    /// object at a time, and how often.
    public var readOneByOne: [String: Int] = [:]
}
