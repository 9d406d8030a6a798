package import PredicateSQL
package import RowStore

/// Sends statements to a server and decodes the results, to answer queries.
package protocol StatementReader: StoreReader, RowView {
    /// The tables of all concrete entities and of all links, by layout index.
    var tables: [Int: QueryTable] { get }

    /// Reads the rows of a statement in pages, and passes each row to the closure until the closure returns false.
    ///
    /// - Parameters:
    ///   - statement: Each row has the key, followed by the statement's `columns` and `joined` columns. Other columns are null.
    ///     The row of a count has the number instead of the key.
    ///   - body: Returns whether another row is needed.
    func read(
        _ statement: QueryStatement, _ body: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError)

    /// Returns the server's description of how it would find the rows of a statement.
    func steps(of statement: QueryStatement) throws(DataSourceError) -> [String]

    /// Returns the server's plan for a statement, as JSON, with the settings of a question.
    func planJSON(of statement: QueryStatement, _ question: PlanQuestion) throws(DataSourceError) -> String

    /// Returns the first column of each index of the store, as SQL, by the name of the index.
    func firstIndexColumns() throws(DataSourceError) -> [String: String]
}

extension StatementReader {
    package func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        guard let table = tables[query.entity] else { return }
        if let statement = QueryStatement(query, table, tables) { return try statement.forEachRow(from: self, body) }
        for row in try Join(self, query.budget).rows(query, [query.entity]) { body(row.stored) }
    }

    package func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        guard let table = tables[query.entity] else { return 0 }
        if let statement = QueryStatement(query, isCount: true, table, tables) {
            return try statement.count(from: self)
        }
        return try Join(self, query.budget).rows(query.unlimited, [query.entity]).count
    }

    package func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        guard let table = tables[query.entity] else { return QueryExplanation(statement: "", steps: []) }
        guard let statement = QueryStatement(query, table, tables) else {
            return QueryExplanation(
                statement: "", steps: ["READ RELATED ROWS OUTSIDE OF POSTGRESQL"],
                findings: QueryFindings(outsideJoins: query, table.layout))
        }
        if statement.isEmpty { return QueryExplanation(statement: statement.sql, steps: ["NO ROW CAN MATCH"]) }
        let steps = try steps(of: statement)
        return QueryExplanation(
            statement: statement.sql, steps: steps + statement.clientSteps,
            findings: try findings(query, statement, table, steps: steps))
    }
}
