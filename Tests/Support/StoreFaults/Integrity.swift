internal import CSQLite
package import Foundation

/// The result of SQLite's integrity check of a file without writers: `ok`, or the first fault.
package func integrity(of url: URL) -> String {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return "cannot be opened" }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK,
        sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
    else { return String(cString: sqlite3_errmsg(handle)) }
    return String(cString: text)
}
