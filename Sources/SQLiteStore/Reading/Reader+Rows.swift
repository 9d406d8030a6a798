internal import CSQLite
internal import RowStore

extension Reader: StoreReader {
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        guard let table = schema.tables[query.entity] else { return }
        let sql = QueryStatement(query, table, schema, connection.limits)
        if sql.isJoinedHere {
            for row in try Join(ReaderView(reader: self), query.budget).rows(query, [query.entity]) { body(row.stored) }
            return
        }
        let statement = try connection.statement(sql)
        var filter = sql.filter
        try withFirstStep(statement, query.budget) { first throws(DataSourceError) in
            let rows = StatementRows(statement, sql, table, joinedCount: query.joined.count)
            let code = try forEach(rows, first, mayReadAhead: !sql.testsRows) { stored throws(DataSourceError) in
                if filter == nil {
                    body(stored)
                    return true
                }
                if try filter?.accepts(stored, table.layout) ?? true { body(stored) }
                return filter?.isDone != true
            }
            guard code == SQLITE_DONE else { throw error(code, sql) }
        }
    }

    /// Passes on all rows of a statement, and lets another thread read them ahead if there are many.
    ///
    /// - Parameters:
    ///   - first: What the first step has returned.
    ///   - body: Returns whether it needs further rows.
    /// - Returns: What the last step returned.
    @inline(__always)
    private func forEach(
        _ rows: StatementRows, _ first: Int32, mayReadAhead: Bool,
        _ body: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError) -> Int32 {
        var (code, count) = (first, 0)
        var ahead: ReadAhead?
        defer { ahead?.withdraw() }
        while code == SQLITE_ROW {
            if try !body(rows.row()) { return SQLITE_DONE }
            code = rows.step()
            count += 1
            guard count & 63 == 0, code == SQLITE_ROW, mayReadAhead, count >= ReadAhead.firstRows else { continue }
            guard let thread = ahead else {
                ahead = ReadAhead(rows, on: aheadQueue)
                continue
            }
            guard thread.isReady else { continue }
            counters.countContinuedRead()
            return try thread.rest(connection, body)
        }
        return code
    }

    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        guard let table = schema.tables[query.entity] else { return 0 }
        let sql = QueryStatement(query, selecting: .count, table, schema, connection.limits)
        if sql.filter != nil || sql.isJoinedHere { return try rows(query.unlimited).count }
        let statement = try connection.statement(sql)
        return try withFirstStep(statement, query.budget) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else { throw error(code, sql) }
            return Int(sqlite3_column_int64(statement.handle, 0))
        }
    }

    /// Why a query ended before its last row.
    func error(_ code: Int32, _ query: QueryStatement) -> DataSourceError {
        if let failure = query.failure { return failure }
        return code & 0xFF == SQLITE_INTERRUPT ? .cancelled : connection.error(code, while: "reading")
    }

    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        guard let table = schema.tables[query.entity] else { return QueryExplanation(statement: "", steps: []) }
        let sql = QueryStatement(query, table, schema, connection.limits)
        if sql.isJoinedHere { return QueryExplanation(statement: "", steps: ["READ RELATED ROWS OUTSIDE OF SQLITE"]) }
        // Its collations must be registered.
        try connection.add(collationsOf: query.sort)
        let steps = try connection.values("EXPLAIN QUERY PLAN " + sql.sql).compactMap { row -> String? in
            guard case .text(let step) = row.last else { return nil }
            return step
        }
        return QueryExplanation(
            statement: sql.sql, steps: sql.filter == nil ? steps : steps + ["TEST EACH ROW OUTSIDE OF SQLITE"])
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

    /// The first row of a statement that returns at most one.
    private func only(_ statement: Statement, _ table: EntityTable) throws(DataSourceError) -> StoredRow? {
        try withFirstStep(statement) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
                return nil
            }
            return withUnsafeTemporaryAllocation(of: ByteRun.self, capacity: table.byteColumnCount + 1) { runs in
                runs.initialize(repeating: ByteRun())
                var pages = RowPages()
                let row = table.row(
                    statement.handle, table.columns, runs.baseAddress.unsafelyUnwrapped, &pages)
                return StoredRow(key: sqlite3_column_int64(statement.handle, 0), row: row)
            }
        }
    }
}

/// The rows of a store, without pending saves.
private struct ReaderView: RowView {
    let reader: Reader
    var layout: ModelLayout { reader.schema.layout }

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] { try reader.rows(query) }
}
