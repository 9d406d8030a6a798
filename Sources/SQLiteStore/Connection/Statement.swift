internal import CSQLite
internal import RowStore

/// A prepared statement. The loops over rows use its handle directly.
final class Statement {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    @inline(__always)
    func step() -> Int32 { sqlite3_step(handle) }

    /// Prepares the statement to run again and forgets bound values, which may point to memory that is about to be freed.
    func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds a copy of the value.
    func bind(_ value: RowValue, _ parameter: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, parameter)
        case .integer(let value): return sqlite3_bind_int64(handle, parameter, value)
        case .real(let value): return sqlite3_bind_double(handle, parameter, value)
        case .text(var value):
            return value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        handle, parameter, $0.baseAddress ?? emptyText, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let value):
            return value.withUnsafeBytes {
                $0.isEmpty
                    ? sqlite3_bind_zeroblob(handle, parameter, 0)
                    : sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }

    /// A copy of a column of the current row.
    func value(_ column: Int32) -> RowValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: return .text(String(decoding: bytes(column), as: UTF8.self))
        case SQLITE_BLOB: return .blob(Array(bytes(column)))
        default: return .null
        }
    }

    private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
}

/// Tells SQLite to copy what is bound (`SQLITE_TRANSIENT`, a macro that Swift cannot see).
let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The address of an empty string, because SQLite reads a null pointer as null.
var emptyText: UnsafePointer<CChar> {
    UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
}
