internal import CSQLite
internal import RowStore

extension Connection {
    /// All rows of a query with parameters. Values without a parameter are ignored.
    func values(_ sql: String, _ values: [RowValue]) throws(DataSourceError) -> [[RowValue]] {
        let statement = try prepare(sql)
        try bind(values, to: statement, from: 1)
        return try rows(of: statement)
    }

    func bind(_ values: [RowValue], to statement: Statement, from first: Int32) throws(DataSourceError) {
        let count = sqlite3_bind_parameter_count(statement.handle)
        for (parameter, value) in zip(first..., values) where parameter <= count {
            let code = statement.bind(value, parameter)
            guard code == SQLITE_OK else { throw error(code, while: "using") }
        }
    }
}
