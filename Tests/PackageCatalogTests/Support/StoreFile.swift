import CSQLite
import Foundation
import Testing

/// The store as any program that knows SQLite sees it. Only for stores that no process has open.
struct StoreFile {
    let url: URL

    /// How many rows a table has; 0 if it is not there.
    func count(_ table: String) throws -> Int {
        let tables = try value("select count(*) from sqlite_master where type = 'table' and name = '\(table)'")
        return tables == "0" ? 0 : try #require(Int(value("select count(*) from \"\(table)\"")))
    }

    func integrity() throws -> String { try value("pragma integrity_check") }

    private func value(_ sql: String) throws -> String {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        let opened = sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        try #require(opened == SQLITE_OK)
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return String(cString: try #require(sqlite3_column_text(statement, 0)))
    }
}
