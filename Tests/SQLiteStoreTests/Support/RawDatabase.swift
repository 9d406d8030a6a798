import CSQLite
import Foundation
import RowStore
import StoreTestModel

/// A database as another program would use it, without this library.
final class RawDatabase {
    struct Failure: Error {
        let message: String
    }

    let handle: OpaquePointer
    /// Where the file is, if it is to stay there as long as this is used.
    private let folder: TemporaryFolder?

    convenience init(_ folder: TemporaryFolder) throws {
        try self.init(folder.store, in: folder)
    }

    init(_ url: URL, in folder: TemporaryFolder? = nil) throws {
        self.folder = folder
        var opened: OpaquePointer?
        guard sqlite3_open(url.path, &opened) == SQLITE_OK, let opened else { throw Failure(message: "open") }
        handle = opened
        // To close without writing: a test may compare bytes afterwards.
        _ = csqlite_set_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs SQL and returns all values of all rows as texts.
    @discardableResult
    func run(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        var values: [String] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return values }
            guard code == SQLITE_ROW else { throw failure }
            for column in 0..<sqlite3_column_count(statement) {
                values.append(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL")
            }
        }
    }

    /// Runs a query and returns its rows, each value as SQLite has it.
    func values(_ sql: String) throws -> [[RowValue]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        var rows: [[RowValue]] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return rows }
            guard code == SQLITE_ROW else { throw failure }
            rows.append((0..<sqlite3_column_count(statement)).map { RawDatabase.value(statement, $0) })
        }
    }

    private static func value(_ statement: OpaquePointer?, _ column: Int32) -> RowValue {
        func bytes() -> UnsafeRawBufferPointer {
            let start = sqlite3_column_blob(statement, column)
            return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        }
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: return .text(String(decoding: bytes(), as: UTF8.self))
        case SQLITE_BLOB: return .blob(Array(bytes()))
        default: return .null
        }
    }

    private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }
}

/// Overwrites the root pages of a table and its indexes, in a store that nobody has open.
func damage(_ table: String, of folder: TemporaryFolder) throws {
    let raw = try RawDatabase(folder.store)
    let roots = try raw.run("SELECT rootpage FROM sqlite_schema WHERE tbl_name = '\(table)'").compactMap(Int.init)
    try raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: folder.store)
    for root in roots {
        try file.seek(toOffset: UInt64(root - 1) * 4096)
        file.write(Data(repeating: 0xA5, count: 4096))
    }
    try file.close()
}
