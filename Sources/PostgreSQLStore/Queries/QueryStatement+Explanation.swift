internal import RowStore

extension QueryStatement {
    /// The work on this side with the rows that the server returns.
    package var stepsHere: [String] {
        var steps: [String] = []
        if let filter { steps.append("TEST EACH ROW OUTSIDE OF POSTGRESQL" + names(filter)) }
        if !isSorted { steps.append("SORT OUTSIDE OF POSTGRESQL") }
        if !hasWindow { steps.append("APPLY LIMIT AND OFFSET OUTSIDE OF POSTGRESQL") }
        return steps
    }

    /// The columns that the test needs.
    private func names(_ filter: RowPredicate) -> String {
        var columns: Set<Int> = []
        _ = filter.collectColumns(&columns)
        var names = columns.sorted().filter { !JoinedColumn.isJoined($0) }.map { layout.columns[$0].name }
        if columns.contains(where: JoinedColumn.isJoined) { names.append("related rows") }
        return names.isEmpty ? "" : " BY " + names.joined(separator: ", ")
    }
}
