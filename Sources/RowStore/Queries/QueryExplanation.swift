/// How a store finds the rows of a query.
public struct QueryExplanation: Sendable, Hashable {
    /// The query in the store's own language, without its values; empty if it has none.
    public var statement: String
    /// What the store does, in its own words.
    public var steps: [String]

    /// The step of a store in memory, which has no indexes.
    package static let inMemory = "SCAN rows in memory"

    /// Makes an explanation.
    public init(statement: String, steps: [String]) {
        self.statement = statement
        self.steps = steps
    }
}
