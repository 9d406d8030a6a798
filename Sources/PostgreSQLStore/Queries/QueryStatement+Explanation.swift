package import RowStore

extension QueryStatement {
    /// What is sent to the server, and what is done here with the rows that it returns.
    package var explanation: QueryExplanation {
        var steps: [String] = []
        if let filter { steps.append("TEST EACH ROW OUTSIDE OF POSTGRESQL" + names(filter)) }
        if !isSorted { steps.append("SORT OUTSIDE OF POSTGRESQL") }
        if !hasWindow { steps.append("APPLY LIMIT AND OFFSET OUTSIDE OF POSTGRESQL") }
        return QueryExplanation(text: sql, steps: steps)
    }

    /// Of which columns the test is.
    private func names(_ filter: RowPredicate) -> String {
        var columns: Set<Int> = []
        _ = filter.collectColumns(&columns)
        let names = columns.sorted().filter { !JoinedColumn.isJoined($0) }.map { layout.columns[$0].name }
        return names.isEmpty ? "" : " BY " + names.joined(separator: ", ")
    }
}
