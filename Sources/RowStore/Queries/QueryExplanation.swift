/// How a store finds the rows of a query.
public struct QueryExplanation: Sendable, Hashable {
    /// The query in the query language of the store, without its values; empty if the store has no query language.
    public var statement: String
    /// The steps, in the words of the store.
    public var steps: [String]

    /// The slow parts of the query, for the warnings of an explanation. A custom store finds none.
    package var findings = QueryFindings()

    /// The only step of a store in memory, which has no indexes.
    package static let inMemory = "SCAN rows in memory"

    /// Makes an explanation.
    ///
    /// ```swift
    /// let explanation = QueryExplanation(statement: "", steps: ["GET /contacts"])
    /// ```
    public init(statement: String, steps: [String]) {
        self.statement = statement
        self.steps = steps
    }

    package init(statement: String, steps: [String], findings: QueryFindings) {
        self.init(statement: statement, steps: steps)
        self.findings = findings
    }
}

/// The slow parts of a query, as a database finds the rows.
package struct QueryFindings: Sendable, Hashable {
    /// Whether the database reads every row of a table, because no index finds the matching rows.
    package var readsEveryRow = false
    package var sort = Sort.none
    /// The names of the attributes that a part of the predicate needs. This part is evaluated for each row, outside of the
    /// database. Nil if the database evaluates the whole predicate.
    package var namesOutside: [String]?
    /// Whether the index of a string finds only equal strings.
    package var hasHashedStrings = false

    /// How the rows are brought into the order of the query.
    package enum Sort: Sendable, Hashable {
        /// The rows are found in this order.
        case none
        /// All matching rows are sorted, because the indexes have another order.
        case withoutIndex
        /// All matching rows are sorted, because the database can have no index in this order.
        case never
    }

    package init() {}

    /// The findings of a query whose rows are joined with related rows outside of the database.
    package init(outsideJoins query: RowQuery, _ layout: EntityLayout) {
        readsEveryRow = true
        if query.predicate != .constant(true) { namesOutside = query.predicate.names(layout) }
    }
}

extension RowPredicate {
    /// The names of the attributes that the predicate needs. Values of related rows have one name.
    package func names(_ layout: EntityLayout) -> [String] {
        var columns: Set<Int> = []
        _ = collectColumns(&columns)
        var names = columns.sorted().filter { !JoinedColumn.isJoined($0) }.map { layout.columns[$0].name }
        if columns.contains(where: JoinedColumn.isJoined) { names.append("related rows") }
        return names
    }
}
