internal import CSQLite
internal import PredicateSQL
internal import RowStore

extension Writer {
    /// Writes the changes of one entity. Deletes rows first, so that a new row can use the unique value of a deleted row.
    func write(_ changes: EntityChanges) throws(DataSourceError) {
        guard let table = schema.tables[changes.entity] else {
            throw DataSourceError(abstractEntity: schema.layout.entities[changes.entity].name)
        }
        try delete(changes.deleted, table)
        do {
            try update(changes, table)
        } catch  where error.code == .uniquenessViolated && changes.updated.count > 1 {
            // Rows may have exchanged their unique values. Single updates in any order would violate the constraint.
            try replace(changes.updated, table)
        }
        try insert(changes.inserted, table)
        rowsWritten += changes.rowCount
    }

    func insert(_ rows: [StoredRow], _ table: EntityTable) throws(DataSourceError) {
        guard !rows.isEmpty else { return }
        growCache(byRows: rows.count)
        let statement = try connection.statement(table.insertStatement, table.insertSQL)
        defer { statement.clear() }
        for row in rows {
            let code = statement.insert(row.key, row.row, table)
            guard code == SQLITE_DONE else { throw failure(code, table) }
            highestKey = max(highestKey, row.key)
        }
        statementsRun += rows.count
    }

    func delete(_ rows: [StoredRow], _ table: EntityTable) throws(DataSourceError) {
        guard !rows.isEmpty else { return }
        if rows.count > Writer.singleStatementLimit {
            let keys = "\(EntityTable.quotedKey) IN \(ListedValues.sql("?1"))"
            try run("DELETE FROM \(table.quotedName) WHERE \(keys)", on: rows.map(\.key), with: [], in: table)
            return
        }
        let statement = try connection.statement(table.deleteStatement, table.deleteSQL)
        defer { statement.clear() }
        for row in rows {
            let code = statement.run(key: row.key)
            guard code == SQLITE_DONE else { throw failure(code, table) }
        }
        statementsRun += rows.count
    }

    private func update(_ changes: EntityChanges, _ table: EntityTable) throws(DataSourceError) {
        guard let shared = changes.sharedColumns, changes.updated.count > Writer.singleStatementLimit else {
            return try update(changes.updated, table)
        }
        let columns = table.columns.filter { shared.contains($0.index) }
        let row = changes.updated[0].row
        let settings = columns.enumerated().map { "\(table.expressions[$1.index]) = ?\($0 + 2)" }
        let keys = "\(EntityTable.quotedKey) IN \(ListedValues.sql("?1"))"
        let count = try run(
            "UPDATE \(table.quotedName) SET \(settings.joined(separator: ", ")) WHERE \(keys)",
            on: changes.updated.map(\.key), with: columns.map { row.value($0.index, $0.storage) }, in: table)
        guard count == changes.updated.count else {
            throw DataSourceError(updateOfMissingRowOf: table.layout.name)
        }
    }

    /// Runs one statement on all rows with the given keys. Parameter 1 is the list of keys. The values are the next parameters.
    ///
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(
        _ sql: String, on keys: [Int64], with values: [RowValue], in table: EntityTable
    ) throws(DataSourceError) -> Int {
        let statement = try connection.prepare(sql)
        var code = statement.bind(.list(keys.map { .integer($0) }, .integer), 1)
        for (index, value) in values.enumerated() where code == SQLITE_OK {
            code = statement.bind(value, Int32(index + 2))
        }
        if code == SQLITE_OK { code = statement.step() }
        statementsRun += 1
        guard code == SQLITE_DONE else { throw failure(code, table) }
        return Int(sqlite3_changes64(connection.handle))
    }

