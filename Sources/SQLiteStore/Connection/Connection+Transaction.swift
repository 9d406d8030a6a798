internal import CSQLite
internal import RowStore

extension Connection {
    /// Whether SQLite could open the file for reading only, which is not an error for SQLite.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Runs the body in a transaction that has the write lock from its start.
    func transaction(_ body: () throws(DataSourceError) -> Void) throws(DataSourceError) {
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            rollBack()
            throw error
        }
    }

    func insert(_ metadata: StoreMetadata) throws(DataSourceError) {
        try insert(metadata.rows)
    }

    /// Inserts rows of the metadata table.
    func insert(_ rows: [String: RowValue]) throws(DataSourceError) {
        let statement = try prepare(StoreMetadata.insertSQL)
        for (name, value) in rows {
            var code = statement.bind(.text(name), 1)
            if code == SQLITE_OK { code = statement.bind(value, 2) }
            if code == SQLITE_OK { code = statement.step() }
            guard code == SQLITE_DONE else { throw error(code, while: "creating") }
            statement.clear()
        }
    }
}
