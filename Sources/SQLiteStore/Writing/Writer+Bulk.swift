internal import CSQLite
internal import PredicateSQL
internal import RowStore

extension Writer {
    /// How many rows are changed by one statement, if a reader looks for them.
    private static let bulkPart = 4096

    /// Changes every row that matches.
    ///
    /// - Parameter makeReader: Called if SQLite cannot evaluate a predicate by itself.
    /// - Returns: How many rows changed.
    func make(
        _ change: BulkChange, _ makeReader: () throws(DataSourceError) -> Reader
    ) throws(DataSourceError) -> Int {
        if let unknown { throw unknown }
        var count = 0
        var reader: Reader?
        defer { reader?.close() }
        try transaction { () throws(DataSourceError) in
            for query in change.queries {
                guard let table = schema.tables[query.entity] else { continue }
                var query = query.unlimited
                (query.sort, query.isOrdered, query.columns) = ([], false, [])
                let predicate = QueryStatement(
                    query, selecting: .nothing, from: table, schema: schema, limits: connection.limits)
                if predicate.isEvaluatedBySQLite {
                    let statement = BulkStatement(change.values, predicate, table)
                    count += try run(statement, isCancellable: query.budget.isCancellable, table)
                } else {
                    let finder = if let reader { reader } else { try makeReader() }
                    reader = finder
                    count += try make(query, change.values, in: table, with: finder)
                }
            }
        }
        log.checkpoint(above: log.limits.hard)
        return count
    }

    /// Changes the rows that a reader finds, in parts. It sees them as they were before: the change is committed after its last step.
    private func make(
        _ query: RowQuery, _ values: [Int: RowValue]?, in table: EntityTable, with reader: Reader
    ) throws(DataSourceError) -> Int {
        var (keys, count, failure) = ([Int64](), 0, DataSourceError?.none)
        keys.reserveCapacity(Writer.bulkPart)
        func flush() {
            do throws(DataSourceError) {
                if failure == nil, !keys.isEmpty { count += try run(BulkStatement(values, keys, table), table) }
            } catch {
                failure = error
                // The rest need not be read.
                sqlite3_interrupt(reader.connection.handle)
            }
            keys.removeAll(keepingCapacity: true)
        }
        do throws(DataSourceError) {
            try reader.forEachRow(query) { row in
                keys.append(row.key)
                if keys.count == Writer.bulkPart { flush() }
            }
        } catch {
            throw failure ?? error
        }
        flush()
        if let failure { throw failure }
        return count
    }

    /// - Parameter isCancellable: Whether the end of the task ends it.
    /// - Returns: How many rows changed.
    private func run(
        _ change: BulkStatement, isCancellable: Bool = false, _ table: EntityTable
    ) throws(DataSourceError) -> Int {
        let statement = try connection.statement(change.sql, change.values, sortedBy: [], isKept: false)
        defer { statement.clear() }
        connection.isCancellable = isCancellable
        connection.setEndsWithItsTask(isCancellable)
        let code = statement.step()
        connection.setEndsWithItsTask(false)
        connection.isCancellable = false
        statementsRun += 1
        if code & 0xFF == SQLITE_INTERRUPT { throw .cancelled }
        guard code == SQLITE_DONE else { throw failure(code, table) }
        let count = Int(sqlite3_changes64(connection.handle))
        rowsWritten += count
        return count
    }
}

/// A statement that changes rows of a table.
private struct BulkStatement {
    let sql: String
    let values: [SQLParameter]

    /// For all rows that match.
    init(_ values: [Int: RowValue]?, _ predicate: QueryStatement, _ table: EntityTable) {
        self.init(values, where: predicate.sql, predicate.values, table)
    }

    /// For the rows with those keys.
    init(_ values: [Int: RowValue]?, _ keys: [Int64], _ table: EntityTable) {
        let list = SQLParameter.list(keys.map { .integer($0) }, .integer)
        self.init(values, where: "\(EntityTable.quotedKey) IN \(ListedValues.sql("?1"))", [list], table)
    }

    /// - Parameters:
    ///   - predicate: SQL; empty for all rows.
    ///   - first: The values of the parameters in it, from the first one on.
    private init(_ new: [Int: RowValue]?, where predicate: String, _ first: [SQLParameter], _ table: EntityTable) {
        guard let new else {
            sql = "DELETE FROM \(table.quotedName)" + (predicate.isEmpty ? "" : " WHERE \(predicate)")
            values = first
            return
        }
        let columns = table.columns.filter { new[$0.index] != nil }
        let terms = columns.enumerated().map { (name: table.terms[$1.index], parameter: "?\(first.count + 1 + $0)") }
        let settings = terms.map { "\($0.name) = \($0.parameter)" }.joined(separator: ", ")
        // Rows that have the values already stay as they are.
        let differs = terms.map { "\($0.name) IS NOT \($0.parameter)" }.joined(separator: " OR ")
        let tests = [predicate, differs].filter { !$0.isEmpty }.map { "(\($0))" }.joined(separator: " AND ")
        sql = "UPDATE \(table.quotedName) SET \(settings) WHERE \(tests)"
        values = first + columns.map { .value(new[$0.index] ?? .null) }
    }
}