    /// Updates the rows, and sets only the changed columns: SQLite updates an index only if the statement sets one of its
    /// columns.
    private func update(_ rows: [UpdatedRow], _ table: EntityTable) throws(DataSourceError) {
        var current: (columns: ColumnSet, statement: Statement, stored: ContiguousArray<EntityTable.Column>)?
        defer { current?.statement.clear() }
        for row in rows {
            if current?.columns != row.columns {
                current?.statement.clear()
                let stored = ContiguousArray(table.columns.filter { row.columns.contains($0.index) })
                current = nil
                guard !stored.isEmpty else { continue }
                current = (row.columns, try updateStatement(row.columns, stored, table), stored)
            }
            guard let current else { continue }
            let code = current.statement.update(row.key, row.row, columns: current.stored, of: table)
            guard code == SQLITE_DONE else { throw failure(code, table) }
            guard sqlite3_changes64(connection.handle) == 1 else {
                throw DataSourceError(updateOfMissingRowOf: table.layout.name)
            }
            statementsRun += 1
        }
    }

    /// Deletes the rows, and then inserts them with their new values.
    private func replace(_ rows: [UpdatedRow], _ table: EntityTable) throws(DataSourceError) {
        let statement = try connection.statement(table.deleteStatement, table.deleteSQL)
        defer { statement.clear() }
        for row in rows {
            let code = statement.run(key: row.key)
            guard code == SQLITE_DONE else { throw failure(code, table) }
            guard sqlite3_changes64(connection.handle) == 1 else {
                throw DataSourceError(updateOfMissingRowOf: table.layout.name)
            }
        }
        statementsRun += rows.count
        try insert(rows.map { StoredRow(key: $0.key, row: $0.row) }, table)
    }

    private func updateStatement(
        _ columns: ColumnSet, _ stored: ContiguousArray<EntityTable.Column>, _ table: EntityTable
    ) throws(DataSourceError) -> Statement {
        if let statement = updates[table.layout.index][columns] { return statement }
        let settings = stored.enumerated().map { "\(table.expressions[$1.index]) = ?\($0 + 2)" }.joined(separator: ", ")
        let statement = try connection.prepare(
            "UPDATE \(table.quotedName) SET \(settings) WHERE \(EntityTable.quotedKey) = ?1")
        if updates[table.layout.index].count >= Writer.updateLimit { updates[table.layout.index] = [:] }
        updates[table.layout.index][columns] = statement
        return statement
    }

    /// The maximum number of rows that are changed one by one, if a single statement could change all rows.
    private static let singleStatementLimit = 32
    /// The maximum number of UPDATE statements that are kept for an entity. If one more is needed, all are removed.
    private static let updateLimit = 32

    func failure(_ code: Int32, _ table: EntityTable) -> DataSourceError {
        guard code & 0xFF == SQLITE_CONSTRAINT else {
            var error = connection.error(code, while: "writing")
            error.entityName = table.layout.name
            return error
        }
        return DataSourceError(violationOf: table, text: String(cString: sqlite3_errmsg(connection.handle)))
    }
}

extension DataSourceError {
    /// - Parameter text: SQLite's message, which ends with the names of the violated constraint's columns.
    fileprivate init(violationOf table: EntityTable, text: String) {
        let constraint = table.layout.constraints.first { columns in
            text.hasSuffix(": " + columns.map { "\(table.name).\(table.unquotedName($0))" }.joined(separator: ", "))
        }
        self.init(uniqueness: constraint, table.layout)
        cause = text
    }
}

// The loops over all saved rows. Strings and blobs are bound without a copy, in the row's own buffer. The bindings are valid
// only until the call returns, so the caller clears the statement after the last row.

extension Statement {
    /// Runs a statement whose only parameter is a key.
    @inline(__always)
    func run(key: Int64) -> Int32 {
        sqlite3_bind_int64(handle, 1, key)
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        return code
    }

    /// Inserts a row. The key is parameter 1. The stored columns are the next parameters.
    @inline(__always)
    func insert(_ key: Int64, _ row: RowSnapshot, _ table: EntityTable) -> Int32 {
        bindAndRun(key, row, columns: table.columns, of: table)
    }

    /// Updates columns of a row. The key is parameter 1. The columns are the next parameters.
    @inline(__always)
    func update(
        _ key: Int64, _ row: RowSnapshot, columns: ContiguousArray<EntityTable.Column>, of table: EntityTable
    ) -> Int32 {
        bindAndRun(key, row, columns: columns, of: table)
    }

