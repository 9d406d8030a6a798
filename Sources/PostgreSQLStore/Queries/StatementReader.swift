package import RowStore

/// Who sends statements to a server and decodes what it returns.
package protocol StatementReader {
    /// Reads the rows of a statement page by page, and hands over each until the answer is false: then no further page is
    /// asked for.
    ///
    /// - Parameters:
    ///   - statement: Its ``QueryStatement/columns`` say what each row has after the key; other columns are null. The row of
    ///     a count has the number in the place of the key.
    ///   - goOn: Whether another row is wanted.
    func read(
        _ statement: QueryStatement, _ goOn: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError)
}
