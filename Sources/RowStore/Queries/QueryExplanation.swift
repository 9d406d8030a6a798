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

/// The slow parts of a query in a database.
package struct QueryFindings: Sendable, Hashable {
    /// Whether the database reads every row of the query's entity, because no index finds the matching rows.
    package var readsEveryRow = false
    /// The tables of related rows in the statement.
    package private(set) var related: [RelatedTable] = []
    package var sort = Sort.none
    /// The names of the attributes that a part of the predicate needs. This part is evaluated for each row, outside of the
    /// database. Nil if the database evaluates the whole predicate.
    package var namesOutside: [String]?
    /// Whether the database's indexes of strings contain hashes, and so find only equal strings.
    package var hasHashedStrings = false

    /// How the rows are brought into the order of the query.
    package enum Sort: Sendable, Hashable {
        /// The rows are found in this order.
        case none
        /// All matching rows are sorted, because the indexes have another order.
        case withoutIndex
        /// All matching rows are sorted, because the database can have no index in this order.
        case never
        /// All matching rows are sorted, because they are found by their keys, one by one, and not in the order of an index.
        case byKey
    }

    package init() {}

    /// Whether no table is read as a whole.
    package var findsRows: Bool { !readsEveryRow && !related.contains(where: \.isScanned) }

    /// Records which tables are read as a whole.
    ///
    /// - Parameters:
    ///   - names: The names of these tables in the plan. A name that belongs to no related table belongs to the query's entity.
    ///   - related: The tables of related rows in the statement.
    package mutating func setScans(of names: Set<String>, _ related: [RelatedTable]) {
        self.related = related
        for index in related.indices { self.related[index].isScanned = !names.isDisjoint(with: related[index].names) }
        readsEveryRow = !names.subtracting(related.flatMap(\.names)).isEmpty
    }

    /// Whether a name in the plan belongs to a table of related rows.
    package func isRelated(_ name: some StringProtocol) -> Bool {
        related.contains { table in table.names.contains { $0 == name } }
    }

    /// The findings of a query whose rows are joined with related rows outside of the database.
    package init(outsideJoins query: RowQuery, _ layout: EntityLayout) {
        readsEveryRow = true
        if query.predicate != .constant(true) { namesOutside = query.predicate.names(layout) }
    }
}

/// A table of related rows in a statement.
package struct RelatedTable: Sendable, Hashable {
    /// The name of the table in the statement, such as `t1`. If the relationship has a join table, that table is then `j1`.
    package let alias: String
    /// The name of the table from which the relationship leads to this table.
    package let outer: String
    package let entity: Int
    package let rows: RelatedRows
    /// Whether the database reads every row of the table.
    package fileprivate(set) var isScanned = false

    package init(number: Int, outer: String, entity: Int, _ rows: RelatedRows) {
        alias = "t\(number)"
        self.outer = outer
        self.entity = entity
        self.rows = rows
    }

    fileprivate var names: [String] { [alias, "j" + alias.dropFirst()] }
}

extension RowPredicate {
    /// The names of the attributes that the predicate needs. All values of related rows together have the name `related
    /// rows`.
    package func names(_ layout: EntityLayout) -> [String] {
        var columns: Set<Int> = []
        _ = collectColumns(&columns)
        var names = columns.sorted().filter { !JoinedColumn.isJoined($0) }.map { layout.columns[$0].name }
        if columns.contains(where: JoinedColumn.isJoined) { names.append("related rows") }
        return names
    }
}