    /// - Returns: The result code of `sqlite3_step`; the code of the failed bind, if a value could not be bound.
    private func bindAndRun(
        _ key: Int64, _ row: RowSnapshot, columns: ContiguousArray<EntityTable.Column>, of table: EntityTable
    ) -> Int32 {
        let count = row.columnCount
        precondition(count == table.expressions.count, "A row of \(count) columns was saved as \(table.layout.name).")
        let firstSlot = RowSnapshot.firstSlot(count)
        return row.withWords { words in
            var code = sqlite3_bind_int64(handle, 1, key)
            var parameter: Int32 = 2
            for column in columns {
                code |= bind(words, column, slot: firstSlot + column.index, parameter)
                parameter += 1
            }
            if code == SQLITE_OK {
                code = sqlite3_step(handle)
            } else {
                code = sqlite3_errcode(sqlite3_db_handle(handle))
            }
            sqlite3_reset(handle)
            return code
        }
    }

    @inline(__always)
    private func bind(
        _ words: UnsafeBufferPointer<UInt64>, _ column: EntityTable.Column, slot: Int, _ parameter: Int32
    ) -> Int32 {
        guard words[1 + (column.index >> 6)] & (1 << UInt64(column.index & 63)) != 0 else {
            return sqlite3_bind_null(handle, parameter)
        }
        let word = words[slot]
        switch column.storage {
        case .integer:
            return sqlite3_bind_int64(handle, parameter, Int64(bitPattern: word))
        case .real:
            return sqlite3_bind_double(handle, parameter, Double(bitPattern: word))
        case .text, .blob:
            let count = Int32(truncatingIfNeeded: word & 0xFFFF_FFFF)
            guard count > 0 else {
                // An empty value has no address, and SQLite would store a null pointer as NULL.
                return column.storage == .text
                    ? sqlite3_bind_text(handle, parameter, emptyText, 0, nil)
                    : sqlite3_bind_zeroblob(handle, parameter, 0)
            }
            let start = UnsafeRawPointer(words.baseAddress.unsafelyUnwrapped + Int(word >> 32))
            return column.storage == .text
                ? sqlite3_bind_text(handle, parameter, start.assumingMemoryBound(to: CChar.self), count, nil)
                : sqlite3_bind_blob(handle, parameter, start, count, nil)
        }
    }
}

/// The size of SQLite's page cache during a transaction, in kilobytes.
///
/// A save of very many rows gets a larger cache. An index of random values does not fit into the usual cache, so SQLite would
/// write each page of the index to the log, and read it again, many times. The larger cache adds little memory to such a save,
/// because the saved rows themselves take several times as much.
struct WriterCache {
    private static let usual = Int(Connection.writerCache)
    private static let largest = 128_000
    /// The maximum number of inserted rows that need no larger cache.
    private static let fewRows = 100_000

    private(set) var size = WriterCache.usual
    private var rowCount = 0

    /// Counts rows that are about to be inserted.
    ///
    /// - Returns: The new cache size in kilobytes; nil if the size stays the same.
    mutating func grow(byRows count: Int) -> Int? {
        rowCount += count
        let wanted = min(WriterCache.usual + max(0, rowCount - WriterCache.fewRows) / 8, WriterCache.largest)
        // Grow in large steps, because each step runs a statement.
        guard wanted > size, wanted >= size + size / 2 || wanted == WriterCache.largest else { return nil }
        size = wanted
        return wanted
    }

    /// Resets the cache size at the end of the transaction.
    ///
    /// - Returns: The new cache size in kilobytes; nil if the size stays the same.
    mutating func shrink() -> Int? {
        defer { self = WriterCache() }
        return size == WriterCache.usual ? nil : WriterCache.usual
    }
}

extension Writer {
    func growCache(byRows count: Int) { setCache(cache.grow(byRows: count)) }

    func shrinkCache() { setCache(cache.shrink()) }

    private func setCache(_ size: Int?) {
        // If the statement fails, the transaction is only slower.
        if let size { try? connection.run("PRAGMA cache_size = -\(size)") }
    }
}
