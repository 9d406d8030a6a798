import CSQLite
import Foundation

/// The file of a store of the stress model as another program uses it.
final class RecordFile {
    struct Failure: Error {
        let code: Int32
        let message: String
    }

    private var handle: OpaquePointer?

    /// The tables, in the order of the data sources.
    static let tables = ["Red", "Green", "Blue"]

    /// How many records each table may have.
    static let recordCount = 20
    static func key(_ table: Int, _ record: Int) -> String { "\(table)/\(record)" }

    init(_ url: URL) throws {
        guard sqlite3_open(url.path, &handle) == SQLITE_OK else { throw failure }
        sqlite3_busy_timeout(handle, 5000)
        // Two programs that copy the log at once can damage a file with SQLite before 3.51.3.
        _ = csqlite_set_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        sqlite3_wal_autocheckpoint(handle, 0)
    }

    deinit {
        sqlite3_close(handle)
    }

    /// Runs SQL without results.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    func execute(_ sql: String) throws -> Int {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
        return Int(sqlite3_changes(handle))
    }

    /// All records of a table.
    func records(_ table: Int) throws -> [RecordData] {
        var statement: OpaquePointer?
        let sql = "SELECT key, task, revision, text FROM \(RecordFile.tables[table])"
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        var records: [RecordData] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return records }
            guard code == SQLITE_ROW else { throw failure }
            records.append(
                RecordData(
                    key: sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "",
                    task: sqlite3_column_int(statement, 1), revision: sqlite3_column_int64(statement, 2),
                    text: sqlite3_column_text(statement, 3).map { String(cString: $0) }))
        }
    }

    /// What SQLite's integrity check says: `ok`, or the first fault.
    func integrity() throws -> String {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK else {
            throw failure
        }
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else {
            throw failure
        }
        return String(cString: text)
    }

    private var failure: Failure {
        Failure(code: sqlite3_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
    }
}
