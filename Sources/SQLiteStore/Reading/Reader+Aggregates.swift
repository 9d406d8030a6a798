internal import CSQLite
internal import RowStore

extension Reader: AggregatingReader {
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]? {
        guard let table = schema.tables[query.entity], query.joined.isEmpty, !aggregations.isEmpty else { return nil }
        let terms = aggregations.compactMap { AggregateTerm($0, table.layout) }
        guard terms.count == aggregations.count else { return nil }
        let sql = QueryStatement(query, selecting: .aggregates(terms), table, schema, connection.limits)
        if sql.filter != nil || sql.isJoinedHere { return nil }
        let statement = try connection.statement(sql)
        return try withFirstStep(statement, query.budget) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else {
                // A sum of integers that is too large on the way need not be so at the end.
                if String(cString: sqlite3_errmsg(connection.handle)) == "integer overflow" { return nil }
                throw error(code, sql)
            }
            var values = (0..<sqlite3_column_count(statement.handle)).map(statement.value)[...]
            let results = terms.compactMap { $0.result(&values, table.layout) }
            return results.count == terms.count ? results : nil
        }
    }
}
