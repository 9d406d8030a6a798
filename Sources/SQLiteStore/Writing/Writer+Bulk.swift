internal import CSQLite
internal import PredicateSQL
internal import RowStore

extension Writer {
    /// The maximum number of rows that one statement changes, if a reader finds the rows.
    private static let bulkPart = 4096

    /// Changes every matching row in one transaction.
    ///
    /// - Parameter makeReader: Makes a reader for the predicates that SQLite cannot evaluate completely.
    /// - Returns: The number of changed rows.
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
            if change.values == nil, count > 0 {
                try dropTags(of: schema.layout.names(ofEntitiesContaining: change.queries.map(\.entity)))
            }
        }
        log.checkpoint(above: log.limits.hard)
        return count
    }

    /// Changes the rows that a reader finds, in batches. The reader does not see the changes, because they are committed only
    /// after the reader's last step.
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
                // The remaining rows are not needed, so end the statement of the reader.
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

    /// Runs a statement that changes rows of a table.
    ///
    /// - Parameter isCancellable: Whether the statement ends if the task is canceled.
    /// - Returns: The number of changed rows.
    private func run(
        _ change: BulkStatement, isCancellable: Bool = false, _ table: EntityTable
    ) throws(DataSourceError) -> Int {
        let statement = try connection.statement(change.sql, change.values, sortedBy: [], isKept: false)
        defer { statement.clear() }
        connection.isCancellable = isCancellable
        connection.setChecksCancellation(isCancellable)
        let code = statement.step()
        connection.setChecksCancellation(false)
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

    /// Changes all matching rows.
    init(_ values: [Int: RowValue]?, _ predicate: QueryStatement, _ table: EntityTable) {
        self.init(values, where: predicate.sql, predicate.values, table)
    }

    /// Changes the rows with the given keys.
    init(_ values: [Int: RowValue]?, _ keys: [Int64], _ table: EntityTable) {
        let list = SQLParameter.list(keys.map { .integer($0) }, .integer)
        self.init(values, where: "\(EntityTable.quotedKey) IN \(ListedValues.sql("?1"))", [list], table)
    }

    /// - Parameters:
    ///   - predicate: The predicate as SQL; empty for all rows.
    ///   - first: The values for the predicate's parameters, in the order of the parameters' numbers.
    private init(_ new: [Int: RowValue]?, where predicate: String, _ first: [SQLParameter], _ table: EntityTable) {
        guard let new else {
            sql = "DELETE FROM \(table.quotedName)" + (predicate.isEmpty ? "" : " WHERE \(predicate)")
            values = first
            return
        }
        let columns = table.columns.filter { new[$0.index] != nil }
        let assignments = columns.enumerated().map {
            (name: table.expressions[$1.index], parameter: "?\(first.count + 1 + $0)")
        }
        let settings = assignments.map { "\($0.name) = \($0.parameter)" }.joined(separator: ", ")
        // Do not change rows that already have the values.
        let differs = assignments.map { "\($0.name) IS NOT \($0.parameter)" }.joined(separator: " OR ")
        let conditions = [predicate, differs].filter { !$0.isEmpty }.map { "(\($0))" }.joined(separator: " AND ")
        sql = "UPDATE \(table.quotedName) SET \(settings) WHERE \(conditions)"
        values = first + columns.map { .value(new[$0.index] ?? .null) }
    }
}
