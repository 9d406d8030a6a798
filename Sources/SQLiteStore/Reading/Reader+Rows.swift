internal import CSQLite
internal import RowStore

extension Reader: StoreReader {
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        guard let table = schema.tables[query.entity] else { return }
        let text = QueryText(query, table, connection.limits)
        let statement = try prepare(text)
        try withFirstStep(statement) { first throws(DataSourceError) in
            let runs = UnsafeMutablePointer<ByteRun>.allocate(capacity: table.byteColumnCount)
            runs.initialize(repeating: ByteRun(), count: table.byteColumnCount)
            defer { runs.deallocate() }
            var remaining = text.filter
            var code = first
            while code == SQLITE_ROW {
                let key = sqlite3_column_int64(statement.handle, 0)
                let row = table.row(statement.handle, runs)
                if remaining == nil || remaining?.accepts(row, table.layout) == true {
                    body(StoredRow(key: key, row: row))
                }
                if remaining?.isDone == true { return }
                code = sqlite3_step(statement.handle)
            }
            guard code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
        }
    }

    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        guard let table = schema.tables[query.entity] else { return 0 }
        let text = QueryText(countOf: query, table, connection.limits)
        if text.filter != nil {
            return try rows(RowQuery(entity: query.entity, predicate: query.predicate)).count
        }
        let statement = try prepare(text)
        return try withFirstStep(statement) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else { throw connection.error(code, while: "reading") }
            return Int(sqlite3_column_int64(statement.handle, 0))
        }
    }

    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        guard let table = schema.tables[entity] else { return nil }
        let statement = try connection.statement(table.keyStatement, table.keySQL)
        sqlite3_bind_int64(statement.handle, 1, key)
        return try only(statement, table)?.row
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        guard let table = schema.tables[entity] else { return nil }
        let columns = table.layout.constraints[constraint]
        // SQLite would convert a value of another kind and might find something.
        let fits = zip(columns, values).allSatisfy { $1 != .null && $1.fits(table.layout.columns[$0].storage) }
        guard fits, columns.count == values.count else { return nil }
        let statement = try connection.statement(
            table.constraintStatement(constraint), table.constraintSQL[constraint])
        for (position, value) in values.enumerated() {
            let code = statement.bind(value, Int32(position + 1))
            guard code == SQLITE_OK else { throw connection.error(code, while: "reading") }
        }
        return try only(statement, table)
    }

    /// The first row of a statement that has one at most.
    private func only(_ statement: Statement, _ table: EntityTable) throws(DataSourceError) -> StoredRow? {
        try withFirstStep(statement) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
                return nil
            }
            return withUnsafeTemporaryAllocation(of: ByteRun.self, capacity: table.byteColumnCount + 1) { runs in
                runs.initialize(repeating: ByteRun())
                let row = table.row(statement.handle, runs.baseAddress.unsafelyUnwrapped)
                return StoredRow(key: sqlite3_column_int64(statement.handle, 0), row: row)
            }
        }
    }

    private func prepare(_ text: QueryText) throws(DataSourceError) -> Statement {
        let statement = try connection.query(text.sql, isKept: text.isShort)
        for (position, value) in text.values.enumerated() {
            let code =
                switch value {
                case .one(let value): statement.bind(value, Int32(position + 1))
                case .set(let set): statement.bind(set, Int32(position + 1))
                }
            guard code == SQLITE_OK else { throw connection.error(code, while: "reading") }
        }
        return statement
    }
}
