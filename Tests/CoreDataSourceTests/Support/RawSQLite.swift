import CSQLite
import Foundation
import Testing

/// The store's file as another program sees it.
final class RawConnection {
    private var handle: OpaquePointer?

    init(_ url: URL) throws {
        try #require(sqlite3_open(url.path, &handle) == SQLITE_OK)
    }

    deinit {
        sqlite3_close(handle)
    }

    func execute(_ sql: String) throws {
        try #require(
            sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    /// One column of every row, as text.
    func column(_ sql: String, _ index: Int32 = 0) throws -> [String] {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        var values: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            values.append(sqlite3_column_text(statement, index).map { String(cString: $0) } ?? "")
        }
        return values
    }
}

/// Expects that SQLite finds nothing wrong with a store that nobody has open.
func expectIntact(_ url: URL) throws {
    #expect(try RawConnection(url).column("pragma integrity_check") == ["ok"])
}
