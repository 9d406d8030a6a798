internal import CSQLite
internal import RowStore

extension Writer {
    /// How many rows are changed by one statement.
    private static let bulkPart = 4096

    /// Changes every row that matches.
    ///
    /// - Parameter reader: Finds the rows. It sees them as they were before: the change is committed after its last step.
    /// - Returns: How many rows changed.
    func make(_ change: BulkChange, _ reader: Reader) throws(DataSourceError) -> Int {
        if let unknown { throw unknown }
        var count = 0
        try transaction { () throws(DataSourceError) in
            for query in change.queries {
                guard let table = schema.tables[query.entity] else { continue }
                count += try make(query, change.values, table, reader)
            }
        }
        log.checkpoint(above: log.limits.hard)
        return count
    }

    private func make(
        _ query: RowQuery, _ values: [Int: RowValue]?, _ table: EntityTable, _ reader: Reader
    ) throws(DataSourceError) -> Int {
        var query = query.unlimited
        (query.sort, query.isOrdered, query.columns) = ([], false, [])
        let statement = BulkStatement(values, table)
        var (keys, count, failure) = ([Int64](), 0, DataSourceError?.none)
        keys.reserveCapacity(Writer.bulkPart)
        func flush() {
            do throws(DataSourceError) {
                if failure == nil, !keys.isEmpty { count += try run(statement.sql, keys, statement.values, table) }
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
        rowsWritten += count
        return count
    }
}

/// The statement that changes rows whose keys are its first parameter.
private struct BulkStatement {
    let sql: String
    /// The parameters after the keys.
    let values: [RowValue]

    init(_ values: [Int: RowValue]?, _ table: EntityTable) {
        let columns = table.columns.filter { values?[$0.index] != nil }
        self.values = columns.map { values?[$0.index] ?? .null }
        let key = EntityTable.keyName.quoted
        let keys = "\(key) IN \(ListedValues.sql("?1"))"
        guard values != nil else {
            sql = "DELETE FROM \(table.name.quoted) WHERE \(keys)"
            return
        }
        let terms = columns.enumerated().map { (name: table.terms[$1.index], parameter: "?\($0 + 2)") }
        let settings = terms.map { "\($0.name) = \($0.parameter)" }.joined(separator: ", ")
        // Rows that have the values already stay as they are.
        let differs = terms.map { "\($0.name) IS NOT \($0.parameter)" }.joined(separator: " OR ")
        sql = "UPDATE \(table.name.quoted) SET \(settings) WHERE \(keys) AND (\(differs))"
    }
}
